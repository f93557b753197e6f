// The policies that learn from what arrives (price/), fed with what the engine knows: shapes as kinds of demand, nodes as free capacity.
// One for `price`, one for `fragmentation`, each made when the first queue asks for it; both learn from all jobs, whatever their queue.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "crater/engine/explain.h"
#include "place/level.h"
#include "price/prices.h"

namespace crater::engine {

class Pricing {
  public:
    explicit Pricing(const Cluster& cluster) : cluster_(cluster) {}

    void use(Policy policy);  // from now on
    bool in_use() const { return rules_[0].prices || rules_[1].prices; }

    // A job came, or one that held something ended. `shape`: its position, stable while jobs have it.
    void arrived(int position, const Shape& shape, std::int64_t tasks);
    void departed(int position, const Shape& shape, std::int64_t tasks);
    void leave(int position);  // the shape is no more
    void forget();             // the hardware or the settings are other ones: what a shape takes of a card may have changed

    // Finds new prices when enough has arrived since the last time, and tells whether levels are other ones now.
    enum class News { none, levels, prices };
    News reprice();
    std::uint64_t version(Policy policy) const { return rule(policy).prices->version(); }

    // How good the node is for the shape and which card to take. The caller has found that it fits; `fitting`: cards a part fits on.
    Level level(int position, const Shape& shape, int node, const Room& room, const CardRoom* cards, Mask fitting);
    Level level(int position, const Look& look);

    // All that was learned, and back. Errors: the text is not what `save` wrote; nothing changes then.
    std::string save() const;
    Result<void> load(std::string_view text);

  private:
    struct Rule {
        std::unique_ptr<price::Prices> prices;
        std::unordered_map<int, int> kinds;  // by shape; never walked
        std::uint64_t seen_version = 0;
        bool looks_at_all = false;  // also at disks and bandwidth
        void look();
    };
    static std::size_t index(Policy policy) { return policy == Policy::price ? 0 : 1; }
    Rule& rule(Policy policy) { return rules_[index(policy)]; }
    const Rule& rule(Policy policy) const { return rules_[index(policy)]; }
    int kind(Rule& rule, int position, const Shape& shape);
    price::Free free_of(int node, const Room& room, std::span<const std::int16_t> left, bool all) const;
    void survey();
    void restore(Policy policy, price::Learned learned);

    const Cluster& cluster_;
    int types_ = 0;  // of cards, when the kinds were made
    std::array<Rule, 2> rules_;
    // The cluster as the prices see it, while they are found.
    std::vector<std::int16_t> left_now_, left_empty_;
    std::vector<price::Nodes> now_, empty_;
    std::array<std::int16_t, cards_per_node_max> left_{};
};

std::vector<ScoreTerm> price_terms(std::int32_t level);
std::vector<ScoreTerm> fragmentation_terms(std::int32_t level);

}  // namespace crater::engine
