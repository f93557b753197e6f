#include "place/shapes.h"

namespace crater::engine {
namespace {

constexpr std::size_t entries_max = 2'000'000;  // of all columns together, about 80 MB
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
    if (slot->column) --columns_;
    positions_.erase(slot->shape.key);
    slot.reset();
    free_.push_back(oldest);
}

Column& Shapes::column(int shape, const Cluster& cluster, int& looked,
                       const std::vector<std::int64_t>* own_tasks) {
    auto& slot = *slots_[static_cast<std::size_t>(shape)];
    slot.used_at = ++clock_;
    if (!slot.column) {
        make_space(static_cast<std::size_t>(cluster.size()), &slot);
        slot.column = std::make_unique<Column>();
        ++columns_;
    }
    looked += slot.column->refresh(slot.shape, cluster, own_tasks);
    return *slot.column;
}

void Shapes::make_space(std::size_t nodes, const Slot* keep) {
    while (columns_ > 0 && (columns_ + 1) * std::max<std::size_t>(1, nodes) > entries_max) {
        Slot* oldest = nullptr;
        for (auto& slot : slots_)
            if (slot && slot->column && slot.get() != keep && (!oldest || slot->used_at < oldest->used_at))
                oldest = slot.get();
        if (!oldest) return;
        oldest->column.reset();
        --columns_;
    }
}

void Shapes::forget() {
    for (auto& slot : slots_) {
        if (!slot) continue;
        slot->shape.forget_needs();
        if (slot->column) slot->column.reset(), --columns_;
    }
}

}  // namespace crater::engine
