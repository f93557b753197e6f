#include "pool.h"

#include <algorithm>
#include <numeric>

namespace crater::replay {

Pool::Pool(const Fleet& fleet)
    : fleet_(fleet),
      free_(static_cast<std::size_t>(fleet.nodes), fleet.cards),
      taken_(static_cast<std::size_t>(fleet.total())),
      total_(fleet.total()) {}

void Pool::append(int node, int wanted, std::vector<int>& out) const {
    for (int c = node * fleet_.cards; wanted > 0 && c < (node + 1) * fleet_.cards; ++c)
        if (!taken_[static_cast<std::size_t>(c)]) out.push_back(c), --wanted;
}

std::vector<int> Pool::find(const TimedJob& job, Fit fit) const {
    std::vector<int> out;
    if (job.all_cards() > total_) return out;
    if (job.tasks == 1) {
        int best = -1;
        for (int n = 0; n < nodes(); ++n) {
            if (free_on(n) < job.cards) continue;
            if (best < 0 || free_on(n) < free_on(best)) best = n;
            if (fit == Fit::first || free_on(best) == job.cards) break;
        }
        if (best >= 0) append(best, job.cards, out);
        return out;
    }
    if (!would_fit(job, free_)) return out;
    std::vector<int> order(free_.size());
    std::iota(order.begin(), order.end(), 0);
    if (fit == Fit::tightest)
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return free_on(a) < free_on(b); });
    int left = job.tasks;
    for (const int n : order) {
        const int here = std::min(left, free_on(n) / job.cards);
        append(n, here * job.cards, out);
        if ((left -= here) == 0) break;
    }
    return out;
}

void Pool::take(const std::vector<int>& cards) {
    for (const int c : cards) {
        CRATER_CHECK(!taken_[static_cast<std::size_t>(c)], "a card is given twice");
        taken_[static_cast<std::size_t>(c)] = 1;
        --free_[static_cast<std::size_t>(node_of(c))], --total_;
    }
}
void Pool::give_back(const std::vector<int>& cards) {
    for (const int c : cards) {
        taken_[static_cast<std::size_t>(c)] = 0;
        ++free_[static_cast<std::size_t>(node_of(c))], ++total_;
    }
}

bool would_fit(const TimedJob& job, const std::vector<int>& free) {
    int tasks = 0;
    for (const int f : free)
        if ((tasks += f / job.cards) >= job.tasks) return true;
    return false;
}

}  // namespace crater::replay
