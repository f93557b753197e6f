// The policies that learn from what arrives (price/), fed with what the engine knows: shapes as kinds of
// demand, nodes as free capacity. One for `price`, one for `fragmentation`, each made when the first queue
// asks for it; both learn from all jobs, whatever their queue.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "crater/engine/explain.h"
#include "place/level.h"
#include "price/prices.h"

namespace crater::engine {

class Pricing {
  public:
    explicit Pricing(const Cluster& cluster) : cluster_(cluster) {}

    void use(Policy policy);  // from now on
    bool knows(Policy policy) const { return learner(policy).prices != nullptr; }
    bool in_use() const { return learners_[0].prices || learners_[1].prices; }

    // A job came, or one that held something ended. `shape`: its position, stable while jobs have it.
    void arrived(int position, const Shape& shape, std::int64_t tasks);
    void departed(int position, const Shape& shape, std::int64_t tasks);
    void leave(int position);  // the shape is no more
    void
    forget();  // the hardware or the settings are other ones: what a shape takes of a card may have changed

    // Finds new prices when enough has arrived since the last time, and tells whether levels are other ones
    // now.
    enum class News { none, levels, prices };
    News reprice();
    std::vector<ScoreTerm> terms(const Shape& shape, std::int32_t level) const;

    // How good the node is for the shape and which card to take. The caller has found that it fits;
    // `fitting`: cards a part fits on. Room and cards are those of the node's version.
    Level level(int position, const Shape& shape, int node, const Room& room, const CardRoom* cards,
                Mask fitting);
    Level level(int position, const Look& look);
    // No lower than the value of that level under `price`, and much cheaper: for nodes that are not the best.
    std::int32_t bound(int position, const Shape& shape, int node, const Room& room, const CardRoom* cards);
    void fetch_bound(int node) const {
        const auto& seen = learner(Policy::price).seen;
        if (static_cast<std::size_t>(node) < seen.size())
            __builtin_prefetch(&seen[static_cast<std::size_t>(node)]);
    }

    // All that was learned, and back. Errors: the text is not what `save` wrote; nothing changes then.
    std::string save() const;
    Result<void> load(std::string_view text);

  private:
    // A node as the prices see it.
    struct Known {
        std::uint64_t node_version = 0, prices_version = 0;  // for which it holds
        price::Free free;
        price::Worth worth;
    };
    // The same as far as a bound goes.
    struct alignas(64) Seen {
        std::uint64_t node_version = 0, prices_version = 0;
        price::Glance glance;
    };
    // The last answer about a kind: shapes of one kind are often asked about for the same node, one after the
    // other.
    struct Answer {
        int node = -1;
        std::uint64_t node_version = 0, prices_version = 0;
        Mask fitting = 0;
        price::Rating rating;
    };
    struct Learner {
        std::unique_ptr<price::Prices> prices;
        std::vector<int> kinds;  // by shape; -1: not asked yet
        std::uint64_t seen_version = 0;
        bool looks_at_all = false;       // also at disks and bandwidth
        std::vector<Known> known;        // by node
        std::vector<Seen> seen;          // by node
        std::vector<std::int16_t> left;  // what is left of each card, as the cards in the books
        std::vector<price::Row> sums;
        std::vector<Answer> answers;  // by kind
        void look();
    };
    static std::size_t index(Policy policy) { return policy == Policy::price ? 0 : 1; }
    Learner& learner(Policy policy) { return learners_[index(policy)]; }
    const Learner& learner(Policy policy) const { return learners_[index(policy)]; }
    int kind(Learner& learner, int position, const Shape& shape);
    price::Free free_of(int node, const Room& room, std::span<const std::int16_t> left, bool all) const;
    price::Rating rate(Learner& learner, const Known& known, int node, int kind, Mask fitting) const;
    const Known& know(Learner& learner, int node, const Room& room, const CardRoom* cards) const;
    void survey();
    void restore(Policy policy, price::Learned learned);

    const Cluster& cluster_;
    std::array<Learner, 2> learners_;
    // The cluster as the prices see it, while they are found.
    std::vector<std::int16_t> left_now_, left_empty_;
    std::vector<price::Nodes> now_, empty_;
};

}  // namespace crater::engine
