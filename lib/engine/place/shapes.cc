#include "place/shapes.h"

namespace crater::engine {
namespace {

constexpr std::size_t unused_max = 1024;

}  // namespace

int Shapes::take(Shape shape) {
    if (const auto it = positions_.find(shape.key); it != positions_.end()) {
        if (slots_[static_cast<std::size_t>(it->second)]->users++ == 0) --unused_count_;
        return it->second;
    }
    int position = static_cast<int>(slots_.size());
    if (free_.empty()) {
        slots_.emplace_back();
    } else {
        position = free_.back();
        free_.pop_back();
    }
    auto& slot = slots_[static_cast<std::size_t>(position)];
    slot = std::make_unique<Slot>();
    slot->shape = std::move(shape);
    slot->users = 1;
    positions_.emplace(slot->shape.key, position);
    return position;
}

void Shapes::drop(int shape) {
    auto& slot = *slots_[static_cast<std::size_t>(shape)];
    CRATER_CHECK(slot.users > 0);
    if (--slot.users > 0) return;
    slot.unused_since = ++clock_;
    unused_.emplace_back(shape, clock_);
    if (++unused_count_ > unused_max) trim_unused();
    while (!unused_.empty() && is_stale(unused_.front())) unused_.pop_front();
}

bool Shapes::is_stale(const std::pair<int, std::uint64_t>& entry) const {
    const auto& slot = slots_[static_cast<std::size_t>(entry.first)];
    return !slot || slot->users > 0 || slot->unused_since != entry.second;
}

void Shapes::trim_unused() {
    while (is_stale(unused_.front())) unused_.pop_front();
    const int oldest = unused_.front().first;
    unused_.pop_front();
    --unused_count_;
    auto& slot = slots_[static_cast<std::size_t>(oldest)];
    if (gone) gone(oldest);
    positions_.erase(slot->shape.key);
    slot.reset();
    free_.push_back(oldest);
}

void Shapes::forget() {
    for (auto& slot : slots_)
        if (slot) slot->shape.forget_needs();
}

}  // namespace crater::engine
