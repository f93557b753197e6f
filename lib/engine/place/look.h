// One shape looked at on one node: the cards that could serve after each condition, and the parts it would
// get. Cheap to make; lives for one evaluation.
#pragma once

#include <optional>

#include "place/shape.h"

namespace crater::engine {

// Cards still in question after each condition, each mask within the one before.
struct CardMasks {
    Mask model = 0, capability = 0, precision = 0, size = 0, inference = 0;  // of the hardware
    Mask healthy = 0;
    Mask memory = 0, whole = 0, compute = 0, slots = 0;  // of what is free now
    Mask watermark = 0, load = 0;                        // of what is really used
};

// Which parts of the node the task would get.
struct Choice {
    Mask cards = 0;
    int domain = -1;  // bound to
    int home = -1;    // the NUMA domain that all its cards are in
    int disk = -1;
    bool linked = false;  // its cards reach each other through NVLink
};

// Whether the node is looked at as it is, as it may be later (what is booked counts, what is measured does
// not), or as it would be with nothing on it and nothing wrong with it.
enum class When { now, later, empty };

struct Look {
    Look(const Shape& shape, const Cluster& cluster, int node, When when = When::now,
         std::int64_t own_tasks = 0);

    const Shape& shape;
    const Cluster& cluster;
    const Node& node;
    const Ledger& books;
    int n;
    When when;
    std::int64_t own_tasks;  // of the same job on this node, for jobs that want a node for themselves
    CardMasks cards;

    const Settings& settings() const { return cluster.settings(); }
    // What is used of this node, and of its cards, domains and disks.
    const NodeUse& use() const { return books.nodes[static_cast<std::size_t>(n)]; }
    const CardUse& card(std::size_t c) const {
        return books.cards[static_cast<std::size_t>(node.cards_at) + c];
    }
    const DomainUse& domain(std::size_t d) const {
        return books.domains[static_cast<std::size_t>(node.domains_at) + d];
    }
    const DiskUse& disk(std::size_t k) const {
        return books.disks[static_cast<std::size_t>(node.disks_at) + k];
    }
    const CardNeed& need(std::size_t c) const {
        return shape.need(cluster, node.mixed ? node.cards[c].type : node.card_type);
    }
    std::int64_t card_memory(std::size_t c) const {
        return node.mixed ? cluster.type(node.cards[c].type).memory : node.card_memory;
    }

    std::int64_t cpu_free() const;  // for this shape: CPU-only work leaves the pre-processing reserve alone
    std::int64_t memory_free() const;
    std::int64_t bandwidth_free_max() const;             // in the best domain
    std::int64_t card_memory_free(std::size_t c) const;  // that slices of this shape may declare
    Slots slots(std::size_t c) const { return books.slots[static_cast<std::size_t>(node.cards_at) + c]; }
    // What the cards that are cut into instances are; null for one that is not.
    const Partitions* partitions(std::size_t c) const {
        return node.mixed ? node.partitions[c].get() : nullptr;
    }
    // thousandths of its limit: the lesser of compute and memory
    std::int64_t card_left(std::size_t c) const;
    bool domain_holds(std::size_t d) const;
    bool disk_serves(std::size_t k) const;  // by what it is
    bool disk_holds(std::size_t k) const;   // by what is free

    // The policy has chosen the card; to be said before the choice is made.
    void take(int card) { cards.load &= Mask{1} << card; }
    void keep(Mask only) { cards.load &= only; }  // the others were turned down
    // All parts together; none when they cannot be had at once. Remembered.
    const std::optional<Choice>& choice() const;
    // The choice as slices, with the whole cores picked.
    Slices slices() const;
    CardSlice slice(std::size_t c) const;  // what it gets of this card

  private:
    void mask_cards();
    void mask_hardware(Mask of, const CardNeed& wants);
    mutable bool chosen_ = false;
    mutable std::optional<Choice> choice_;
};

}  // namespace crater::engine
