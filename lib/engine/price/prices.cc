#include "price/prices.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "price/fluid.h"

namespace crater::engine::price {
namespace {

// Between two repricings: as many as came before, so after 25, 50, 100, 200; then so many, or of more than
// 6200 cards one for each 41.3 of them.
constexpr std::int64_t arrivals_first = 25, arrivals_between = 150;
constexpr std::int64_t arrivals_between_targets = 300;  // until there are prices, and for Rule::fragmentation
constexpr int steady_pause = 16;  // times as long where tasks leave about as fast as they come
constexpr int steps_first = 1000, steps_again = 60;
constexpr std::size_t goods_most = 256, kinds_most = 4096;
constexpr double fading = 0.9995;          // of the mix, for each 150 arrivals: half of it after 200,000
constexpr double turnover_fading = 0.894;  // half after 1000
constexpr std::int64_t pauses_most = 200;
constexpr double turnover_high = 0.5;  // from here on the cluster counts as steady
constexpr double scarce_from = 0.85;   // of what is asked most
constexpr std::size_t groups_most = 2000;
constexpr int middle_lane = 16;

// Arrivals between two repricings while the cluster fills up: what is left of it shrinks by a good part
// meanwhile in the end, and idle nodes can all be broken up at prices of when there were many.
std::int64_t pause_of(std::int64_t cards) { return std::max(arrivals_between, cards * 3 / 124); }

bool power_of_two(std::int64_t n) { return std::has_single_bit(static_cast<std::uint64_t>(n)); }

}  // namespace

Prices::Prices(Rule rule, Learned learned) : rule_(rule), learned_(std::move(learned)) {
    for (std::size_t k = 0; k < learned_.kinds.size(); ++k)
        ids_.emplace(learned_.kinds[k], static_cast<int>(k));
    fragmentation_.set_targets(learned_.targets);
    if (priced()) {
        ready();
        for (Tables& tables : tables_) tables.build(learned_.goods, classes_);
    }
    for (const double price : learned_.price)
        unit_price_.push_back(static_cast<std::int32_t>(std::lround(price * unit)));
}

int Prices::intern(const Demand& kind) {
    const auto [found, fresh] = ids_.emplace(kind, static_cast<int>(learned_.kinds.size()));
    if (fresh) {
        learned_.kinds.push_back(kind);
        learned_.weight.push_back(0);
        learned_.price.push_back(priced() ? stand_in_price(kind) : 0);
        unit_price_.push_back(static_cast<std::int32_t>(std::lround(learned_.price.back() * unit)));
    }
    return found->second;
}

void Prices::arrived(int kind, int count) {
    if (learned_.weight[static_cast<std::size_t>(kind)] <= 0) learned_.order.push_back(kind);
    learned_.weight[static_cast<std::size_t>(kind)] += count;
    learned_.arrived += count;
    for (int i = 0; i < count; ++i) {
        ++learned_.arrivals;
        const std::int64_t since = learned_.arrivals - learned_.targets_at;
        if (learned_.arrivals < arrivals_between_targets ? power_of_two(learned_.arrivals)
                                                         : since >= arrivals_between_targets) {
            look_at_arrivals();
        }
    }
}

void Prices::departed(int, int count) { learned_.departed += count; }

// What is free then changes as a whole, not only dwindles, and prices with it, but slowly.
bool Prices::is_steady() const { return learned_.turnover > turnover_high; }

bool Prices::due() const {
    const std::int64_t often = pause_of(learned_.cards);
    const std::int64_t pause = is_steady() ? often * steady_pause : often;
    const std::int64_t until = priced() ? std::min(pause, learned_.priced_at) : arrivals_first;
    return rule_ == Rule::price && learned_.arrivals - learned_.priced_at >= until;
}

void Prices::look_at_arrivals() {
    learned_.targets_at = learned_.arrivals;
    if (priced()) return;
    std::vector<Arrived> seen;
    for (std::size_t k = 0; k < learned_.kinds.size(); ++k) {
        seen.push_back({learned_.kinds[k], learned_.weight[k]});
    }
    learned_.targets = typical(seen);
    fragmentation_.set_targets(learned_.targets);
    ++learned_.version;
}

// How much of each companion comes with a card.
void Prices::measure(std::span<const Nodes> empty) {
    double cards = 0;
    std::array<double, companions> has{};
    learned_.types = 0;
    learned_.idle_max = 1;
    for (const auto& [free, count] : empty) {
        for (std::size_t i = 0; i < has.size(); ++i) has[i] += static_cast<double>(free.amounts[i]) * count;
        if (free.type < 0) continue;
        learned_.types |= std::uint64_t{1} << free.type;
        learned_.idle_max = std::max(learned_.idle_max, static_cast<int>(free.cards.size()));
        for (const int milli : free.cards) cards += milli * count;
    }
    learned_.cards = static_cast<std::int64_t>(cards) / whole_card;
    if (cards <= 0) cards = has[cpu] / 16;
    for (std::size_t i = 0; i < has.size(); ++i) learned_.scale[i] = has[i] > 0 ? cards / has[i] : 0;
}

// By how often the cluster holds the mix as far as one resource goes.
void Prices::choose_scarce(std::span<const Nodes> empty) {
    double cards = 0, cards_asked = 0;
    for (const auto& [free, count] : empty) {
        for (const int milli : free.cards) cards += milli * count;
    }
    std::array<double, companions> asked{};
    for (std::size_t k = 0; k < learned_.kinds.size(); ++k) {
        cards_asked += learned_.weight[k] * learned_.kinds[k].size();
        for (std::size_t i = 0; i < asked.size(); ++i) {
            asked[i] +=
                learned_.weight[k] * static_cast<double>(learned_.kinds[k].amounts[i]) * learned_.scale[i];
        }
    }
    const double most = std::max(cards > 0 ? cards_asked : 0.0, asked[cpu]);
    learned_.scarce = {cpu};
    for (int i = memory; i < companions; ++i) {
        if (asked[static_cast<std::size_t>(i)] >= scarce_from * most) learned_.scarce.push_back(i);
    }
}

Good Prices::as_good(const Demand& kind) const {
    Good out{.cards = kind.cards,
             .milli = kind.cards > 0 ? kind.milli : 0,
             .types = kind.cards > 0 ? kind.types : 0};
    for (const int i : learned_.scarce) {
        const auto at = static_cast<std::size_t>(i);
        out.amounts[at] = scaled(kind.amounts[at], learned_.scale[at]);
    }
    return out;
}

// The most frequent goods; what they cost so far is the average over their kinds.
void Prices::make_goods() {
    const auto key = [](const Good& g) { return std::tuple(g.cards, g.milli, g.types, g.amounts); };
    std::map<decltype(key(Good{})), std::size_t> known;
    std::vector<Good> all;
    std::vector<std::vector<std::size_t>> kinds;
    for (const int id : learned_.order) {
        const auto k = static_cast<std::size_t>(id);
        const Good good = as_good(learned_.kinds[k]);
        const auto [found, fresh] = known.emplace(key(good), all.size());
        if (fresh) {
            all.push_back(good);
            kinds.emplace_back();
        }
        Good& there = all[found->second];
        const double price =
            learned_.price[k] > 0 ? learned_.price[k] : good.size() + 0.17 * good.amounts[cpu];
        there.mix += learned_.weight[k];
        there.price += price * learned_.weight[k];
        kinds[found->second].push_back(k);
    }
    std::vector<std::size_t> order(all.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return all[a].mix > all[b].mix; });
    if (order.size() > goods_most) order.resize(goods_most);
    learned_.goods.clear();
    good_of_.assign(learned_.kinds.size(), -1);
    for (const std::size_t i : order) {
        for (const std::size_t k : kinds[i]) good_of_[k] = static_cast<int>(learned_.goods.size());
        all[i].price /= all[i].mix;
        learned_.goods.push_back(all[i]);
    }
}

void Prices::set_reserve(std::span<const Nodes> now, std::span<const Nodes> empty) {
    std::array<double, card_types> free{};
    const auto put = [&](const Nodes& nodes, double weight) {
        if (nodes.free.type < 0) return;
        for (const int left : nodes.free.cards)
            free[static_cast<std::size_t>(nodes.free.type)] += left * nodes.count * weight;
    };
    for (const Nodes& nodes : now) put(nodes, 1);
    for (const Nodes& nodes : empty) put(nodes, learned_.turnover);
    learned_.reserve = reserve(learned_.goods, free);
}

void Prices::ready() {
    classes_ = classify(learned_.goods, learned_.types, learned_.idle_max);
    tables_.clear();
    for (const int i : learned_.scarce) tables_.emplace_back(static_cast<Companion>(i));
    book_ = {tables_, &classes_, &learned_.reserve, learned_.scale};
}

void Prices::reprice(std::span<const Nodes> now, std::span<const Nodes> empty) {
    const bool first = !priced();
    const std::int64_t pauses = (learned_.arrivals - learned_.priced_at) / pause_of(learned_.cards);
    learned_.priced_at = learned_.arrivals;
    ++learned_.version;
    learned_.turnover = learned_.arrived > 0 ? std::min(1.0, learned_.departed / learned_.arrived) : 0;
    double mix_kept = fading, turnover_kept = turnover_fading;
    for (std::int64_t i = 1; i < std::min(pauses, pauses_most); ++i) {
        mix_kept *= fading;
        turnover_kept *= turnover_fading;
    }
    learned_.arrived *= turnover_kept;
    learned_.departed *= turnover_kept;
    for (double& weight : learned_.weight) weight *= mix_kept;
    measure(empty);
    choose_scarce(empty);
    make_goods();
    set_reserve(now, empty);
    ready();
    Grouping nodes(classes_, learned_.scarce, learned_.scale);
    nodes.add(now, 1);
    if (learned_.turnover > 0) nodes.add(empty, learned_.turnover);
    Fluid(learned_.goods, classes_, tables_, nodes.groups(groups_most))
        .run(first ? steps_first : steps_again);
    take_prices();
}

void Prices::take_prices() {
    for (std::size_t k = 0; k < learned_.kinds.size(); ++k) {
        learned_.price[k] = good_of_[k] >= 0 ? learned_.goods[static_cast<std::size_t>(good_of_[k])].price
                                             : stand_in_price(learned_.kinds[k]);
        unit_price_[k] = static_cast<std::int32_t>(std::lround(learned_.price[k] * unit));
    }
}

// For a kind that is too rare to have a price: what the goods would pay for its place.
double Prices::stand_in_price(const Demand& kind) const {
    double out = 0;
    const double cpu_amount = scaled(kind.amounts[cpu], learned_.scale[cpu]);
    for (int type = 0; type < card_types && kind.cards > 0; ++type) {
        if ((learned_.types >> type & 1) == 0 || !kind.accepts(type)) continue;
        const Row* value = tables_[0].value(classes_.of(type));
        const int several = std::min(kind.cards, learned_.idle_max);
        const double place = kind.whole_cards() ? value[idle_row + several].lane[middle_lane]
                                                : value[part_row(kind.milli)].lane[middle_lane] * kind.cards;
        if (out == 0 || place < out) out = place;
    }
    return (out + static_cast<double>(tables_[0].rates().lane[middle_lane]) * cpu_amount) / unit;
}

Worth Prices::appraise(const Free& free, Row* sums) const { return price::appraise(book_, free, sums); }

Rating Prices::choose(const Free& free, const Worth& worth, int kind, std::uint64_t allowed) const {
    const auto at = static_cast<std::size_t>(kind);
    return least_regret(book_, free, worth, learned_.kinds[at], unit_price_[at], allowed, is_steady());
}

std::int32_t Prices::level_bound(const Glance& node, int kind) const {
    const auto at = static_cast<std::size_t>(kind);
    return price::level_bound(book_, node, learned_.kinds[at], unit_price_[at], is_steady());
}

Rating Prices::choose(const Free& free, int kind, std::uint64_t allowed) {
    if (!priced()) return fragmentation_.choose(free, learned_.kinds[static_cast<std::size_t>(kind)], kind);
    Row sums[companions];
    return choose(free, appraise(free, sums), kind, allowed);
}

bool Prices::forget_rare() {
    if (learned_.kinds.size() <= kinds_most) return false;
    std::vector<std::size_t> kept;
    for (std::size_t k = 0; k < learned_.kinds.size(); ++k)
        if (learned_.weight[k] > 0.5) kept.push_back(k);
    // The heaviest, by number among equals; in the order they had.
    if (kept.size() > kinds_most / 2) {
        std::stable_sort(kept.begin(), kept.end(),
                         [&](auto a, auto b) { return learned_.weight[a] > learned_.weight[b]; });
        kept.resize(kinds_most / 2);
        std::sort(kept.begin(), kept.end());
    }
    Learned rest = learned_;
    rest.kinds.clear(), rest.weight.clear(), rest.price.clear(), rest.order.clear();
    std::vector<int> number(learned_.kinds.size(), -1);
    std::vector<int> good_of;
    for (const std::size_t k : kept) {
        number[k] = static_cast<int>(rest.kinds.size());
        rest.kinds.push_back(learned_.kinds[k]);
        rest.weight.push_back(learned_.weight[k]);
        rest.price.push_back(learned_.price[k]);
        good_of.push_back(good_of_[k]);
    }
    for (const int id : learned_.order)
        if (number[static_cast<std::size_t>(id)] >= 0)
            rest.order.push_back(number[static_cast<std::size_t>(id)]);
    learned_ = std::move(rest);
    good_of_ = std::move(good_of);
    ids_.clear();
    unit_price_.clear();
    for (std::size_t k = 0; k < learned_.kinds.size(); ++k) {
        ids_.emplace(learned_.kinds[k], static_cast<int>(k));
        unit_price_.push_back(static_cast<std::int32_t>(std::lround(learned_.price[k] * unit)));
    }
    return true;
}

double Prices::value(const Free& free) const { return static_cast<double>(node_value(book_, free)) / unit; }

}  // namespace crater::engine::price
