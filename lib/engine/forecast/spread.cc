#include "forecast/spread.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace crater::engine {
namespace {

constexpr std::uint32_t counts_kept = 2000;
constexpr int octaves_max = 48;

std::uint16_t bucket_of(std::int64_t value) {
    const auto v =
        static_cast<std::uint64_t>(std::clamp<std::int64_t>(value, 0, (std::int64_t{1} << octaves_max) - 1));
    if (v < 16) return static_cast<std::uint16_t>(v);
    const auto shift = static_cast<unsigned>(std::bit_width(v)) - 5;
    return static_cast<std::uint16_t>((shift + 1) * 16 + (v >> shift & 15));
}

std::int64_t begin_of(unsigned bucket) {
    if (bucket < 16) return bucket;
    const auto shift = bucket / 16 - 1;
    return static_cast<std::int64_t>(16 + bucket % 16) << shift;
}

}  // namespace

void Spread::add(std::int64_t value) {
    const auto bucket = bucket_of(value);
    const auto at = std::lower_bound(counts_.begin(), counts_.end(), std::pair{bucket, std::uint16_t{0}});
    if (at != counts_.end() && at->first == bucket)
        ++at->second;
    else
        counts_.insert(at, {bucket, 1});
    if (++count_ < counts_kept) return;
    // What is left over of a bucket goes to the next: else a lone one would be rounded to itself for ever.
    count_ = 0;
    unsigned carried = 0;
    for (auto& [of, many] : counts_) {
        carried += many;
        many = static_cast<std::uint16_t>(carried / 2);
        count_ += many, carried %= 2;
    }
    std::erase_if(counts_, [](const auto& entry) { return entry.second == 0; });
}

std::int64_t Spread::at(std::uint32_t part, std::int64_t floor) const {
    // A bucket that the floor cuts counts by the part above it.
    const auto above = [&](const auto& entry) -> double {
        const auto begin = begin_of(entry.first), end = begin_of(entry.first + 1u);
        if (floor <= begin) return entry.second;
        if (floor >= end) return 0;
        return entry.second * (static_cast<double>(end - floor) / static_cast<double>(end - begin));
    };
    double total = 0;
    for (const auto& entry : counts_) total += above(entry);
    if (total <= 0) {
        const double rest = 1 - std::min(0.999, static_cast<double>(part) / one);
        return std::max(floor + 1, static_cast<std::int64_t>(static_cast<double>(floor) / std::sqrt(rest)));
    }
    double wanted = total * part / one;
    std::int64_t last = floor;
    for (const auto& entry : counts_) {
        const double here = above(entry);
        if (here <= 0) continue;
        const auto begin = std::max(floor, begin_of(entry.first)), end = begin_of(entry.first + 1u);
        last = end;
        if (wanted > here) {
            wanted -= here;
            continue;
        }
        return begin + static_cast<std::int64_t>(static_cast<double>(end - begin) * (wanted / here));
    }
    return last;
}

bool Spread::restore(Counts counts) {
    std::uint32_t sum = 0;
    int before = -1;
    for (const auto& [bucket, many] : counts) {
        if (bucket <= before || bucket > (octaves_max - 3) * 16 || many == 0) return false;
        before = bucket, sum += many;
        if (sum >= counts_kept) return false;
    }
    counts_ = std::move(counts);
    count_ = sum;
    return true;
}

}  // namespace crater::engine
