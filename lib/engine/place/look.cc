#include "place/look.h"

#include <algorithm>
#include <bit>

#include "place/cards.h"

namespace crater::engine {

Look::Look(const Shape& s, const Cluster& c, int position, When w, std::int64_t own)
    : shape(s),
      cluster(c),
      node(c.node(position)),
      books(w == When::empty ? c.nothing() : c.used()),
      n(position),
      when(w),
      own_tasks(own) {
    if (shape.cards > 0) mask_cards();
}

namespace {

// All cards of a node that have one type fail for the same reason.
Mask all_cards(const Node& node) {
    return node.cards.size() == cards_per_node_max ? ~Mask{0} : (Mask{1} << node.cards.size()) - 1;
}

}  // namespace

void Look::mask_cards() {
    if (node.mixed) {
        for (std::size_t c = 0; c < node.cards.size(); ++c)
            if (!node.cards[c].gone || when != When::empty) mask_hardware(Mask{1} << c, need(c));
    } else if (!node.cards.empty()) {
        Mask all = all_cards(node);
        if (when == When::empty)
            for (std::size_t c = 0; c < node.cards.size(); ++c)
                if (node.cards[c].gone) all &= ~(Mask{1} << c);
        mask_hardware(all, shape.need(cluster, node.card_type));
    }
    cards.healthy = when != When::empty ? cards.inference & node.usable : cards.inference;
    const Mask below = when == When::now ? ~node.live.above_watermark : ~Mask{0};
    const Mask calm = when == When::now ? cluster.calm_cards(n) : ~Mask{0};
    const auto tasks_max = settings().max_tasks_per_gpu;
    for (Mask left = cards.healthy; left; left &= left - 1) {
        const auto c = static_cast<std::size_t>(std::countr_zero(left));
        const Mask bit = Mask{1} << c;
        const CardNeed& wants = need(c);
        const CardUse& used = card(c);
        if (!wants.whole && (used.exclusive > 0 || wants.memory > card_memory_free(c))) continue;
        if (wants.partition >= 0 && partitions(c)->start_for(wants.partition, slots(c)) < 0) continue;
        cards.memory |= bit;
        if (wants.whole && used.tasks > 0) continue;
        cards.whole |= bit;
        if (used.compute + wants.compute > 1000) continue;
        cards.compute |= bit;
        if (!wants.whole && used.tasks >= tasks_max) continue;
        cards.slots |= bit;
        if (!(below & bit)) continue;
        cards.watermark |= bit;
        if (calm & bit) cards.load |= bit;
    }
}

void Look::mask_hardware(Mask of, const CardNeed& wants) {
    if (wants.fails == CardNeed::model) return;
    cards.model |= of;
    if (wants.fails == CardNeed::capability) return;
    cards.capability |= of;
    if (wants.fails == CardNeed::precision) return;
    cards.precision |= of;
    if (wants.fails == CardNeed::size) return;
    cards.size |= of;
    if (wants.fails != CardNeed::inference_part) cards.inference |= of;
}

std::int64_t Look::cpu_free() const {
    std::int64_t free = node.cpu - use().cpu;
    if (shape.cards == 0) free = std::min(free, node.cpu - node.preprocessing - use().cpu_only);
    return std::max<std::int64_t>(0, free);
}

std::int64_t Look::memory_free() const { return std::max<std::int64_t>(0, node.memory - use().memory); }

std::int64_t Look::bandwidth_free_max() const {
    std::int64_t best = 0;
    for (std::size_t d = 0; d < node.domains.size(); ++d)
        best = std::max(best, node.domains[d].bandwidth - domain(d).bandwidth);
    return best;
}

std::int64_t Look::card_memory_free(std::size_t c) const {
    if (card(c).exclusive > 0) return 0;
    // What an empty cluster holds it holds without overcommitting.
    const auto limit = when != When::empty ? need(c).limit : card_memory(c);
    const auto free = std::max<std::int64_t>(0, limit - card(c).memory);
    const Partitions* cut = partitions(c);
    return cut ? std::min(free, cut->largest(slots(c))) : free;
}

std::int64_t Look::card_left(std::size_t c) const {
    const auto compute = std::max<std::int64_t>(0, 1000 - card(c).compute);
    if (const Partitions* cut = partitions(c))
        return std::min(compute, cut->largest(slots(c)) * 1000 / cut->rows.back().memory);
    const auto total = cluster.card_limit(card_memory(c));
    const auto free = card(c).exclusive > 0 ? 0 : std::max<std::int64_t>(0, total - card(c).memory);
    return total > 0 ? std::min(compute, free * 1000 / total) : compute;
}

bool Look::domain_holds(std::size_t d) const {
    const Domain& part = node.domains[d];
    return shape.cpu <= part.cpu - domain(d).cpu && shape.memory <= part.memory - domain(d).memory &&
           shape.bandwidth <= part.bandwidth - domain(d).bandwidth;
}

bool Look::disk_serves(std::size_t k) const {
    const DiskUnit& unit = node.disks[k];
    if (unit.gone) return false;
    if (shape.disk_latency_max > 0 && (unit.latency == 0 || unit.latency > shape.disk_latency_max))
        return false;
    if (shape.disk_random_min > 0 && unit.random_read < shape.disk_random_min) return false;
    return unit.stability >= shape.disk_stability;
}

bool Look::disk_holds(std::size_t k) const {
    const DiskUnit& unit = node.disks[k];
    return shape.disk_size <= unit.size - disk(k).size && shape.disk_iops <= unit.iops - disk(k).iops &&
           shape.disk_bandwidth <= unit.bandwidth - disk(k).bandwidth;
}

namespace {

// The disk that is left with the least space.
bool choose_disk(const Look& look, Choice& out) {
    if (!look.shape.wants_disk) return true;
    std::int64_t least = INT64_MAX;
    for (std::size_t k = 0; k < look.node.disks.size(); ++k) {
        if (!look.disk_serves(k) || !look.disk_holds(k)) continue;
        const auto left = look.node.disks[k].size - look.disk(k).size;
        if (left < least) least = left, out.disk = static_cast<int>(k);
    }
    return out.disk >= 0;
}

int common_domain(const Look& look, Mask cards) {
    int home = -1;
    for (std::size_t c = 0; c < look.node.cards.size(); ++c) {
        if (!(cards >> c & 1)) continue;
        if (look.node.cards[c].domain < 0 || (home >= 0 && home != look.node.cards[c].domain)) return -1;
        home = look.node.cards[c].domain;
    }
    return home;
}

// Everything in one NUMA domain: of those that hold it, the one with the fewest cards or cores left.
bool choose_strictly(const Look& look, Choice& out) {
    std::int64_t least = INT64_MAX;
    for (std::size_t d = 0; d < look.node.domains.size(); ++d) {
        if (!look.domain_holds(d)) continue;
        const Mask here = look.cards.load & look.node.cards_in(static_cast<int>(d));
        const auto pick = pick_cards(look, here);
        if (!pick) continue;
        const auto left =
            (std::int64_t{std::popcount(here)} << 40) + look.node.domains[d].cpu - look.domain(d).cpu;
        if (left >= least) continue;
        least = left;
        out.cards = pick->cards;
        out.linked = pick->linked;
        out.domain = out.home = static_cast<int>(d);
    }
    return least != INT64_MAX;
}

// Bound to the cards' domain when that holds it; bandwidth is taken from one domain in any case.
bool choose_freely(const Look& look, Choice& out) {
    const auto pick = pick_cards(look, look.cards.load);
    if (!pick) return false;
    out.cards = pick->cards;
    out.linked = pick->linked;
    out.home = common_domain(look, out.cards);
    const bool binds = look.shape.numa == NumaPolicy::best_effort && look.shape.cards > 0;
    if (binds && out.home >= 0 && look.domain_holds(static_cast<std::size_t>(out.home))) {
        out.domain = out.home;
        return true;
    }
    if (look.shape.bandwidth == 0) return true;
    bool all = false;
    for (std::size_t d = 0; d < look.node.domains.size(); ++d) {
        if (look.shape.bandwidth > look.node.domains[d].bandwidth - look.domain(d).bandwidth) continue;
        const bool holds = look.domain_holds(d);
        if (out.domain < 0 || (holds && !all)) out.domain = static_cast<int>(d), all = holds;
    }
    return out.domain >= 0;
}

}  // namespace

const std::optional<Choice>& Look::choice() const {
    if (chosen_) return choice_;
    chosen_ = true;
    Choice out;
    const bool strict = shape.numa == NumaPolicy::strict;
    if (choose_disk(*this, out) && (strict ? choose_strictly(*this, out) : choose_freely(*this, out)))
        choice_ = out;
    return choice_;
}

CardSlice Look::slice(std::size_t c) const {
    CardSlice out = need(c).slice(c);
    if (out.partition >= 0)
        out.start = static_cast<std::int8_t>(partitions(c)->start_for(out.partition, slots(c)));
    return out;
}

Slices Look::slices() const {
    const Choice& parts = *choice();
    Slices out;
    out.node = n;
    for (std::size_t c = 0; c < node.cards.size(); ++c) {
        if (!(parts.cards >> c & 1)) continue;
        out.cards.push_back(slice(c));
    }
    out.cpu = shape.cpu;
    out.cpu_only = shape.cards == 0;
    if (parts.domain >= 0 && node.domains[static_cast<std::size_t>(parts.domain)].id >= 0)
        out.domain = parts.domain;
    out.memory = shape.memory;
    out.bandwidth = shape.bandwidth;
    out.disk = parts.disk;
    if (out.disk >= 0)
        out.disk_size = shape.disk_size, out.disk_iops = shape.disk_iops,
        out.disk_bandwidth = shape.disk_bandwidth;
    out.node_exclusive = shape.node.exclusive;
    if (shape.cards > 0)
        pick_cores(node, books, shape.cpu, parts.domain >= 0 ? parts.domain : parts.home, out);
    return out;
}

}  // namespace crater::engine
