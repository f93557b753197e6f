// The index path alone: the best node, its cards and cores, booked in the books and taken off again, by the
// parts of the engine that do it in every pass. No order, no quota, no words about the decision.
#pragma once

#include <algorithm>
#include <vector>

#include "place/seats.h"
#include "support/cluster.h"

namespace crater::bench {

class IndexPath {
  public:
    IndexPath(int nodes, Policy policy, const std::vector<Request>& mix) : cluster_(Cluster::settings()) {
        pricing_.use(policy);
        for (int n = 0; n < nodes; ++n)
            cluster_.set_node(std::make_shared<const NodeInventory>(node_number(n)));
        milli_total_ = nodes * 8000LL;
        double sum = 0;
        for (const auto& request : mix) {
            const JobSpec spec = spec_of(request);
            kinds_.push_back({shapes_.take(engine::make_shape(spec, policy, cluster_, {})),
                              request.cards * request.milli});
            cumulative_.push_back(sum += request.weight);
        }
    }

    void fill(double to) {
        while (load() < to) place(draw());
    }
    // Places per second of CPU time at about this load, each with a release. Who leaves next is known one
    // ahead, as in a batch of reports.
    double churn(double seconds, double at_load) {
        std::int64_t placed = 0;
        looked_ = 0;
        std::vector<std::size_t> next(1000);
        double spent = 0;
        while (spent < seconds) {
            std::generate(next.begin(), next.end(), [&] { return draw(); });
            const double began = Cluster::cpu_seconds();
            for (const auto kind : next) {
                while (load() > at_load && !running_.empty()) {
                    release(std::min(leaves_next_, running_.size() - 1));
                    leaves_next_ = running_.empty() ? 0 : rng_.below(running_.size());
                    engine::fetch(running_.data() + leaves_next_, sizeof(Task));
                }
                placed += place(kind);
            }
            spent += Cluster::cpu_seconds() - began;
        }
        looked_per_placement = static_cast<double>(looked_) / static_cast<double>(placed);
        return static_cast<double>(placed) / spent;
    }
    double looked_per_placement = 0;

  private:
    struct Kind {
        int shape;
        std::int64_t milli;
    };
    struct Task {
        std::size_t kind;
        engine::Slices slices;
    };

    double load() const { return static_cast<double>(milli_held_) / static_cast<double>(milli_total_); }
    std::size_t draw() {
        const double at = static_cast<double>(rng_.below(1 << 30)) / (1 << 30) * cumulative_.back();
        return std::min(kinds_.size() - 1, static_cast<std::size_t>(
                                               std::upper_bound(cumulative_.begin(), cumulative_.end(), at) -
                                               cumulative_.begin()));
    }
    bool place(std::size_t kind) {
        const auto [shape, milli] = kinds_[kind];
        pricing_.arrived(shape, shapes_.at(shape), 1);
        if (pricing_.reprice() != engine::Pricing::News::none) seats_.levels_changed();
        const engine::Spot spot = seats_.best(shape, looked_);
        if (!spot) return false;
        Task& task = running_.emplace_back();
        task.kind = kind;
        if (!seats_.take(shape, spot, task.slices)) {
            engine::Look look(shapes_.at(shape), cluster_, spot.node);
            if (spot.card >= 0) look.take(spot.card);
            task.slices = look.slices();
        }
        cluster_.book(task.slices, 1);
        milli_held_ += milli;
        return true;
    }
    void release(std::size_t at) {
        Task& task = running_[at];
        const auto [shape, milli] = kinds_[task.kind];
        cluster_.fetch_rows(task.slices.node);
        cluster_.book(task.slices, -1);
        pricing_.departed(shape, shapes_.at(shape), 1);
        milli_held_ -= milli;
        std::swap(task, running_.back());
        running_.pop_back();
    }

    engine::Cluster cluster_;
    engine::Shapes shapes_;
    engine::Pricing pricing_{cluster_};
    engine::Judge judge_{cluster_, shapes_, pricing_};
    engine::Seats seats_{judge_};
    std::vector<Kind> kinds_;
    std::vector<double> cumulative_;
    std::vector<Task> running_;
    SeededRng rng_{42};
    std::size_t leaves_next_ = 0;
    std::int64_t milli_held_ = 0, milli_total_ = 0;
    int looked_ = 0;  // nodes whose level was found
};

}  // namespace crater::bench
