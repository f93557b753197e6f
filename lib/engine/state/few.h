// A short list that needs no memory of its own up to N entries: what a task holds is a card or two, and a
// decision that asks the allocator for each of them costs as much again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace crater::engine {

template <class T, std::size_t N>
class Few {
  public:
    Few() = default;
    Few(const Few& other) { append(other); }
    Few(Few&& other) noexcept { take(other); }
    Few& operator=(const Few& other) {
        if (this != &other) clear(), append(other);
        return *this;
    }
    Few& operator=(Few&& other) noexcept {
        if (this != &other) release(), take(other);
        return *this;
    }
    ~Few() { release(); }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return capacity_ == N ? reinterpret_cast<T*>(room_) : apart(); }
    const T* data() const { return const_cast<Few*>(this)->data(); }
    T* begin() { return data(); }
    T* end() { return data() + size_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }
    T& operator[](std::size_t i) { return data()[i]; }
    const T& operator[](std::size_t i) const { return data()[i]; }
    T& front() { return *data(); }
    const T& front() const { return *data(); }

    void push_back(T value) {
        if (size_ == capacity_) grow(size_ + 1);
        std::construct_at(data() + size_++, std::move(value));
    }
    void resize(std::size_t size) {
        if (size > capacity_) grow(size);
        while (size_ < size) std::construct_at(data() + size_++);
        while (size_ > size) std::destroy_at(data() + --size_);
    }
    void clear() {
        std::destroy(begin(), end());
        size_ = 0;
    }

  private:
    T*& apart() { return *reinterpret_cast<T**>(room_); }
    static constexpr bool plain = std::is_trivially_copyable_v<T>;
    void append(const Few& other) {
        if (other.size_ > capacity_) grow(other.size_);
        std::uninitialized_copy(other.begin(), other.end(), data());
        size_ = other.size_;
    }
    // This one is empty and has no memory apart.
    void take(Few& other) {
        if (plain || other.capacity_ != N) {  // its entries or where they are, as bytes
            std::memcpy(room_, other.room_, sizeof room_);
            size_ = std::exchange(other.size_, 0);
            capacity_ = std::exchange(other.capacity_, N);
        } else {
            std::uninitialized_move(other.begin(), other.end(), data());
            size_ = other.size_;
            other.clear();
        }
    }
    void grow(std::size_t needed) {
        const std::size_t wanted = std::max<std::size_t>(needed, std::size_t{2} * capacity_);
        T* const to = std::allocator<T>().allocate(wanted);
        std::uninitialized_move(begin(), end(), to);
        std::destroy(begin(), end());
        if (capacity_ != N) std::allocator<T>().deallocate(apart(), capacity_);
        std::construct_at(reinterpret_cast<T**>(room_), to);
        capacity_ = static_cast<std::uint32_t>(wanted);
    }
    void release() {
        std::destroy(begin(), end());
        if (capacity_ != N) std::allocator<T>().deallocate(apart(), capacity_);
        size_ = 0;
        capacity_ = N;
    }

    std::uint32_t size_ = 0, capacity_ = N;
    alignas(T) alignas(T*) std::byte room_[std::max(sizeof(T) * N, sizeof(T*))];
};

}  // namespace crater::engine
