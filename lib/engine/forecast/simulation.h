// The time to come, played through once: what runs ends, what waits starts in its order as soon as it fits,
// the first that are blocked keep the node where they fit first. Nodes are sums (idle cards, what is left of
// shared ones, cores, memory), times are drawn by the caller.
#pragma once

#include <cstdint>
#include <vector>

namespace crater::engine {

struct SimNode {
    int kind = 0;           // nodes of a kind serve the same requests
    std::int32_t idle = 0;  // whole cards
    std::int32_t open = 0;  // thousandths left of cards that are shared, in all
    std::int64_t cpu = 0, memory = 0;
};
// What each task takes. Equal needs are one.
struct SimNeed {
    std::vector<std::uint8_t> serves;  // by kind of node
    std::int32_t cards = 0, part = 0;  // whole cards, or thousandths of one
    std::int64_t cpu = 0, memory = 0;
    int tasks = 1;
};
struct SimHeld {
    int node = -1, need = -1;
    std::int64_t end = 0;  // ms from now; INT64_MAX: none in sight
};
struct SimWaiting {
    int need = -1;
    std::int64_t length = 0;  // ms; INT64_MAX: not known
};

class Simulation {
  public:
    // `depth`: of how many groups of equal needs the first keeps a place.
    Simulation(const std::vector<SimNode>& nodes, const std::vector<SimNeed>& needs, std::size_t depth)
        : first_(nodes), needs_(needs), depth_(depth) {}
    // When each of those that wait (in their order) starts, ms from now; -1: never.
    void run(const std::vector<SimHeld>& held, const std::vector<SimWaiting>& waiting,
             std::vector<std::int64_t>& starts);

  private:
    struct Running {
        std::int64_t end;
        int need;
    };
    struct Place {  // kept
        std::int64_t at = -1;
        std::vector<int> nodes;
    };
    struct Group {  // those that wait for the same
        int need = -1;
        std::vector<int> jobs;
        std::size_t next = 0;
        bool searched = false;  // no node fits but those where something ended since
        bool kept_off = false;  // some would, but for places that are kept
        Place place;
        int head() const { return jobs[next]; }
    };
    bool fits(const SimNode& node, const SimNeed& need) const;
    int count(const SimNode& node, const SimNeed& need) const;
    void take(int node, int need, std::int64_t end);
    void give(int node, int need);
    bool leaves_places(int node, const SimNeed& need, std::int64_t end) const;
    int find(const SimNeed& need, std::int64_t end, const std::vector<int>* among);
    bool start(Group& group, std::int64_t now, std::int64_t length, const std::vector<int>* among);
    void keep_place(Group& group, std::int64_t now);

    const std::vector<SimNode>& first_;
    const std::vector<SimNeed>& needs_;
    std::size_t depth_;
    std::vector<SimNode> nodes_;
    std::vector<std::vector<Running>> running_;  // by node
    struct Event {
        std::int64_t at;
        int node, need;
        bool operator>(const Event& o) const { return at != o.at ? at > o.at : node > o.node; }
    };
    std::vector<Event> events_;                       // a heap
    std::vector<std::pair<int, const Group*>> kept_;  // (node, whose), of those that come before
    std::vector<std::uint8_t> is_kept_;               // by node
    bool kept_off_ = false;                           // by the last search
};

}  // namespace crater::engine
