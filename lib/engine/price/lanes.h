// Rows of 32 whole numbers, one for each price of a companion resource, and the loops over them. Whole
// numbers make every sum exact: its order, the width of the vector registers and the machine do not matter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

// The same loops twice, for machines with 256-bit registers and for all others; chosen when the program
// starts, which is before a sanitizer is ready.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define CRATER_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CRATER_VECTOR_CLONES
#endif

namespace crater::engine::price {

inline constexpr int lanes = 32;
inline constexpr int unit = 64;  // of value in a thousandth of a card

struct alignas(64) Row {
    std::int32_t lane[lanes];
};
struct alignas(64) Rates {
    float lane[lanes];
};

inline void add(Row& sum, const Row& row) {
    for (int k = 0; k < lanes; ++k) sum.lane[k] += row.lane[k];
}
inline void add(Rates& sum, const Rates& row) {
    for (int k = 0; k < lanes; ++k) sum.lane[k] += row.lane[k];
}
// What an amount is worth at one rate, and at each.
inline std::int32_t worth_of(const Rates& rates, int lane, float amount) {
    return static_cast<std::int32_t>(rates.lane[lane] * amount);
}
inline void add_worth(Row& sum, const Rates& rates, float amount) {
    for (int k = 0; k < lanes; ++k) sum.lane[k] += worth_of(rates, k, amount);
}
inline std::int32_t least(const Row& row) {
    std::int32_t out = std::numeric_limits<std::int32_t>::max();
    for (int k = 0; k < lanes; ++k) out = std::min(out, row.lane[k]);
    return out;
}
// Eight lanes at a time, for loops whose sums are to stay in registers.
using Eight = std::int32_t __attribute__((vector_size(32)));
using EightRates = float __attribute__((vector_size(32)));
inline void load(Eight& to, const std::int32_t* from) { std::memcpy(&to, from, sizeof to); }
inline void load(EightRates& to, const float* from) { std::memcpy(&to, from, sizeof to); }
inline void store(std::int32_t* to, const Eight& from) { std::memcpy(to, &from, sizeof from); }
inline void add(Eight& sum, const std::int32_t* from) {
    Eight more;
    load(more, from);
    sum += more;
}
inline std::int32_t least(const Eight& eight) {
    Eight low = eight, other;
    other = __builtin_shufflevector(low, low, 4, 5, 6, 7, 0, 1, 2, 3);
    low = other < low ? other : low;
    other = __builtin_shufflevector(low, low, 2, 3, 0, 1, 6, 7, 4, 5);
    low = other < low ? other : low;
    return std::min(low[0], low[1]);
}

}  // namespace crater::engine::price
