// The index that makes a decision cheap: every shape in use has a seat, a seat knows the level of every node
// for its shape, and the best node is on top of a tree. A change of a node is a few lookups that give the set
// of seats it concerns, before or after; those look at the node again when they are next asked. So the cost
// of a decision does not grow with the cluster, nor with what runs on it.
//
// A shape asked for the first time is answered by a scan of the packed rooms; it gets a seat when it comes
// back.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "place/doors.h"
#include "place/fit_index.h"
#include "place/judge.h"
#include "place/levels.h"
#include "place/room.h"
#include "place/thresholds.h"

namespace crater::engine {

class Seats {
  public:
    explicit Seats(const Judge& judge) : judge_(judge), cluster_(judge.cluster()) {}

    // The best node for a shape now; adds the nodes looked at to `looked`. `trace`, when not null, gets the
    // next five too, and what the other nodes lack.
    Spot best(int shape, int& looked, Trace* trace = nullptr);
    // The best nodes, best first, at most `count`; fewer for a shape that finds no seat.
    std::vector<Spot> top(int shape, std::size_t count, int& looked);
    // The slices a task of the shape gets at the spot that was just named, where the node's room tells; false
    // where it takes a look.
    bool take(int shape, const Spot& spot, Slices& out) const;
    bool has_seat(int shape) const { return seat_of(shape) >= 0; }
    // The packed room of the node; null where the index has not measured it as it is now.
    const Room* room(int n) const {
        const auto at = static_cast<std::size_t>(n);
        return measured_ && at < entries_.size() && entries_[at].version == cluster_.version(n)
                   ? &entries_[at].room
                   : nullptr;
    }

    void leave(int shape);  // the shape is no more
    void forget();          // settings changed: everything known is void
    void levels_changed();  // of the policies that learn

  private:
    struct Seat {
        int shape = -1;
        std::uint64_t used_at = 0;
        bool plain = false;                    // its level follows from the room alone
        bool indexed = false;                  // answered by the index: nothing below `standing` is kept
        std::vector<std::uint8_t> standing;    // by node: the filter that turns it away whatever is free
        std::array<int, 64> standing_count{};  // by filter
        int turned_away = 0;                   // of all of these
        Levels levels;
    };
    // What a node has, as positions among the thresholds.
    struct Standing {
        std::uint16_t cpu = 0, cpu_only = 0, memory = 0, idle = 0, card_memory = 0, card_compute = 0;
    };
    struct alignas(64) Entry {
        Room room;
        std::int32_t cards_at = 0;  // of `card_rooms_`
        std::uint16_t cards = 0;
        bool counted = false;
        std::uint64_t version = 0;
        SeatSet eligible;  // by what the node is and whether it takes work
        Standing has;
        std::uint32_t condition = 0;
        Mask booked = 0;  // cards with bookings since it was measured
    };
    // For the cards of one type.
    struct CardThresholds {
        Thresholds idle, memory, compute;
    };

    int seat_of(int shape) const {
        const auto at = static_cast<std::size_t>(shape);
        return at < seat_of_.size() ? seat_of_[at] : -1;
    }
    std::optional<std::size_t> free_seat() const;
    // none: it is asked about for the first time, or all are taken
    std::optional<std::size_t> seat_for(int shape);
    void build();
    void fill(std::size_t seat);
    bool is_square(const Shape& shape) const;
    void sync();
    void refresh(int n, bool anew);
    void fetch(int n) const;
    void measure(int n, Entry& entry, bool known);
    void find_standing(Entry& entry, bool cards_too);
    void census(const Standing& standing, int card_type, int by);
    void recount(const Standing& before, const Standing& now, int card_type);
    SeatSet room_for(const Entry& entry) const;
    void stand(std::size_t seat, int n);
    void relevel();
    void settle(std::size_t seat, int& looked);
    Level level_on(const Seat& seat, int n) const;
    bool has_left(const Shape& shape, const Entry& entry, std::size_t left) const;
    Spot first_from_index(std::size_t seat, int& looked) const;
    Spot from_index(std::size_t seat, int& looked, Trace& trace) const;
    Spot scan(int shape, int& looked, Trace* trace);
    void record_lacks(std::size_t seat, Trace& trace) const;

    const Judge& judge_;
    const Cluster& cluster_;
    std::vector<std::int16_t> seat_of_;         // by shape; -1: it has none
    std::vector<std::unique_ptr<Seat>> seats_;  // null: free
    std::unordered_set<int> asked_once_;        // shapes without a seat; never walked
    std::uint64_t clock_ = 0, layout_ = 0, synced_ = 0;
    std::size_t types_ = 0;  // card types the thresholds know
    bool built_ = false;
    bool measured_ = false;             // the rooms and the index are those of this layout and these settings
    std::vector<Entry> entries_;        // by node
    Doors doors_;                       // who is eligible and has room; kept only while a seat has levels
    std::vector<CardRoom> card_rooms_;  // as the cards in the books
    int mixed_ = 0;  // nodes with cards of several types: while there are any, nothing is indexed
    SeatSet treed_;  // seats that keep a tree
    // Those of them whose levels follow from the room alone and from prices: what is known of a node serves
    // them all.
    SeatSet priced_;
    bool stale_ = false;  // something new was learned
    std::vector<Spot> best_few_;
    FitIndex fit_;
    Thresholds cpu_, cpu_only_, memory_;
    std::vector<CardThresholds> cards_;  // by card type
};

}  // namespace crater::engine
