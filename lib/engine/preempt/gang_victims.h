// The search for the set of jobs that leaves room for so many equal tasks. It knows nodes as rooms: how many
// tasks a node holds once some of its jobs are gone, which it asks for and keeps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "crater/base/quantity.h"

namespace crater::engine {

class GangVictims {
  public:
    struct Victim {
        int job = -1, priority = 0;
        std::int64_t cost = 0;
        Instant started;
        std::vector<std::pair<int, int>> sites;  // which, and its bit there
    };
    // How many tasks a node holds without these jobs.
    using Measure = std::function<std::int64_t(int node, const std::vector<int>& jobs)>;

    explicit GangVictims(Measure measure) : measure_(std::move(measure)) {}
    // `room`: with nobody gone. `area`: -1 none.
    void add_site(int node, int area, std::int64_t room);
    int sites() const { return static_cast<int>(sites_.size()); }
    // Where it stands, by position of site; in the order of ids, which breaks ties.
    void add_victim(const Victim& victim, const std::vector<int>& sites);
    // The best set for so many tasks, all in one area if so wanted; nothing when all together are not enough.
    std::optional<std::vector<int>> search(std::int64_t wanted, bool by_area, int only_area);

  private:
    static constexpr int any_area = -1;
    struct Site {
        int node = -1, area = -1;
        std::vector<int> local;  // victims there
        std::uint64_t mask = 0;  // of them, who is gone
        std::int64_t room_full = 0;
        std::unordered_map<std::uint64_t, std::int64_t> rooms;
    };
    struct Figures {
        int priority = 0;
        std::int64_t cost = 0, count = 0;
        Instant started;
    };
    struct Offer {
        std::int64_t gain = 0, cost = 0, count = 0;
        std::uint64_t mask = 0;
    };

    std::int64_t room_of(int site, std::uint64_t mask);
    void turn(int victim);  // goes, or comes back
    bool enough() const;
    void clear();
    static bool better(const Figures& a, const Figures& b);
    Figures figures(const std::vector<int>& set) const;
    bool dearer(int a, int b) const;
    void offer_trimmed(std::vector<int> set);
    void search_here();
    void follow(const std::vector<int>& pool, std::size_t from, std::vector<int>& chosen, Figures so_far);
    std::vector<Offer> offers_of(int site, const std::vector<bool>& in_pool);
    std::optional<std::vector<int>> cheapest_mix(const std::vector<bool>& in_pool);
    void offer_mixes(const std::vector<int>& pool);

    Measure measure_;
    std::vector<Site> sites_;
    std::vector<Victim> victims_;
    std::vector<bool> gone_;
    std::vector<std::int64_t> sums_;  // by area
    std::int64_t total_ = 0, wanted_ = 0;
    int area_ = any_area, top_ = 0, steps_ = 0;
    std::optional<std::vector<int>> best_;
    Figures best_figures_;
};

}  // namespace crater::engine
