// Objects of one type that come and go: their memory is used again, the last given back first, and stays
// where it is.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace crater::engine {

template <class T>
class Pool {
  public:
    Pool() = default;
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    // Whoever takes one gives it back; what was not is not destroyed.
    T* take() {
        if (free_.empty()) grow();
        Room* room = free_.back();
        free_.pop_back();
        return std::construct_at(reinterpret_cast<T*>(room->bytes));
    }
    void give_back(T* object) {
        std::destroy_at(object);
        free_.push_back(reinterpret_cast<Room*>(object));
    }

  private:
    static constexpr std::size_t at_once = 64;
    struct alignas(64) Room {
        std::byte bytes[sizeof(T)];
    };
    void grow() {
        rooms_.push_back(std::make_unique<Room[]>(at_once));
        for (std::size_t i = at_once; i-- > 0;) free_.push_back(&rooms_.back()[i]);
    }

    std::vector<std::unique_ptr<Room[]>> rooms_;
    std::vector<Room*> free_;
};

}  // namespace crater::engine
