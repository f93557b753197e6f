#include "place/shapes.h"

namespace crater::engine {
namespace {

constexpr std::size_t unused_max = 256;

}  // namespace

int Shapes::take(Shape shape) {
    if (const auto it = positions_.find(shape.key); it != positions_.end()) {
        ++slots_[static_cast<std::size_t>(it->second)]->users;
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
    unused_.push_back(shape);
    if (unused_.size() > unused_max) trim_unused();
}

// A shape may stand in the list several times, or be in use again: only the last entry of an unused one
// counts.
void Shapes::trim_unused() {
    const int oldest = unused_.front();
    unused_.pop_front();
    auto& slot = slots_[static_cast<std::size_t>(oldest)];
    if (!slot || slot->users > 0) return;
    for (const int other : unused_)
        if (other == oldest) return;
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
