// A second statement of who goes next and who gives way for it, from the words of the contract alone:
// one-card jobs of equal priority on one node, each kept as a plain record. It shares no code with the
// engine.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "crater/base/clock.h"
#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

constexpr std::int64_t day = 86'400'000, minute = 60'000;

struct Record {
    std::string id, tenant;
    bool preemptible = false;
    std::int64_t submitted = 0, since = 0;  // since when it waits
    std::int64_t expected = 0;              // of its whole run; 0: nobody said
    std::int64_t received = 0, kept = 0;    // ms of its card, of its progress
    std::int64_t started = -1, saved = -1;  // while it runs
    std::int64_t stops = 0;                 // for others
    bool saves = false;                     // when it is told to stop
    bool ran = false;
    bool runs() const { return started >= 0; }
};

struct Turns {
    SeededRng rng;
    crater::Order order;
    Engine engine;
    std::map<std::string, Record> all;
    std::int64_t now = noon.ms, cards = 0, next = 0;
    int pushed = 0, olds = 0;

    Turns(std::uint64_t seed, crater::Order with) : rng(seed), order(with) {
        QueueSpec queue;
        queue.name = "training";
        queue.order = order;
        engine.apply(QueueSet{queue});
        cards = 1 + static_cast<std::int64_t>(rng.below(4));
        engine.apply(NodeSet{make_node("n1", static_cast<int>(cards), 1)});
    }
    bool pushes() const { return order == crater::Order::shortest || order == crater::Order::las; }

    std::int64_t key(const Record& r) const {
        const auto running = r.runs() ? now - r.started : 0;
        if (order == crater::Order::las) return r.received + running;
        if (order != crater::Order::shortest) return 0;
        const auto whole = r.expected > 0 ? r.expected : day, done = r.kept + running;
        return std::abs(whole - done);
    }
    bool old(const Record& r) const {
        if (order == crater::Order::fifo) return false;
        const auto waits = now - r.since;
        if (order == crater::Order::fair) return waits >= 5 * day;
        if (r.preemptible && pushes()) return !r.ran && waits >= 5 * day;
        std::int64_t run = r.received;
        if (order != crater::Order::las) run = std::max(run, r.expected > 0 ? r.expected : day);
        return waits >= std::max(5 * day, 4 * run);
    }
    std::vector<std::string> queue() const {
        std::vector<std::tuple<bool, std::int64_t, std::int64_t, std::string>> places;
        for (const auto& [id, r] : all)
            if (!r.runs()) places.emplace_back(!old(r), old(r) ? 0 : key(r), r.submitted, id);
        std::sort(places.begin(), places.end());
        std::vector<std::string> out;
        for (const auto& place : places) out.push_back(std::get<3>(place));
        return out;
    }
    bool may_be_pushed(const Record& victim, const Record& by) const {
        if (!pushes() || !victim.preemptible) return false;
        if (by.stops > 0 && now - by.since < 10 * minute) return false;  // was stopped itself a moment ago
        if (now - victim.started < 10 * minute + 10 * minute * victim.stops / 4) return false;
        const auto its = old(by) ? minute : std::max(key(by), minute);
        return key(victim) > (order == crater::Order::las ? 10 : 3) * its;
    }
    static std::int64_t lost(const Record& r, std::int64_t at) {
        return r.saves ? 0 : (at - std::max(r.started, r.saved)) / 1000;
    }

    void start(Record& r) {
        olds += old(r);
        r.ran = true;
        r.started = now;
        r.saved = -1;
    }
    void stop(Record& r, bool for_others) {
        engine.apply(TaskFreed{r.id, 0, {now}});
        r.stops += for_others;
        engine.apply(JobRequeued{r.id, r.stops});
        r.received += now - r.started;
        if (r.saved > r.started) r.kept += r.saved - r.started;
        r.started = -1;
        r.since = now;
    }
    void add() {
        Record r;
        r.id = "j" + std::to_string(next++);
        r.tenant = "t" + std::to_string(rng.below(3));
        r.preemptible = rng.below(3) != 0;
        r.saves = rng.below(3) == 0;
        r.submitted = r.since = now - static_cast<std::int64_t>(rng.below(1000));
        // What ended teaches how long others run; here all is said, so that nothing is learned that matters.
        r.expected = minute * (1 + static_cast<std::int64_t>(rng.below(rng.below(2) ? 60 : 6000)));
        EngineJob job = a_job(r.id).gpus(1000).tenant(r.tenant);
        job.submitted = {r.submitted};
        job.preemptible = r.preemptible;
        job.saves_on_stop = r.saves;
        if (r.expected > 0) job.run_time = RunTime{Millis{r.expected}, Millis{r.expected * 2}};
        all[r.id] = r;
        engine.apply(JobAdded{job});
    }
    Record* running() {
        std::vector<Record*> some;
        for (auto& [id, r] : all)
            if (r.runs()) some.push_back(&r);
        return some.empty() ? nullptr : some[rng.below(some.size())];
    }
    void happen() {
        now += minute + static_cast<std::int64_t>(rng.below(rng.below(8) ? 20 * minute : 3 * day));
        for (auto n = rng.below(4); n > 0; --n) add();
        if (auto* r = running(); r && rng.below(3) == 0) {
            engine.apply(Checkpointed{r->id, {now}});
            r->saved = now;
        }
        if (auto* r = running(); r && rng.below(4) == 0) {
            if (rng.below(2)) {
                stop(*r, false);
            } else {
                engine.apply(JobRemoved{r->id, {now}, true});
                all.erase(r->id);
            }
        }
    }
    // What the words of the contract say a pass does; then the engine's.
    void pass(const std::string& at) {
        std::vector<std::string> placed;
        std::map<std::string, std::string> victims;  // for whom
        std::set<std::pair<std::string, bool>> stuck;
        auto free =
            cards - std::count_if(all.begin(), all.end(), [](const auto& one) { return one.second.runs(); });
        for (const auto& id : queue()) {
            if (free > 0) {
                --free;
                placed.push_back(id);
                continue;
            }
            const Record* best = nullptr;
            for (const auto& [other, r] : all) {
                if (!r.runs() || victims.contains(other) || !may_be_pushed(r, all.at(id))) continue;
                if (!best ||
                    std::tuple(lost(r, now), -r.started) < std::tuple(lost(*best, now), -best->started))
                    best = &r;
            }
            // Those that were stopped before wait behind the first of their kind that can do nothing.
            const Record& its = all.at(id);
            const std::pair kind(its.tenant, its.preemptible);
            if (best && !(its.stops > 0 && stuck.contains(kind)))
                victims[best->id] = id;
            else if (its.stops > 0)
                stuck.insert(kind);
        }
        auto plan = engine.pass({now});
        std::vector<std::string> did;
        for (const auto& p : plan.placements) did.push_back(p.job);
        ASSERT_EQ(did, placed) << at;
        std::map<std::string, std::string> gave;
        for (const auto& p : plan.preemptions) gave[p.victim] = p.preemptor;
        ASSERT_EQ(gave.size(), victims.size()) << at;
        std::multiset<std::pair<std::int64_t, std::int64_t>> costs, wanted;
        for (const auto& [victim, by] : gave)
            costs.emplace(lost(all.at(victim), now), all.at(victim).started);
        for (const auto& [victim, by] : victims)
            wanted.emplace(lost(all.at(victim), now), all.at(victim).started);
        ASSERT_EQ(costs, wanted) << at;
        for (const auto& id : placed) start(all.at(id));
        pushed += static_cast<int>(gave.size());
        for (const auto& [victim, by] : gave) stop(all.at(victim), true);
        plan = engine.pass({now});
        // who was stopped does not come back to push others aside
        ASSERT_TRUE(plan.preemptions.empty()) << at;
        ASSERT_EQ(plan.placements.size(), gave.size()) << at;
        for (const auto& p : plan.placements) start(all.at(p.job));
        ASSERT_EQ(engine.waiting("training"), queue()) << at;
    }
};

TEST(SecondOpinion, agrees_on_who_goes_next_and_who_gives_way_for_it) {
    for (const auto order : {crater::Order::fifo, crater::Order::shortest, crater::Order::las}) {
        int pushed = 0, olds = 0;
        for (std::uint64_t seed = 1; seed <= 60; ++seed) {
            Turns turns(seed * 7919, order);
            for (int step = 0; step < 60; ++step) {
                turns.happen();
                turns.pass("order " + std::to_string(static_cast<int>(order)) + " seed " +
                           std::to_string(seed) + " step " + std::to_string(step));
                if (::testing::Test::HasFatalFailure()) return;
            }
            pushed += turns.pushed;
            olds += turns.olds;
        }
        EXPECT_EQ(pushed > 100, order != crater::Order::fifo);
        EXPECT_EQ(olds > 20, order != crater::Order::fifo);
    }
}

// Fair: by decayed use, added up here from the runs themselves with the formula.
TEST(SecondOpinion, agrees_on_whose_tenant_used_least) {
    int compared = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Turns turns(seed * 104729, crater::Order::fair);
        struct Run {
            std::string tenant;
            std::int64_t from, to;
        };
        std::vector<Run> runs;
        const double half = 7.0 * day;
        for (int step = 0; step < 60; ++step) {
            std::map<std::string, std::int64_t> before;
            for (const auto& [id, r] : turns.all)
                if (r.runs()) before[id] = r.started;
            const auto known = turns.all;
            turns.happen();
            for (const auto& [id, started] : before)
                if (!turns.all.contains(id) || !turns.all.at(id).runs())
                    runs.push_back({known.at(id).tenant, started, turns.now});
            const auto plan = turns.engine.pass({turns.now});
            for (const auto& p : plan.placements) turns.start(turns.all.at(p.job));
            turns.engine.pass({turns.now});
            std::map<std::string, double> used;
            const auto count = [&](const std::string& tenant, std::int64_t from, std::int64_t to) {
                used[tenant] += half / std::log(2.0) *
                                (std::exp2(-static_cast<double>(turns.now - to) / half) -
                                 std::exp2(-static_cast<double>(turns.now - from) / half));
            };
            for (const auto& run : runs) count(run.tenant, run.from, run.to);
            for (const auto& [id, r] : turns.all)
                if (r.runs()) count(r.tenant, r.started, turns.now), used[r.tenant] += 60.0 * minute;
            std::string last;
            for (const auto& id : turns.engine.waiting("training")) {
                const Record& r = turns.all.at(id);
                if (turns.old(r)) continue;
                if (!last.empty()) {
                    const auto& tenant = turns.all.at(last).tenant;
                    ASSERT_LE(used[tenant], used[r.tenant] * 1.03 + minute)
                        << "seed " << seed << " step " << step;
                    if (tenant == r.tenant) {
                        ASSERT_LE(turns.all.at(last).submitted, r.submitted);
                    }
                    compared += tenant != r.tenant;
                }
                last = id;
            }
        }
    }
    EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace crater::engine
