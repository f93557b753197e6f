// Positions by hash: open addressing, one cache line a look-up, never walked, so its order reaches nothing.
// Half of the hash is kept, so that it stays small beside what it leads to; what has the same may be another
// thing: who asks compares.
#pragma once

#include <cstdint>
#include <vector>

namespace crater::engine {

class HashTable {
  public:
    // The first position with this hash (half of it) for which `same(position)` holds; -1 when there is none.
    template <class Same>
    int find(std::uint64_t whole, Same same) const {
        const auto hash = static_cast<std::uint32_t>(whole);
        if (slots_.empty()) return -1;
        for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
            const Slot& slot = slots_[i];
            if (slot.position < 0) return -1;
            if (slot.hash == hash && same(slot.position)) return slot.position;
        }
    }

    void add(std::uint64_t whole, int position) {
        const auto hash = static_cast<std::uint32_t>(whole);
        if ((count_ + 1) * 2 > slots_.size()) grow();
        put({hash, position});
        ++count_;
    }

    void remove(std::uint64_t whole, int position) {
        const auto hash = static_cast<std::uint32_t>(whole);
        std::size_t hole = hash & mask_;
        while (slots_[hole].position != position || slots_[hole].hash != hash) hole = (hole + 1) & mask_;
        --count_;
        // What follows moves up, so that no look-up stops short.
        for (std::size_t i = (hole + 1) & mask_; slots_[i].position >= 0; i = (i + 1) & mask_) {
            const std::size_t wanted = slots_[i].hash & mask_;
            if (((i - wanted) & mask_) < ((i - hole) & mask_)) continue;
            slots_[hole] = slots_[i];
            hole = i;
        }
        slots_[hole] = {};
    }

  private:
    struct Slot {
        std::uint32_t hash = 0;
        int position = -1;
    };
    void put(const Slot& slot) {
        std::size_t i = slot.hash & mask_;
        while (slots_[i].position >= 0) i = (i + 1) & mask_;
        slots_[i] = slot;
    }
    void grow() {
        std::vector<Slot> before(slots_.empty() ? 64 : slots_.size() * 2);
        before.swap(slots_);
        mask_ = slots_.size() - 1;
        for (const auto& slot : before)
            if (slot.position >= 0) put(slot);
    }

    std::vector<Slot> slots_;  // a power of two
    std::size_t mask_ = 0;
    std::size_t count_ = 0;
};

}  // namespace crater::engine
