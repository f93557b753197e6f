// What was learned as facts came, and as text: a line each for prices, run times and estimates, then one for
// each tenant that used anything. A text from before there were lines is of prices alone.
#include <algorithm>
#include <bit>

#include "engine_impl.h"

namespace crater::engine {

// How long it ran in this start, together with what earlier ones kept.
void Engine::Impl::learn_run_time(const JobSlot& slot, Instant at) {
    if (!at) return;
    Instant begin;
    for (const auto& task : slot.tasks)
        if (task.life != TaskSlot::Life::waiting && task.started && (!begin || task.started < begin))
            begin = task.started;
    if (begin && at > begin) run_times_.ended(slot.info, slot.info.progress + (at - begin));
}

// By what is said alone: what is learned is the same for jobs that are otherwise alike.
int Engine::Impl::length_class(const EngineJob& job) {
    const auto said = job.run_time ? job.run_time->p50 : job.spec->duration;
    return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(0, said.count() / 1000)));
}

std::optional<RunTime> Engine::Impl::expected_run_time(const EngineJob& job) const {
    const auto expected = run_times_.expected(job);
    return expected ? std::optional(expected.time) : std::nullopt;
}

Instant Engine::Impl::started(const JobSlot& slot) const {
    Instant begin;
    for (const auto& task : slot.tasks)
        if (task.life == TaskSlot::Life::held && (!begin || task.started < begin)) begin = task.started;
    return begin;
}

std::string Engine::Impl::learned() const {
    const std::string use = tenants_.save_use();
    if (!pricing_.in_use() && run_times_.empty() && estimates_.empty() && use.empty()) return {};
    return (pricing_.in_use() ? pricing_.save() : std::string()) + '\n' + run_times_.save() + '\n' +
           estimates_.save() + '\n' + use;
}

// A part that cannot be read is as good as none: it is learned anew.
void Engine::Impl::on(const Remembered& fact) {
    std::string_view text = fact.learned;
    const auto line = [&] {
        const auto end = std::min(text.find('\n'), text.size());
        const auto out = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        return out;
    };
    if (pricing_.load(line())) seats_.levels_changed();
    run_times_.load(line());
    estimates_.load(line());
    tenants_.load_use(text);
}

}  // namespace crater::engine
