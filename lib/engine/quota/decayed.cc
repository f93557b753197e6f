#include "quota/decayed.h"

#include <algorithm>
#include <array>

namespace crater::engine {
namespace {

constexpr int steps_per_half = 256;
constexpr std::int64_t one = 1LL << 62;
constexpr std::int64_t one_step = 4599216278082138665;  // 2^(-1/256) of `one`

constexpr std::int64_t product(std::int64_t amount, std::int64_t part_of_one) {
    return static_cast<std::int64_t>(static_cast<__int128>(amount) * part_of_one >> 62);
}

constexpr auto factors = [] {
    std::array<std::int64_t, steps_per_half> out{one};
    for (std::size_t k = 1; k < out.size(); ++k) out[k] = product(out[k - 1], one_step);
    return out;
}();

}  // namespace

std::int64_t decayed(std::int64_t amount, std::int64_t steps) {
    const auto halves = steps / steps_per_half;
    return halves >= 63
               ? 0
               : product(amount, factors[static_cast<std::size_t>(steps % steps_per_half)]) >> halves;
}

void Decayed::settle(Instant now, std::int64_t rate, Millis half_life) {
    if (now <= since) return;
    const auto step = std::max<std::int64_t>(1, half_life.count() / steps_per_half);
    const auto steps = now.ms / step - since.ms / step;
    const auto fresh = static_cast<__int128>(rate) * (now.ms - since.ms);
    const auto added = static_cast<std::int64_t>(std::min<__int128>(fresh, INT64_MAX / 4));
    // What was used in between is half as old as the time between, on average.
    amount = std::min(decayed(amount, steps) + decayed(added, steps / 2), INT64_MAX / 2);
    since = now;
}

}  // namespace crater::engine
