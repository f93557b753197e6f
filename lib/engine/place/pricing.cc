#include "place/pricing.h"

#include <algorithm>

namespace crater::engine {
namespace {

constexpr std::int32_t no_gpu_bonus = 1 << 30;  // of a node without cards, for work without a GPU

// Card types beyond those the prices can tell apart count as unknown.
int type_of(int card_type) { return card_type < price::card_types ? card_type : -1; }

// What the shape takes of a card of the type, in thousandths.
std::int64_t part_of(const CardNeed& need, std::int64_t card_memory) {
    if (need.whole) return price::whole_card;
    const auto memory =
        card_memory > 0 ? (need.memory * price::whole_card + card_memory - 1) / card_memory : 0;
    return std::clamp<std::int64_t>(std::max(need.compute, memory), 1, price::whole_card);
}

// A shape may take more of a small card than of a large one: it counts as what it takes of the smallest that
// serves it.
price::Demand demand_of(const Shape& shape, const Cluster& cluster) {
    price::Demand out;
    out.cards = shape.cards;
    out.amounts = {shape.cpu, shape.memory, shape.disk_size, shape.disk_iops, shape.bandwidth};
    if (shape.cards == 0) return out;
    out.types = 0;
    for (int t = 0; t < std::min(cluster.type_count(), price::card_types); ++t) {
        const CardNeed& need = shape.need(cluster, t);
        if (need.fails != CardNeed::nothing || cluster.type(t).memory == 0) continue;
        out.types |= std::uint64_t{1} << t;
        out.milli =
            std::max(out.milli, static_cast<int>(part_of(need, cluster.card_limit(cluster.type(t).memory))));
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
    if (ranking_of(policy) != Ranking::learned || learner(policy).prices) return;
    learner(policy).prices = std::make_unique<price::Prices>(
        policy == Policy::price ? price::Rule::price : price::Rule::fragmentation);
}

int Pricing::kind(Learner& from, int position, const Shape& shape) {
    const auto at = static_cast<std::size_t>(position);
    if (at >= from.kinds.size()) from.kinds.resize(at + 1, -1);
    int& out = from.kinds[at];
    if (out < 0) out = from.prices->intern(demand_of(shape, cluster_));
    return out;
}

void Pricing::arrived(int position, const Shape& shape, std::int64_t tasks) {
    for (auto& each : learners_)
        if (each.prices) each.prices->arrived(kind(each, position, shape), static_cast<int>(tasks));
}

void Pricing::departed(int position, const Shape& shape, std::int64_t tasks) {
    for (auto& each : learners_)
        if (each.prices) each.prices->departed(kind(each, position, shape), static_cast<int>(tasks));
}

void Pricing::leave(int position) {
    for (auto& each : learners_)
        if (static_cast<std::size_t>(position) < each.kinds.size())
            each.kinds[static_cast<std::size_t>(position)] = -1;
}

void Pricing::forget() {
    for (auto& each : learners_) each.kinds.clear();
}

Pricing::News Pricing::reprice() {
    News news = News::none;
    for (auto& each : learners_) {
        if (!each.prices) continue;
        const bool due = each.prices->due();
        if (due) {
            survey();
            each.prices->reprice(now_, empty_);
            if (each.prices->forget_rare()) each.kinds.clear();
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
    price::Free out{type_of(room.card_type), left, {room.cpu, room.memory, 0, 0, 0}};
    if (!all) return out;
    for (std::size_t k = 0; k < node.disks.size(); ++k) {
        const DiskUse& used = cluster_.used().disks[static_cast<std::size_t>(node.disks_at) + k];
        out.amounts[price::disk] += std::max<std::int64_t>(0, node.disks[k].size - used.size);
        out.amounts[price::iops] += std::max<std::int64_t>(0, node.disks[k].iops - used.iops);
    }
    for (std::size_t d = 0; d < node.domains.size(); ++d) {
        const DomainUse& used = cluster_.used().domains[static_cast<std::size_t>(node.domains_at) + d];
        out.amounts[price::bandwidth] +=
            std::max<std::int64_t>(0, node.domains[d].bandwidth - used.bandwidth);
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
        if (!node.takes_work() || node.mixed || node.card_type >= price::card_types) continue;
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

const Pricing::Known& Pricing::know(Learner& by, int n, const Room& room, const CardRoom* cards) const {
    const auto at = static_cast<std::size_t>(n);
    const auto version = by.prices->version();
    if (at < by.known.size() && by.known[at].node_version == cluster_.version(n) &&
        by.known[at].prices_version == version)
        return by.known[at];
    const auto nodes = static_cast<std::size_t>(cluster_.size()), tables = by.prices->tables();
    if (by.known.size() != nodes || by.left.size() != cluster_.used().cards.size() ||
        by.sums.size() < nodes * tables) {
        by.known.assign(nodes, {});
        by.seen.assign(nodes, {});
        by.left.assign(cluster_.used().cards.size(), 0);
        by.sums.resize(nodes * tables);
    }
    const Node& node = cluster_.node(n);
    const auto left = std::span(by.left).subspan(static_cast<std::size_t>(node.cards_at), node.cards.size());
    for (std::size_t c = 0; c < left.size(); ++c) left[c] = cards[c].left;
    Known& known = by.known[at];
    known = {cluster_.version(n), version, free_of(n, room, left, by.looks_at_all), {}};
    if (!by.prices->priced()) return known;
    known.worth = by.prices->appraise(known.free, &by.sums[at * tables]);
    by.seen[at] = {known.node_version, version, by.prices->glance(known.free, known.worth)};
    return known;
}

price::Rating Pricing::rate(Learner& by, const Known& known, int n, int kind, Mask fitting) const {
    if (!by.prices->priced()) return by.prices->choose(known.free, kind, fitting);
    const auto at = static_cast<std::size_t>(kind);
    if (at >= by.answers.size()) by.answers.resize(at + 1);
    Answer& last = by.answers[at];
    if (last.node == n && last.node_version == known.node_version &&
        last.prices_version == known.prices_version && last.fitting == fitting)
        return last.rating;
    last = {n, known.node_version, known.prices_version, fitting,
            by.prices->choose(known.free, known.worth, kind, fitting)};
    return last.rating;
}

Level Pricing::level(int position, const Shape& shape, int n, const Room& room, const CardRoom* cards,
                     Mask fitting) {
    Learner& by = learner(shape.policy);
    // Of cards of several types, or of one too many, nothing is known but that the task fits.
    if (shape.cards > 0 && type_of(room.card_type) < 0) return {0};
    const Known& known = know(by, n, room, cards);
    const auto rating = rate(by, known, n, kind(by, position, shape), fitting);
    const bool can_be_had = rating.card >= 0 && (fitting >> rating.card & 1);
    if (shape.cards > 0) return {std::max(0, rating.level), can_be_had ? rating.card : -1};
    // Work without a GPU stays off nodes that have them.
    return {rating.level / 2 + (known.free.cards.empty() ? no_gpu_bonus : 0)};
}

std::int32_t Pricing::bound(int position, const Shape& shape, int n, const Room& room,
                            const CardRoom* cards) {
    Learner& by = learner(Policy::price);
    if (!by.prices->priced() || (shape.cards > 0 && type_of(room.card_type) < 0)) return INT32_MAX;
    const auto at = static_cast<std::size_t>(n);
    if (at >= by.seen.size() || by.seen[at].node_version != cluster_.version(n) ||
        by.seen[at].prices_version != by.prices->version())
        know(by, n, room, cards);
    const price::Glance& glance = by.seen[at].glance;
    const std::int32_t found = std::max(0, by.prices->level_bound(glance, kind(by, position, shape)));
    return shape.cards > 0 ? found : found / 2 + (glance.type < 0 ? no_gpu_bonus : 0);
}

// A shape that needs more than its room leaves the cards to the look; its level is that of what it would get.
// Cards that do not reach each other well cost a task of several as much as a part of a card for each step
// down.
Level Pricing::level(int position, const Look& look) {
    std::array<CardRoom, cards_per_node_max> cards;
    const Room room = room_of(look.cluster, look.n, cards.data());
    const Choice& choice = *look.choice();
    const Level out = level(position, look.shape, look.n, room, cards.data(), choice.cards);
    if (look.shape.cards < 2) return {std::max(0, out.value)};
    const int steps = choice.linked ? 0 : choice.home >= 0 ? 1 : 2;
    const auto step = learner(look.shape.policy).prices->priced() ? std::int32_t{20} << price::regret_at : 20;
    return {std::max(0, out.value - steps * step)};
}

// A level read back into terms; what it was before the first prices looks different from what it is after.
std::vector<ScoreTerm> Pricing::terms(const Shape& shape, std::int32_t level) const {
    if (shape.cards == 0) level = (level >= no_gpu_bonus ? level - no_gpu_bonus : level) * 2;
    const bool priced = learner(shape.policy).prices && learner(shape.policy).prices->priced();
    if (!priced) return {{"fragmentation", std::clamp(level / 100.0, 0.0, 1.0), 1}};
    constexpr double most = (1 << price::regret_bits) - 1;
    const double loss = (most - (level >> price::regret_at)) * price::bucket / price::whole_card;  // in cards
    return {{"future_value", 1 / (1 + std::max(0.0, loss)), 1},
            {"fit", std::clamp((level & 1023) / 1000.0, 0.0, 1.0), 0}};
}

void Pricing::Learner::look() {
    const auto& scarce = prices->learned().scarce;
    looks_at_all =
        std::any_of(scarce.begin(), scarce.end(), [](int companion) { return companion > price::memory; });
}

void Pricing::restore(Policy policy, price::Learned learned) {
    learner(policy) = {};
    learner(policy).prices = std::make_unique<price::Prices>(
        policy == Policy::price ? price::Rule::price : price::Rule::fragmentation, std::move(learned));
    learner(policy).look();
}

}  // namespace crater::engine
