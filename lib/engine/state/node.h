// What a node has, prepared for deciding: names resolved to positions, amounts as integers, figures derived
// once. What is taken of it stands in the Ledger.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "crater/model/node.h"
#include "state/board.h"
#include "state/data.h"
#include "state/partitions.h"

namespace crater::engine {

using Mask = std::uint64_t;  // of cards of one node, by position
inline constexpr int cards_per_node_max = 64;

// Cards that no request can tell apart share a type, so that a request is matched once per type, not once per
// card.
struct CardType {
    std::string model;
    std::int64_t memory = 0;   // MiB, as the driver reports
    std::int64_t nominal = 0;  // MiB, as it is sold
    int capability = 0;        // 8.0 -> 800
    std::vector<std::string> precisions;
    std::shared_ptr<const Partitions> partitions;  // null: it is given out by amounts
    bool operator==(const CardType& o) const;
};

struct Card {
    std::int64_t index = 0;
    Mask peers = 0;
    int type = 0;
    int domain = -1;  // position; -1 = unknown
    bool usable = true;
    bool gone = false;  // held by a task, but no longer reported
};
struct CardText {
    std::string uuid, fault;
};

struct DiskUnit {
    std::string name;
    std::int64_t size = 0, iops = 0, bandwidth = 0, latency = 0, random_read = 0;
    double stability = 0;
    bool gone = false;
};

// Temperatures of cards, in steps of 5 °C from 70 on.
inline constexpr int heat_steps = 4;
std::int8_t heat_step(double celsius);

// Live use in thousandths. Zero for simulated nodes and until the first sample.
struct Live {
    Mask above_watermark = 0;  // cards whose real use is
    int cpu = 0, memory = 0, disk = 0;
    std::vector<int> gpus;                  // by card position
    std::vector<std::int8_t> heat;          // by card position, in steps; none: not known
    std::vector<std::int64_t> card_memory;  // MiB in real use, by card position; -1: not known
    std::int64_t disk_rate = 0;             // bytes/s
    Instant at;                             // of the sample; 0: there was none

    int heat_of(std::size_t card) const { return card < heat.size() ? heat[card] : 0; }
    std::int64_t memory_on(std::size_t card) const {
        return card < card_memory.size() ? card_memory[card] : -1;
    }
};

// The first cache line is what every decision looks at.
struct alignas(64) Node {
    std::int64_t cpu = 0, memory = 0;
    std::int64_t preprocessing = 0;  // cores that CPU-only jobs may not use
    std::int64_t card_memory = 0;    // of each card, when they are of one type
    Mask usable = 0;                 // cards in order
    int card_type = -1;              // of all its cards; -1: none, or several
    bool mixed = false;              // cards of several types, or such as are cut into instances
    bool present = false;            // false after NodeRemoved
    bool draining = false, lost = false;
    // Where its entries begin in the ledger, and for how many there is room.
    int cards_at = 0, domains_at = 0, cores_at = 0, disks_at = 0;
    int cards_room = 0, domains_room = 0, cores_room = 0, disks_room = 0;
    bool runs_processes = false, runs_images = false;  // of its runtimes
    std::uint64_t name_hash = 0;
    std::shared_ptr<const Board> board;
    std::span<const Domain> domains;  // of the board
    Live live;
    Few<Mask, 2> domain_cards;  // by domain: the cards in it
    std::vector<Card> cards;
    std::vector<CardText> card_texts;
    std::vector<std::shared_ptr<const Partitions>> partitions;  // by card, where any has them
    std::vector<DiskUnit> disks;
    std::vector<Taint> taints;
    DataKeys data;                     // in its cache
    std::vector<Maintenance> windows;  // by start
    // Minutes for which a job may run that starts now, a step of `minutes_down`; closed: it takes none. Kept
    // current by Cluster::advance.
    static constexpr std::int64_t closed = -1;
    std::int64_t open_for = INT64_MAX;

    std::string name;
    std::uint32_t hardware_version = 0;
    std::shared_ptr<const NodeInventory> inventory;  // whoever told of the node has the same object

    bool takes_work() const { return present && !draining && !lost; }
    Mask cards_in(int domain) const {
        return domain < 0 ? 0 : domain_cards[static_cast<std::size_t>(domain)];
    }
};

// The size a card is sold with: "a100-pcie-40gb" with 40536 MiB is a 40 GiB card.
std::int64_t nominal_memory(const std::string& model, std::int64_t memory);
// Spans in whole minutes and, from eight on, in four steps an octave, so that equal ones are many.
std::int64_t minutes_up(Millis span);
std::int64_t minutes_down(Millis span);
// "8.0" -> 800; 0 when it is no version.
int capability_number(std::string_view text);

}  // namespace crater::engine
