#include "place/pricing.h"

#include <algorithm>

namespace crater::engine {
namespace {

// Where the loss stands in a level of the prices, in hundredths of a card (price/regret.cc).
constexpr int regret_at = 17;

// What the shape takes of a card of the type, in thousandths.
std::int64_t part_of(const CardNeed& need, std::int64_t card_memory) {
    if (need.whole) return price::whole_card;
    const auto memory = card_memory > 0 ? (need.memory * price::whole_card + card_memory - 1) / card_memory : 0;
    return std::clamp<std::int64_t>(std::max(need.compute, memory), 1, price::whole_card);
}

// A shape may take more of a small card than of a large one: it counts as what it takes of the smallest that serves it.
price::Kind demand_of(const Shape& shape, const Cluster& cluster) {
    price::Kind out;
    out.cards = shape.cards;
    out.amounts = {shape.cpu, shape.memory, shape.disk_size, shape.disk_iops, shape.bandwidth};
    if (shape.cards == 0) return out;
    out.types = 0;
    for (int t = 0; t < std::min(cluster.type_count(), price::card_types); ++t) {
        const CardNeed& need = shape.need(cluster, t);
        if (need.fails != CardNeed::nothing || cluster.type(t).memory == 0) continue;
        out.types |= std::uint64_t{1} << t;
        out.milli = std::max(out.milli, static_cast<int>(part_of(need, cluster.type(t).memory)));
    }
    if (out.milli == 0) out.milli = static_cast<int>(shape.part);
    return out;
}

price::Amounts empty_amounts(const Node& node) {
    price::Amounts out{node.cpu, node.memory, 0, 0, 0};
    for (const auto& disk : node.disks) out[price::disk] += disk.size, out[price::iops] += disk.iops;
    for (const auto& domain : node.domains) out[price::bandwidth] += domain.bandwidth;
    return out;
}

}  // namespace

void Pricing::use(Policy policy) {
    if (kind_of(policy) != Kind::learned || rule(policy).prices) return;
    rule(policy).prices = std::make_unique<price::Prices>(policy == Policy::price ? price::Rule::price : price::Rule::fragmentation);
}

int Pricing::kind(Rule& from, int position, const Shape& shape) {
    // A new type of card may serve the shape too, with another part of it.
    if (types_ != cluster_.type_count()) forget();
    const auto [it, fresh] = from.kinds.try_emplace(position, -1);
    if (fresh) it->second = from.prices->intern(demand_of(shape, cluster_));
    return it->second;
}

void Pricing::arrived(int position, const Shape& shape, std::int64_t tasks) {
    for (auto& each : rules_)
        if (each.prices) each.prices->arrived(kind(each, position, shape), static_cast<int>(tasks));
}

void Pricing::departed(int position, const Shape& shape, std::int64_t tasks) {
    for (auto& each : rules_)
        if (each.prices) each.prices->departed(kind(each, position, shape), static_cast<int>(tasks));
}

void Pricing::leave(int position) {
    for (auto& each : rules_) each.kinds.erase(position);
}

void Pricing::forget() {
    types_ = cluster_.type_count();
    for (auto& each : rules_) each.kinds.clear();
}

Pricing::News Pricing::reprice() {
    News news = News::none;
    for (auto& each : rules_) {
        if (!each.prices) continue;
        const bool due = each.prices->due();
        if (due) {
            survey();
            each.prices->reprice(now_, empty_);
            each.look();
            news = News::prices;
        }
        if (each.prices->version() != each.seen_version && news == News::none) news = News::levels;
        each.seen_version = each.prices->version();
    }
    return news;
}

// Disks and bandwidth are only looked up while the prices look at them.
price::Free Pricing::free_of(int n, const Room& room, std::span<const std::int16_t> left, bool all) const {
    const Node& node = cluster_.node(n);
    price::Free out{room.card_type, left, {room.cpu, room.memory, 0, 0, 0}};
    if (!all) return out;
    for (std::size_t k = 0; k < node.disks.size(); ++k) {
        const DiskUse& used = cluster_.used().disks[static_cast<std::size_t>(node.disks_at) + k];
        out.amounts[price::disk] += std::max<std::int64_t>(0, node.disks[k].size - used.size);
        out.amounts[price::iops] += std::max<std::int64_t>(0, node.disks[k].iops - used.iops);
    }
    for (std::size_t d = 0; d < node.domains.size(); ++d) {
        const DomainUse& used = cluster_.used().domains[static_cast<std::size_t>(node.domains_at) + d];
        out.amounts[price::bandwidth] += std::max<std::int64_t>(0, node.domains[d].bandwidth - used.bandwidth);
    }
    return out;
}

// Nodes that take work, as they are and as they are when empty.
void Pricing::survey() {
    std::size_t cards = 0;
    for (const int n : cluster_.by_name()) cards += cluster_.node(n).cards.size();
    left_now_.assign(cards, 0);
    left_empty_.assign(cards, 0);
    now_.clear();
    empty_.clear();
    std::array<CardRoom, cards_per_node_max> rooms;
    std::size_t at = 0;
    for (const int n : cluster_.by_name()) {
        const Node& node = cluster_.node(n);
        if (!node.takes_work() || node.mixed) continue;
        const Room room = room_of(cluster_, n, rooms.data());
        for (std::size_t c = 0; c < node.cards.size(); ++c) {
            left_now_[at + c] = rooms[c].left;
            left_empty_[at + c] = node.usable >> c & 1 ? price::whole_card : 0;
        }
        now_.push_back({free_of(n, room, {&left_now_[at], node.cards.size()}, true), 1});
        empty_.push_back({{node.card_type, {&left_empty_[at], node.cards.size()}, empty_amounts(node)}, 1});
        at += node.cards.size();
    }
}

Level Pricing::level(int position, const Shape& shape, int n, const Room& room, const CardRoom* cards, Mask fitting) {
    Rule& by = rule(shape.policy);
    const auto count = cluster_.node(n).cards.size();
    for (std::size_t c = 0; c < count; ++c) left_[c] = cards[c].left;
    const auto choice = by.prices->choose(free_of(n, room, {left_.data(), count}, by.looks_at_all), kind(by, position, shape), fitting);
    // Of a node with cards of several types nothing is known, but it fits.
    const bool can_be_had = choice.card >= 0 && (fitting >> choice.card & 1);
    if (shape.cards > 0) return {std::max(0, choice.level), can_be_had ? choice.card : -1};
    // Work without a GPU stays off nodes that have them.
    return {choice.level / 2 + (count == 0 ? 1 << 30 : 0)};
}

// A shape that needs more than its room leaves the cards to the look; its level is that of what it would get. Cards that do not reach
// each other well cost a task of several as much as a part of a card for each step down.
Level Pricing::level(int position, const Look& look) {
    std::array<CardRoom, cards_per_node_max> cards;
    const Room room = room_of(look.cluster, look.n, cards.data());
    const Choice& choice = *look.choice();
    const Level out = level(position, look.shape, look.n, room, cards.data(), choice.cards);
    if (look.shape.cards < 2) return {std::max(0, out.value)};
    const int steps = choice.linked ? 0 : choice.home >= 0 ? 1 : 2;
    const auto step = look.shape.policy == Policy::price ? std::int32_t{20} << regret_at : 20;
    return {std::max(0, out.value - steps * step)};
}

std::vector<ScoreTerm> price_terms(std::int32_t level) {
    constexpr double most = (1 << (31 - regret_at)) - 1;
    const double loss = (most - (level >> regret_at)) / 100;  // in cards
    return {{"future_value", 1 / (1 + loss), 1}, {"fit", (level & 1023) / 1000.0, 0}};
}

std::vector<ScoreTerm> fragmentation_terms(std::int32_t level) { return {{"fragmentation", level / 100.0, 1}}; }

void Pricing::Rule::look() {
    const auto& scarce = prices->learned().scarce;
    looks_at_all = std::any_of(scarce.begin(), scarce.end(), [](int companion) { return companion > price::memory; });
}

void Pricing::restore(Policy policy, price::Learned learned) {
    rule(policy) = {};
    rule(policy).prices = std::make_unique<price::Prices>(policy == Policy::price ? price::Rule::price : price::Rule::fragmentation,
                                                          std::move(learned));
    rule(policy).look();
}

}  // namespace crater::engine
