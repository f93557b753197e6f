#include "outbox.h"

#include "crater/base/error.h"

namespace crater::scheduler {
namespace {

constexpr std::int64_t pause_min_ms = 1'000, pause_max_ms = 300'000;

}  // namespace

void Outbox::add(const std::string& task_id, Item item, Instant now) {
    Line& line = lines_[task_id];
    CRATER_CHECK(line.items.empty() || line.items.back().sequence < item.sequence);
    line.items.push_back(std::move(item));
    ++waiting_;
    if (line.items.size() > 1) return;
    line.due = now;
    due_.emplace(now.ms, task_id);
}

std::optional<std::string> Outbox::take(Instant now) {
    if (due_.empty() || due_.begin()->first > now.ms) return std::nullopt;
    std::string task_id = due_.begin()->second;
    due_.erase(due_.begin());
    lines_.at(task_id).under_way = true;
    ++under_way_;
    return task_id;
}

void Outbox::done(const std::string& task_id, Instant now) {
    const auto it = lines_.find(task_id);
    Line& line = it->second;
    if (line.failing_since) failing_.erase({line.failing_since.ms, task_id});
    --under_way_;
    --waiting_;
    line.items.pop_front();
    if (line.items.empty()) {
        lines_.erase(it);
        return;
    }
    line.under_way = false;
    line.attempts = 0;
    line.failing_since = {};
    line.due = now;
    due_.emplace(now.ms, task_id);
}

void Outbox::failed(const std::string& task_id, const std::string& why, Instant now, Rng& rng) {
    Line& line = lines_.at(task_id);
    --under_way_;
    line.under_way = false;
    line.why = why;
    if (!line.failing_since) {
        line.failing_since = now;
        failing_.emplace(now.ms, task_id);
    }
    std::int64_t pause = pause_min_ms;
    for (int i = 0; i < line.attempts && pause < pause_max_ms; ++i) pause *= 2;
    pause = std::min(pause, pause_max_ms);
    ++line.attempts;
    // Between three quarters and five quarters of it, so that many that failed together do not come back
    // together.
    pause += static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(pause / 2 + 1))) - pause / 4;
    line.due = now + Millis(pause);
    due_.emplace(line.due.ms, task_id);
}

Instant Outbox::next_due() const { return due_.empty() ? Instant{} : Instant{due_.begin()->first}; }

Outbox::Failing Outbox::failing() const {
    Failing out;
    out.tasks = static_cast<std::int64_t>(failing_.size());
    if (failing_.empty()) return out;
    out.task_id = failing_.begin()->second;
    out.since = Instant{failing_.begin()->first};
    out.why = lines_.at(out.task_id).why;
    return out;
}

}  // namespace crater::scheduler
