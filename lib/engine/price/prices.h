// A placement policy that learns what demand looks like and what each request therefore costs the cluster,
// and puts every task where it destroys the least future value.
//
// Value of a node: the most its free cards can earn at the prices of the fluid problem (fluid.h), while one
// companion resource is priced at the node's own rate (tables.h). Cores are always such a companion. Memory,
// disk, operations and bandwidth are one only while demand for them is about as large, measured by what the
// cluster has, as demand for cards or cores: a node is then worth the least of what each scarce companion
// lets it earn. That is the bottleneck of the node, found by the same bound; a companion that is not scarce
// costs neither quality nor time.
//
// Regret of a kind on a node: value before - value after - price of the kind, never below nothing but for
// rounding. Added to it: what the card type is sought after by others (reserve.h). The least decides, in
// steps of 10 milli, then the tightest card.
//
// While nothing ever leaves, prices are found for what is free now. The more leaves again for each arrival,
// the more also the whole, empty cluster counts, since a card given away comes back; and idle cards are then
// kept together.
//
// Everything depends on what was told, in this order, and on nothing else: the same calls give the same
// levels, and so does a copy made from `learned()`. Owned by one thread. Until enough has arrived for a first
// price, and for good under Rule::fragmentation, levels are those of fragmentation.h with the mix seen so
// far.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "price/fluid.h"
#include "price/fragmentation.h"
#include "price/goods.h"
#include "price/regret.h"
#include "price/tables.h"

namespace crater::engine::price {

// All that is learned. Plain, so that it can be stored; positions of card types must mean the same when it is
// restored.
struct Learned {
    std::vector<Demand> kinds;   // by id
    std::vector<double> weight;  // what arrived of each, the past fading
    std::vector<int>
        order;  // those that arrived, by their first time: a kind only asked about changes nothing
    std::vector<double> price;    // of each, milli of a card
    std::vector<Good> goods;      // as of the last repricing
    std::vector<Target> targets;  // as of the last change
    std::vector<int> scarce;      // companions
    std::array<double, companions> scale{};
    Reserve reserve{};        // by card type
    std::uint64_t types = 0;  // of cards that the cluster has
    int idle_max = 1;
    std::int64_t cards = 0;  // of the whole cluster
    std::int64_t arrivals = 0, priced_at = 0, targets_at = 0;
    double arrived = 0, departed = 0;  // of late
    double turnover = 0;               // departures for an arrival
    std::uint64_t version = 0;
    bool operator==(const Learned&) const = default;
};

enum class Rule { price, fragmentation };

class Prices {
  public:
    explicit Prices(Rule rule = Rule::price) : rule_(rule) {}
    Prices(Rule rule, Learned learned);
    Prices(const Prices&) = delete;
    Prices& operator=(const Prices&) = delete;

    // Stable for as long as it lives.
    int intern(const Demand& kind);
    const Demand& kind(int id) const { return learned_.kinds[static_cast<std::size_t>(id)]; }

    void arrived(int kind, int count = 1);
    void departed(int kind, int count = 1);

    // After 25, 50, 100 and 200 arrivals, then every 150, or one for each 41.3 cards when that is more; 16
    // times as rarely once as much leaves as comes. `reprice` takes what is free now and the whole cluster as
    // it is when empty.
    bool due() const;
    void reprice(std::span<const Nodes> now, std::span<const Nodes> empty);
    // Kinds that have not come for long are dropped once there are very many; true when numbers given before
    // no longer hold.
    bool forget_rare();
    // Changes when levels given before no longer hold.
    std::uint64_t version() const { return learned_.version; }
    const Learned& learned() const { return learned_; }

    // The caller has checked that the kind fits; `allowed`: cards that may be taken. -1 when part of a card
    // fits on none of them.
    Rating choose(const Free& free, int kind, std::uint64_t allowed = ~std::uint64_t{0});
    // The same in two parts once there are prices: what is known of the node holds for all kinds, as long as
    // it and the version stay. `sums`: room for a row of each table.
    std::size_t tables() const { return tables_.size(); }
    Worth appraise(const Free& free, Row* sums) const;
    Glance glance(const Free& free, const Worth& worth) const { return price::glance(book_, free, worth); }
    Rating choose(const Free& free, const Worth& worth, int kind, std::uint64_t allowed) const;
    // No lower than the level that `choose` gives.
    std::int32_t level_bound(const Glance& node, int kind) const;

    bool priced() const { return !learned_.goods.empty(); }
    double value(const Free& free) const;  // milli of a card

  private:
    bool is_steady() const;
    void look_at_arrivals();
    void measure(std::span<const Nodes> empty);
    void choose_scarce(std::span<const Nodes> empty);
    void make_goods();
    void set_reserve(std::span<const Nodes> now, std::span<const Nodes> empty);
    void take_prices();
    double stand_in_price(const Demand& kind) const;
    void ready();
    Good as_good(const Demand& kind) const;

    Rule rule_;
    Learned learned_;
    std::map<Demand, int> ids_;
    std::vector<int> good_of_;              // by kind, -1: too rare
    std::vector<std::int32_t> unit_price_;  // by kind
    Classes classes_;
    std::vector<Tables> tables_;
    Book book_;
    Fragmentation fragmentation_;
};

}  // namespace crater::engine::price
