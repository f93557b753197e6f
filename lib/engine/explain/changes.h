// The smallest change of each kind that would start a waiting job now. Each is tried on the books: the change
// does it, and one step less of it does not, on any node.
#pragma once

#include <functional>

#include "engine_impl.h"

namespace crater::engine {

class Engine::Impl::Changes {
  public:
    Changes(Impl& engine, JobSlot& slot, const Survey& survey, const Found& found, const Outcome& outcome,
            std::int64_t room, Instant now, bool thorough, Why& out);
    void find();

  private:
    // One amount of a request, in steps: less of it is easier to meet.
    struct Amount {
        std::string_view kind, unit;
        Lacks cures = 0;  // what less of it may cure
        std::int64_t from = 0, step = 1;
        double shown = 1;  // units of `unit` are so many of the amount's
        std::string (*words)(std::int64_t) = nullptr;
        std::string_view of;  // "of GPU memory per card"
        std::function<void(Shape&, std::int64_t)> set;
        std::function<std::int64_t(std::size_t rank)> bound;  // no node has room for more
    };
    struct Place {
        std::int64_t bound;
        int rank;
        bool operator<(const Place& o) const { return bound != o.bound ? bound < o.bound : rank > o.rank; }
    };

    void amounts();
    void gpu_memory();
    void gpu_count();
    void disk(std::string_view kind, std::string_view filter, std::int64_t Shape::*amount, std::int64_t step);
    void try_amount(const Amount& amount);
    std::int64_t most_on_one(const Amount& amount, std::vector<Place>& places, std::int64_t steps);
    std::int64_t most_of_gang(const Amount& amount, const std::vector<Place>& places, std::int64_t steps);
    void other_model();
    void fewer_tasks();
    void looser_topology();
    void job_end();
    void higher_priority();
    // Whether somebody who goes first would take what is free on these nodes now.
    bool overtaken(std::span<const int> ranks);
    bool goes_first(int queue, const WaitClass& members) const;
    struct Ahead {
        int shape, tenant;
        bool held_back;  // by its quota
        Amounts needs;   // of it
    };
    Amounts needs_of(const WaitClass& members) const;
    void look_ahead();
    bool overtakes(const Ahead& one, std::span<const int> ranks);
    // Whether by what it frees, added up, one of these nodes can take a task; never wrong when it says no.
    bool may_take(std::span<const int> ranks, const JobSlot& holder) const;
    // Nodes on which places are kept for jobs that go first and have not ended before: what starts there may
    // delay them.
    void find_kept();

    Shape altered(const Amount& amount, std::int64_t steps) const;
    bool within_quota(const Shape& shape, std::int64_t tasks) const;
    // Whether the node takes a task of it now, whatever else it holds of this job.
    bool takes(const Shape& shape, int node);
    bool starts(const Shape& shape, std::span<const int> ranks);
    // Likewise on the first ones or the others; nodes that are both count once.
    bool starts(const Shape& shape, std::span<const int> first, std::span<const int> others);
    bool afford();
    std::int64_t looks_left() const;

    Impl& e_;
    JobSlot& slot_;
    const Shape& shape_;
    const Survey& survey_;
    const Found& found_;
    const Outcome& outcome_;
    const std::int64_t room_;
    const Instant now_;
    const bool thorough_;
    Why& out_;
    std::int64_t looks_ = 0;  // at nodes, so far
    bool cut_ = false;        // the search ended early
    bool more_ = false;       // some kind is left out though a change of it may do
    std::vector<Ahead> ahead_;
    bool ahead_known_ = false;
    std::size_t overtook_ = 0;  // who did last, as a rule does again
    std::vector<char> kept_;    // by rank; empty: there are none
    bool unsure_ = false;       // it would start on one of them, but for what is kept there
};

}  // namespace crater::engine
