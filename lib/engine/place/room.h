// What is free of a node, packed for the index: a cache line or two where the books have rows of many
// amounts. Derived from the books, the hardware and the live load; never asked to be exact about what it
// leaves out (disks, domains, links): a node it turns down cannot serve, a node it lets pass is looked at.
#pragma once

#include <array>
#include <cstdint>

#include "state/node.h"

namespace crater::engine {

// A card as a slice sees it. A card that takes nothing has `memory` -1.
struct CardRoom {
    std::int32_t memory = -1;  // MiB that slices may still declare
    std::int16_t compute = 0;  // thousandths free
    std::int16_t left = 0;     // thousandths of the card free: the lesser of compute and memory
};

struct Room {
    std::int64_t cpu = 0, cpu_only = 0, memory = 0;  // milli-cores, milli-cores for work without a GPU, bytes
    Mask idle = 0;                                   // cards nothing is on and that may be had whole
    std::int32_t card_memory = -1;                   // most MiB free on one card
    std::int16_t card_compute = 0;                   // most thousandths free on one card
    std::int16_t idle_count = 0;
    std::int32_t card_type = -1;  // of all its cards; -1: none, or several
    bool mixed = false;           // cards of several types
};

class Cluster;
// The packed room of a node and its cards (an entry per card of the node).
Room room_of(const Cluster& cluster, int node, CardRoom* cards);
// Brings them up to date after bookings on these of its cards; nothing else may have changed.
void update_room(const Cluster& cluster, int node, Mask booked, Room& room, CardRoom* cards);

}  // namespace crater::engine
