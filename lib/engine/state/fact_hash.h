// A hash of a described struct: its field names and values in the order of `describe`. Equal facts give equal
// hashes on every machine; the state hash is the wrapping sum of the hashes of all facts, so the order in
// which they came does not matter.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "crater/base/describe.h"
#include "crater/base/ids.h"
#include "crater/base/quantity.h"
#include "crater/model/job.h"

namespace crater::engine {

class FactBytes {
  public:
    FactBytes() = default;
    FactBytes(const FactBytes&) = delete;
    FactBytes& operator=(const FactBytes&) = delete;

    template <class T>
    void field(std::string_view name, T& value, std::string_view, FieldOptions = {}) {
        text(name);
        add(value);
    }

    void add(const std::string& v) { text(v); }
    void add(std::string_view v) { text(v); }
    void add(bool v) { *room(1) = v ? '\1' : '\0'; }
    void add(double v) { number(std::bit_cast<std::uint64_t>(v == 0 ? 0.0 : v)); }
    void add(const Priority& v) { number(static_cast<std::uint64_t>(v.value)); }
    void add(const Command& v) { add(v.argv); }
    void add(Millis v) { number(static_cast<std::uint64_t>(v.count())); }
    void add(Instant v) { number(static_cast<std::uint64_t>(v.ms)); }
    template <class Unit>
    void add(const Quantity<Unit>& v) {
        number(static_cast<std::uint64_t>(v.value));
    }
    template <class T>
    void add(const std::optional<T>& v) {
        add(v.has_value());
        if (v) add(*v);
    }
    template <class T>
    void add(const std::vector<T>& v) {
        number(v.size());
        for (const auto& item : v) add(item);
    }
    template <class T>
    void add(const std::map<std::string, T>& v) {
        number(v.size());
        for (const auto& [key, item] : v) text(key), add(item);
    }
    template <class T>
    void add(const T& v) {
        if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
            number(static_cast<std::uint64_t>(v));
        } else {
            describe(*this, const_cast<T&>(v));  // only read
        }
    }

    std::string bytes() const { return {data_, size_}; }
    std::uint64_t hash(std::uint64_t kind) const { return hash64({data_, size_}, kind); }

  private:
    void number(std::uint64_t v) { std::memcpy(room(sizeof v), &v, sizeof v); }
    void text(std::string_view v) {
        number(v.size());
        std::memcpy(room(v.size()), v.data(), v.size());
    }
    char* room(std::size_t bytes) {
        if (bytes > capacity_ - size_) grow(bytes);
        return data_ + std::exchange(size_, size_ + bytes);
    }
    void grow(std::size_t bytes) {
        std::vector<char> larger(2 * capacity_ + bytes);
        std::memcpy(larger.data(), data_, size_);
        more_ = std::move(larger);
        data_ = more_.data(), capacity_ = more_.size();
    }

    // A usual fact needs no memory of its own.
    std::array<char, 3072> first_;  // uninitialised on purpose
    std::vector<char> more_;
    char* data_ = first_.data();
    std::size_t size_ = 0, capacity_ = first_.size();
};

// Kinds of facts, so that equal bytes of different kinds differ.
enum class FactKind : std::uint64_t {
    node = 1,
    flags,
    queue,
    tenant,
    settings,
    job,
    ended_task,
    placement,
    profile,
    taints,
    maintenance
};

template <class T>
std::uint64_t fact_hash(FactKind kind, const T& fact) {
    FactBytes bytes;
    bytes.add(fact);
    return bytes.hash(static_cast<std::uint64_t>(kind));
}

}  // namespace crater::engine
