// The search against all sets: random nodes, jobs on one or several of them, racks or none.
#include "preempt/gang_victims.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "crater/base/clock.h"

namespace crater::engine {
namespace {

struct Puzzle {
    SeededRng rng;
    std::int64_t need = 1, tasks = 1;
    bool by_area = false;
    std::vector<std::int64_t> free;
    std::vector<int> area;
    struct Job {
        GangVictims::Victim figures;
        std::map<int, std::int64_t> cards;
    };
    std::vector<Job> jobs;
    using Figures = std::tuple<int, std::int64_t, std::size_t, std::int64_t>;

    Puzzle(std::uint64_t seed, std::uint64_t most_jobs) : rng(seed) {
        need = 1 + static_cast<std::int64_t>(rng.below(4));
        tasks = 1 + static_cast<std::int64_t>(rng.below(5));
        by_area = rng.below(3) == 0;
        const auto nodes = 1 + rng.below(5);
        for (std::uint64_t n = 0; n < nodes; ++n)
            free.push_back(static_cast<std::int64_t>(rng.below(2))),
                area.push_back(static_cast<int>(rng.below(2)));
        for (auto j = 1 + rng.below(most_jobs); j > 0; --j) {
            Job job;
            job.figures = {static_cast<int>(jobs.size()),
                           static_cast<int>(100 * rng.below(3)),
                           static_cast<std::int64_t>(rng.below(50)),
                           {1000 + static_cast<std::int64_t>(rng.below(5))},
                           {}};
            for (auto parts = 1 + (rng.below(3) == 0 ? rng.below(3) : 0); parts > 0; --parts)
                job.cards[static_cast<int>(rng.below(nodes))] += 1 + static_cast<std::int64_t>(rng.below(3));
            jobs.push_back(job);
        }
    }
    std::int64_t room(int node, const std::vector<int>& gone) const {
        auto here = free[static_cast<std::size_t>(node)];
        for (const int j : gone)
            if (const auto& cards = jobs[static_cast<std::size_t>(j)].cards; cards.contains(node))
                here += cards.at(node);
        return here / need;
    }
    bool enough(const std::vector<int>& gone) const {
        std::map<int, std::int64_t> rooms;
        for (std::size_t n = 0; n < free.size(); ++n)
            rooms[by_area ? area[n] : 0] += room(static_cast<int>(n), gone);
        return std::any_of(rooms.begin(), rooms.end(), [&](const auto& one) { return one.second >= tasks; });
    }
    Figures figures(const std::vector<int>& gone) const {
        Figures out{0, 0, gone.size(), INT64_MIN};
        for (const int j : gone) {
            const auto& job = jobs[static_cast<std::size_t>(j)].figures;
            std::get<0>(out) = std::max(std::get<0>(out), job.priority);
            std::get<1>(out) += job.cost;
            std::get<3>(out) = std::max(std::get<3>(out), -job.started.ms);
        }
        return out;
    }
    std::optional<std::vector<int>> search() const {
        GangVictims search([&](int node, const std::vector<int>& gone) { return room(node, gone); });
        for (std::size_t n = 0; n < free.size(); ++n)
            search.add_site(static_cast<int>(n), by_area ? area[n] : -1, room(static_cast<int>(n), {}));
        for (const auto& job : jobs) {
            std::vector<int> sites;
            for (const auto& [node, cards] : job.cards) sites.push_back(node);
            search.add_victim(job.figures, sites);
        }
        return search.search(tasks, by_area, -1);
    }
};

TEST(GangVictims, are_the_best_of_all_sets) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
        const Puzzle puzzle(seed * 2654435761, 10);
        if (puzzle.enough({})) continue;
        std::optional<Puzzle::Figures> best;
        for (std::uint32_t bits = 1; bits < 1U << puzzle.jobs.size(); ++bits) {
            std::vector<int> gone;
            for (std::size_t j = 0; j < puzzle.jobs.size(); ++j)
                if (bits >> j & 1) gone.push_back(static_cast<int>(j));
            if (const auto f = puzzle.figures(gone); (!best || f < *best) && puzzle.enough(gone)) best = f;
        }
        const auto chosen = puzzle.search();
        ASSERT_EQ(chosen.has_value(), best.has_value()) << seed;
        if (!chosen) continue;
        ++found;
        ASSERT_TRUE(puzzle.enough(*chosen)) << seed;
        ASSERT_EQ(puzzle.figures(*chosen), *best) << seed;
    }
    EXPECT_GT(found, 300);
}

// Too many to try all: it is still enough, and nobody in it could stay.
TEST(GangVictims, of_many_are_enough_and_none_can_be_left_out) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const Puzzle puzzle(seed * 15485863, 60);
        if (puzzle.enough({})) continue;
        const auto chosen = puzzle.search();
        if (!chosen) continue;
        ++found;
        ASSERT_TRUE(puzzle.enough(*chosen)) << seed;
        for (const int j : *chosen) {
            auto rest = *chosen;
            std::erase(rest, j);
            ASSERT_FALSE(puzzle.enough(rest)) << seed;
        }
    }
    EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace crater::engine
