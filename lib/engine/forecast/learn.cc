// What was learned as facts came, and as text: a line each for prices, run times and estimates. A text from
// before there were lines is of prices alone.
#include <algorithm>
#include <bit>

#include "engine_impl.h"

namespace crater::engine {

// How long it ran in this start, together with what earlier ones kept.
void Engine::Impl::learn_run_time(const JobSlot& slot, Instant at) {
    if (!at) return;
    Instant begin;
    for (const auto& task : slot.tasks)
        if (task.life != TaskSlot::Life::waiting && task.started && (!begin || task.started < begin)) begin = task.started;
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
    if (!pricing_.in_use() && run_times_.empty() && estimates_.empty()) return {};
    return (pricing_.in_use() ? pricing_.save() : std::string()) + '\n' + run_times_.save() + '\n' + estimates_.save();
}

// A part that cannot be read is as good as none: it is learned anew.
void Engine::Impl::on(const Remembered& fact) {
    const std::string_view text = fact.learned;
    const auto line = [&](std::size_t from) { return text.substr(from, text.find('\n', from) - from); };
    if (pricing_.load(line(0))) seats_.levels_changed();
    for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
        if (run_times_.load(line(at + 1))) continue;
        estimates_.load(line(at + 1));
    }
}

}  // namespace crater::engine
