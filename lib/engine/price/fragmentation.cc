#include "price/fragmentation.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "price/cards.h"

namespace crater::engine::price {
namespace {

constexpr double covered = 0.95;
constexpr std::size_t memory_most = 1 << 19;  // states remembered

// trunc(100 sigmoid(d / 1000)) as the list of the d at which it steps up: no exp, the same on every machine.
constexpr double logit_of_percent(int i) {
    const double z = (2.0 * i - 100) / 100;
    double sum = 0, power = z;
    for (int n = 1; n < 2001; n += 2) {
        sum += power / n;
        power *= z * z;
    }
    return 2 * sum;
}
constexpr std::array<double, 99> make_steps() {
    std::array<double, 99> out{};
    for (int i = 1; i < 100; ++i) out[static_cast<std::size_t>(i - 1)] = 1000 * logit_of_percent(i);
    out[49] = -3.33e-13;  // so little below nothing that the published formula sees nothing
    return out;
}
constexpr auto steps = make_steps();

std::int32_t percent_of(double gain) {
    return static_cast<std::int32_t>(std::upper_bound(steps.begin(), steps.end(), gain) - steps.begin());
}

void append(std::u16string& key, std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 16) key.push_back(static_cast<char16_t>(value >> shift));
}

// The free card capacity by what a typical task misses there.
struct Shortfalls {
    double lacks_both = 0, lacks_card = 0, lacks_cpu = 0, only_cpu_fits = 0, only_cpu_lacks = 0,
           no_access = 0;
    double sum() const {  // in this order
        return lacks_both + lacks_card + lacks_cpu + only_cpu_fits + only_cpu_lacks + no_access;
    }
};

}  // namespace

std::vector<Target> typical(std::span<const Arrived> arrived) {
    std::map<std::tuple<std::int64_t, int, int, std::uint64_t>, double> counts;
    double total = 0;
    for (const Arrived& a : arrived) {
        counts[{a.kind.amounts[cpu], a.kind.cards == 0 ? 0 : a.kind.milli, a.kind.cards, a.kind.types}] +=
            a.count;
        total += a.count;
    }
    std::vector<std::pair<double, decltype(counts)::key_type>> order;
    for (const auto& [key, count] : counts) order.emplace_back(count, key);
    std::sort(order.rbegin(), order.rend());
    std::vector<Target> out;
    double taken = 0;
    for (const auto& [count, key] : order) {
        if (taken >= covered * total || count <= 0) break;
        Target target{
            .kind = {.cards = std::get<2>(key), .milli = std::get<1>(key), .types = std::get<3>(key)},
            .share = count};
        target.kind.amounts[cpu] = std::get<0>(key);
        out.push_back(target);
        taken += count;
    }
    for (Target& target : out) target.share = target.share / total / (taken / total);
    return out;
}

void Fragmentation::set_targets(std::vector<Target> targets) {
    targets_ = std::move(targets);
    unusable_.clear();
    choices_.clear();
}

double Fragmentation::measure(int type, std::int64_t cpu_free, std::span<const std::int16_t> cards) const {
    Shortfalls out;
    const int idle = std::accumulate(cards.begin(), cards.end(), 0);
    for (const auto& [kind, share] : targets_) {
        int fitting = 0, small = 0;
        for (const int left : cards) {
            if (left >= kind.milli) {
                ++fitting;
            } else {
                small += left;
            }
        }
        const bool cpu_fits = cpu_free >= kind.amounts[cpu], cards_fit = fitting >= kind.cards;
        const double all = share * static_cast<double>(idle);
        if (kind.cards == 0) {
            (cpu_fits ? out.only_cpu_fits : out.only_cpu_lacks) += all;
        } else if (!kind.accepts(type)) {
            out.no_access += all;
        } else if (cards_fit && cpu_fits) {
            out.lacks_card += share * static_cast<double>(small);
        } else {
            (cards_fit ? out.lacks_cpu : cpu_fits ? out.lacks_card : out.lacks_both) += all;
        }
    }
    return out.sum();
}

double Fragmentation::remembered(int type, std::int64_t cpu_free, std::span<const std::int16_t> cards) {
    key_.clear();
    for (const int left : cards) key_.push_back(static_cast<char16_t>(left));
    std::sort(key_.begin(), key_.end());
    key_.push_back(static_cast<char16_t>(type));
    append(key_, static_cast<std::uint64_t>(cpu_free));
    const auto found = unusable_.find(key_);
    if (found != unusable_.end()) return found->second;
    if (unusable_.size() >= memory_most) unusable_.clear();
    return unusable_[key_] = measure(type, cpu_free, cards);
}

double Fragmentation::unusable(const Free& free) {
    return remembered(free.type, free.amounts[cpu], free.cards);
}

Rating Fragmentation::decide(const Free& free, const Demand& kind) {
    const double before = unusable(free);
    const std::int64_t cpu_left = free.amounts[cpu] - kind.amounts[cpu];
    const auto level = [&](const CardStates& after) {
        return percent_of(before - remembered(free.type, cpu_left, after.left()));
    };
    if (!kind.one_part()) return {level(after_taking(free.cards, kind))};
    Rating best{-1};
    for (const int card : distinct_fits(free.cards, kind.milli)) {
        CardStates after(free.cards);
        after.take(card, kind.milli);
        const std::int32_t here = level(after);
        if (here > best.level) best = {here, card};
    }
    return best;
}

Rating Fragmentation::choose(const Free& free, const Demand& kind, int id) {
    choice_key_.clear();
    append(choice_key_, static_cast<std::uint64_t>(id));
    append(choice_key_, static_cast<std::uint64_t>(free.amounts[cpu]));
    choice_key_.push_back(static_cast<char16_t>(free.type));
    for (const int left : free.cards) choice_key_.push_back(static_cast<char16_t>(left));
    const auto found = choices_.find(choice_key_);
    if (found != choices_.end()) return found->second;
    if (choices_.size() >= memory_most) choices_.clear();
    return choices_[choice_key_] = decide(free, kind);
}

}  // namespace crater::engine::price
