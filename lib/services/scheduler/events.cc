#include <algorithm>

#include "crater/scheduler/read_model.h"

namespace crater::scheduler {
namespace {
constexpr std::size_t events_kept = 10'000;
}

std::uint64_t EventHub::subscribe(Subscriber subscriber) {
    const std::scoped_lock lock(mutex_);
    subscribers_.emplace(next_subscriber_, std::move(subscriber));
    return next_subscriber_++;
}

void EventHub::unsubscribe(std::uint64_t id) {
    const std::scoped_lock lock(mutex_);
    subscribers_.erase(id);
}

void EventHub::continue_after(std::uint64_t sequence) {
    const std::scoped_lock lock(mutex_);
    last_ = sequence;
}

void EventHub::publish(std::vector<api::EventView> events) {
    const std::scoped_lock lock(mutex_);
    for (auto& event : events) {
        for (const auto& [id, subscriber] : subscribers_) subscriber(event);
        last_ = event.sequence;
        recent_.push_back(std::move(event));
        if (recent_.size() > events_kept) recent_.pop_front();
    }
}

std::optional<std::vector<api::EventView>> EventHub::after(std::uint64_t sequence) const {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t first = recent_.empty() ? last_ + 1 : recent_.front().sequence;
    if (sequence + 1 < first || sequence > last_) return std::nullopt;
    const auto begin = recent_.begin() + static_cast<std::ptrdiff_t>(sequence + 1 - first);
    return std::vector<api::EventView>(begin, recent_.end());
}

std::uint64_t EventHub::last() const {
    const std::scoped_lock lock(mutex_);
    return last_;
}

}  // namespace crater::scheduler
