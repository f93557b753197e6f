// Moving jobs so that what is free lies together: the fewest moves that let a waiting job start, each to a
// place that the plan has for it.
//
// A move stops a preemptible job, which goes on from its last checkpoint elsewhere. The search tries no move,
// then one, then two: the first number with which everybody has a place is the fewest, and of the plans with
// so few the cheapest that was found is taken. A job that moves may push another on. It is exact while it is
// short (README); beyond so many looks at nodes it takes what it has.
#pragma once

#include "engine_impl.h"

namespace crater::engine {

struct Engine::Impl::Rearrangement {
    struct Move {
        int job = -1;
        std::vector<Slices> to;
        std::int64_t cost = 0;  // milli-GPU-seconds
    };
    std::vector<Move> moves;
    int starts = -1;            // the job that starts, by position; -1: none in particular
    std::vector<Slices> place;  // where
    std::int64_t cost = 0;
    double gained = 0;  // cards made usable
    bool cut = false;   // the search ended early: there may be a shorter plan
};

class Engine::Impl::Mover {
  public:
    static constexpr std::int64_t search_max = 200'000;  // looks at nodes
    Mover(Impl& engine, Instant now, std::int64_t max_moves, std::int64_t looks_max = search_max);
    std::int64_t looks() const { return looks_; }
    std::optional<Rearrangement> make_room(const JobSlot& slot);
    std::optional<Rearrangement> gather();
    bool movable(const JobSlot& slot) const;

  private:
    // Tasks of one job that need a place.
    struct Homeless {
        int job;  // position; -1: the one that shall start
        const JobSlot* slot;
        std::int64_t tasks;
        std::vector<Slices> places{};
    };
    bool search(const JobSlot& slot, int lifts);
    bool settle(std::size_t at, int lifts);
    bool settle_on(std::size_t at, int node, int lifts, std::size_t from);
    bool put(std::size_t at, int node, int lifts);
    void lift(int position);
    void drop(std::size_t mark);
    bool spent();
    bool held_nothing(int node) const;

    Impl& e_;
    const Instant now_;
    const std::int64_t max_moves_, looks_max_;
    std::vector<std::unique_ptr<Homeless>> homeless_;  // in the order in which they look for a place
    std::vector<int> lifted_;
    std::int64_t cost_ = 0, looks_ = 0;
    std::optional<Rearrangement> best_;
    bool cut_ = false;
};

}  // namespace crater::engine
