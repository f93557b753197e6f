#include "peers.h"

#include <algorithm>

namespace crater::replay {
namespace {

// Tiresias: the card-time after which a job falls from its first queue into the second (its artefact's 18,000
// s).
constexpr std::int64_t first_queue_card_ms = 18'000'000;

}  // namespace

TimedPeer::TimedPeer(const Workload& workload, const PeerRules& rules, Millis resume_cost)
    : workload_(workload),
      rules_(rules),
      resume_cost_(resume_cost),
      pool_(workload.fleet),
      jobs_(workload.jobs.size()) {}

void TimedPeer::enqueue(int j) {
    Job& one = job(j);
    one.turn = {0, 0, j};
    switch (rules_.order) {
        case PeerOrder::arrival: break;
        case PeerOrder::shortest: one.turn.key = one.told.count(); break;
        case PeerOrder::remaining: one.turn.key = one.left.count(); break;
        case PeerOrder::two_queues: one.turn.queue = one.served >= first_queue_card_ms; break;
    }
    waiting_[size_of(spec(j))].insert(one.turn);
}

void TimedPeer::arrived(int j, Millis told, Millis now) {
    job(j).told = job(j).left = told;
    enqueue(j);
    if (rules_.patience > Millis(0)) patient_.insert({now, j});
}
void TimedPeer::age(Millis now) {
    while (!patient_.empty() && patient_.begin()->first + rules_.patience <= now) {
        const auto [since, j] = *patient_.begin();
        patient_.erase(patient_.begin());
        auto& turns = waiting_[size_of(spec(j))];
        if (turns.erase(job(j).turn) == 0) continue;  // it has started
        job(j).turn = {-1, since.count(), j};
        turns.insert(job(j).turn);
    }
}
void TimedPeer::free_cards(int j) {
    pool_.give_back(job(j).cards);
    job(j).cards.clear();
    running_.erase({job(j).ends, j});
}
void TimedPeer::ended(int j, Millis) { free_cards(j); }
void TimedPeer::stopped(int j, Millis kept, Millis now) {
    Job& one = job(j);
    one.served += (now - one.began).count() * spec(j).all_cards();
    one.left = std::max(Millis(1), one.told - kept);
    ++one.stops;
    free_cards(j);
    enqueue(j);
}

void TimedPeer::start(int j, std::vector<int> cards, Millis now, TimedPlan& plan) {
    Job& one = job(j);
    waiting_[size_of(spec(j))].erase(one.turn);
    pool_.take(cards);
    one.cards = cards;
    one.began = now;
    one.ends = now + (one.stops > 0 ? resume_cost_ : Millis(0)) + one.left;
    running_.insert({one.ends, j});
    plan.starts.push_back({j, std::move(cards)});
}

bool TimedPeer::try_start(int j, Millis now, TimedPlan& plan) {
    auto cards = pool_.find(spec(j), rules_.fit);
    if (cards.empty()) return false;
    start(j, std::move(cards), now, plan);
    return true;
}

TimedPlan TimedPeer::pass(Millis now) {
    TimedPlan plan;
    age(now);
    std::set<Size> blocked;
    while (true) {
        const Turn* first = nullptr;
        for (const auto& [size, turns] : waiting_)
            if (!turns.empty() && !blocked.contains(size) && (!first || *turns.begin() < *first))
                first = &*turns.begin();
        if (!first) return plan;
        const int j = first->job;
        if (try_start(j, now, plan)) continue;
        if (rules_.preempts && make_way(j, now, plan)) return plan;
        if (rules_.passing == Passing::nobody) return plan;
        if (rules_.passing == Passing::easy) {
            pass_the_head(j, now, plan);
            return plan;
        }
        if (pool_.free() == 0 && !rules_.preempts) return plan;
        blocked.insert(size_of(spec(j)));
    }
}

std::int64_t TimedPeer::left_at(const Job& one, Millis now) const { return (one.ends - now).count(); }

bool TimedPeer::yields(int running, const Job& to, Millis now) {
    const Job& one = job(running);
    if (rules_.order == PeerOrder::two_queues) return turn_now(running, now) > to.turn;
    return left_at(one, now) > to.left.count();
}

// Where a running job would stand if it waited.
TimedPeer::Turn TimedPeer::turn_now(int running, Millis now) {
    const Job& one = job(running);
    const auto served = one.served + (now - one.began).count() * spec(running).all_cards();
    return {served >= first_queue_card_ms, 0, running};
}

// Stops those that come last in the order, no more than are needed; none is stopped in vain.
bool TimedPeer::make_way(int j, Millis now, TimedPlan& plan) {
    CRATER_CHECK(pool_.nodes() == 1, "the schedulers that preempt are measured on a pool without boundaries");
    std::vector<int> victims;
    int free = pool_.free();
    const int wanted = spec(j).all_cards();
    std::vector<int> last_first;
    for (auto it = running_.rbegin(); it != running_.rend(); ++it) {
        if (!yields(it->second, job(j), now)) {
            if (rules_.order == PeerOrder::remaining) break;  // nor do those that end sooner
            continue;
        }
        last_first.push_back(it->second);
        if (rules_.order == PeerOrder::remaining && (free += spec(it->second).all_cards()) >= wanted) break;
    }
    free = pool_.free();
    if (rules_.order == PeerOrder::two_queues)
        std::sort(last_first.begin(), last_first.end(),
                  [&](int a, int b) { return turn_now(b, now) < turn_now(a, now); });
    for (const int v : last_first) {
        if (free >= wanted) break;
        victims.push_back(v);
        free += spec(v).all_cards();
    }
    if (free < wanted) return false;
    std::stable_sort(victims.begin(), victims.end(),
                     [&](int a, int b) { return spec(a).all_cards() < spec(b).all_cards(); });
    std::erase_if(victims, [&](int v) {
        if (free - spec(v).all_cards() < wanted) return false;
        free -= spec(v).all_cards();
        return true;
    });
    plan.stops = std::move(victims);
    return true;
}

// EASY: the head is promised the earliest moment at which enough will have ended; others may start now if
// they end before, or leave it room enough then.
void TimedPeer::pass_the_head(int head, Millis now, TimedPlan& plan) {
    if (pool_.free() == 0) return;
    const TimedJob& promised = spec(head);
    std::vector<int> then;  // free on each node at that moment
    for (int n = 0; n < pool_.nodes(); ++n) then.push_back(pool_.free_on(n));
    Millis moment = now;
    for (const auto& [ends, j] : running_) {
        if (ends > moment && would_fit(promised, then)) break;
        for (const int c : job(j).cards) ++then[static_cast<std::size_t>(pool_.node_of(c))];
        moment = std::max(now, ends);
    }
    struct Row {
        std::set<Turn>::const_iterator next, end;
        bool may_last = true;
    };
    std::vector<Row> rows;
    for (const auto& [size, turns] : waiting_)
        if (size.first * size.second <= pool_.free()) rows.push_back({turns.begin(), turns.end()});
    while (pool_.free() > 0) {
        Row* row = nullptr;
        for (auto& r : rows)
            if (r.next != r.end && (!row || *r.next < *row->next)) row = &r;
        if (!row) return;
        const int j = (row->next++)->job;  // before it leaves the set
        if (j == head) continue;
        const Job& one = job(j);
        const bool in_time = now + (one.stops > 0 ? resume_cost_ : Millis(0)) + one.left <= moment;
        if (!in_time && !row->may_last) continue;
        auto cards = pool_.find(spec(j), rules_.fit);
        if (cards.empty()) {
            row->next = row->end;  // nor do the others of its size fit
            continue;
        }
        if (!in_time) {
            for (const int c : cards) --then[static_cast<std::size_t>(pool_.node_of(c))];
            if (!would_fit(promised, then)) {
                for (const int c : cards) ++then[static_cast<std::size_t>(pool_.node_of(c))];
                row->may_last = false;
                continue;
            }
        }
        start(j, std::move(cards), now, plan);
    }
}

}  // namespace crater::replay
