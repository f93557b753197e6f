// A hash of a described struct: its field names and values in the order of `describe`. Equal facts give equal
// hashes on every machine; the state hash is the wrapping sum of the hashes of all facts, so the order in
// which they came does not matter.
#pragma once

#include <bit>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "crater/base/describe.h"
#include "crater/base/ids.h"
#include "crater/base/quantity.h"
#include "crater/model/job.h"

namespace crater::engine {

class FactBytes {
  public:
    template <class T>
    void field(std::string_view name, T& value, std::string_view, FieldOptions = {}) {
        text(name);
        add(value);
    }

    void add(const std::string& v) { text(v); }
    void add(std::string_view v) { text(v); }
    void add(bool v) { bytes_ += v ? '\1' : '\0'; }
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

    const std::string& bytes() const { return bytes_; }
    std::uint64_t hash(std::uint64_t kind) const { return hash64(bytes_, kind); }

  private:
    void number(std::uint64_t v) { bytes_.append(reinterpret_cast<const char*>(&v), sizeof v); }
    void text(std::string_view v) {
        number(v.size());
        bytes_ += v;
    }

    std::string bytes_;
};

// Kinds of facts, so that equal bytes of different kinds differ.
enum class FactKind : std::uint64_t { node = 1, flags, queue, tenant, settings, job, ended_task, placement, profile, taints, maintenance };

template <class T>
std::uint64_t fact_hash(FactKind kind, const T& fact) {
    FactBytes bytes;
    bytes.add(fact);
    return bytes.hash(static_cast<std::uint64_t>(kind));
}

}  // namespace crater::engine
