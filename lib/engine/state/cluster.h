// All nodes, what is used of them, and what changed since when. Tentative moves are booked here and taken
// back by `undo_to`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "crater/engine/engine.h"
#include "crater/model/allocation.h"
#include "state/crowds.h"
#include "state/fetch.h"
#include "state/ledger.h"
#include "state/node.h"

namespace crater::engine {

class Cluster {
  public:
    explicit Cluster(Settings settings) : settings_(std::move(settings)) { find_overcommit(); }

    const Settings& settings() const { return settings_; }
    void set_settings(Settings settings);  // every node counts as changed

    // Position of a node, -1 when it never was.
    int find(const std::string& name) const;
    int size() const { return static_cast<int>(nodes_.size()); }
    const Node& node(int n) const { return nodes_[static_cast<std::size_t>(n)]; }
    const CardType& type(int t) const { return types_[static_cast<std::size_t>(t)]; }
    int type_count() const { return static_cast<int>(types_.size()); }
    // Positions by name: the order of every scan and the last tie-break. `layout` counts changes of this
    // order.
    const std::vector<int>& by_name() const { return by_name_; }
    int rank(int n) const { return rank_[static_cast<std::size_t>(n)]; }
    std::uint64_t layout() const { return layout_; }

    // Nothing may be booked on the node while its hardware is exchanged.
    int set_node(std::shared_ptr<const NodeInventory> inventory);
    // The same node with other data in its cache: what was measured of it stands.
    void set_cache(int n, std::shared_ptr<const NodeInventory> inventory);
    void remove_node(int n);
    void set_flags(int n, bool draining, bool lost);
    void set_taints(int n, std::vector<Taint> taints);
    void set_windows(int n, std::vector<Maintenance> windows, Instant now);
    // Time goes on: nodes with maintenance ahead are open for less long, those it is over for are open again,
    // which are given.
    std::vector<int> advance(Instant now);
    // When the next maintenance ends; never when none is known.
    std::optional<Instant> next_opening(Instant now) const;
    bool maintained() const { return !maintained_.empty(); }

    Crowds& crowds() { return crowds_; }
    const Crowds& crowds() const { return crowds_; }
    // True when less is used than before, so that something may fit now.
    bool set_sample(int n, const NodeSample& sample);

    bool sampled() const { return sampled_; }  // some node was, ever

    // Cards in order that are not busier than the threshold allows, nor in real use above the watermark.
    Mask open_cards(int n) const;
    Mask calm_cards(int n) const;  // the first alone
    // A card lost its last task: what was measured of it before is not true of it any more.
    void emptied(const Slices& slices);

    // What slices of a card of so much memory may add up to, by the highest ratio of all queues. Shapes of a
    // queue with a lower one leave the difference alone (CardNeed::beyond).
    std::int64_t card_limit(std::int64_t memory) const {
        return overcommit_ == 1000 ? memory : memory * overcommit_ / 1000;
    }
    bool overcommits() const { return overcommit_ > 1000; }
    // The highest ratio that a queue has of its own, in thousandths. True when limits are other ones now.
    bool set_queue_overcommit(std::int64_t ratio);

    const Ledger& used() const { return used_; }
    const Ledger& nothing() const { return nothing_; }  // the books of the empty cluster
    // For counting what an empty cluster holds; whoever books there takes it back at once.
    void book_empty(const Slices& slices, int sign) { nothing_.book(node(slices.node), slices, sign); }
    std::uint64_t version(int n) const { return versions_[static_cast<std::size_t>(n)]; }
    // Counts changes of the node that are not bookings: of its hardware, its flags, its load.
    std::uint32_t condition(int n) const { return conditions_[static_cast<std::size_t>(n)]; }

    // Its rows in the books will be written soon.
    void fetch_rows(int n) const {
        const Node& host = node(n);
        fetch(&versions_[static_cast<std::size_t>(n)]);
        fetch(&used_.nodes[static_cast<std::size_t>(n)]);
        fetch(used_.cards.data() + host.cards_at, host.cards.size() * sizeof(CardUse));
        fetch(used_.domains.data() + host.domains_at, sizeof(DomainUse) + 1);
        fetch(used_.cores.data() + host.cores_at);
        fetch(host.cards.data());
    }
    void book(const Slices& slices, int sign);
    void touch(int n);  // something else about it changed
    // Tentative bookings: the slices must outlive the trial.
    std::size_t mark() const { return trail_.size(); }
    void try_book(const Slices& slices, int sign);
    void undo_to(std::size_t mark);
    void keep(std::size_t mark) { trail_.resize(mark); }

    // Nodes whose version changed, in order; positions in it never shift, older ones may be gone.
    std::uint64_t changes_begin() const { return changes_base_; }
    std::uint64_t changes_end() const { return changes_base_ + changes_.size(); }
    int change(std::uint64_t at) const { return changes_[static_cast<std::size_t>(at - changes_base_)].node; }
    // Cards of that node that are not as they were; all of them when more than a booking changed.
    Mask changed_cards(std::uint64_t at) const {
        return changes_[static_cast<std::size_t>(at - changes_base_)].cards;
    }

    Allocation to_allocation(const Slices& slices) const;
    // Parts that the node does not have (any more) are added to it as gone, so that the books stay whole.
    Slices from_allocation(const Allocation& allocation);

  private:
    Node& at(int n) { return nodes_[static_cast<std::size_t>(n)]; }
    void build(Node& node);
    void build_cards(Node& node);
    void make_columns(Node& node);
    void set_reserve(Node& node);
    static void find_data(Node& node);
    int intern(const CardType& type);
    int card_position(Node& node, const GpuSlice& slice);
    CardSlice card_slice(Node& node, const GpuSlice& slice);
    int disk_position(Node& node, const std::string& name);
    void put_in_order(int n);
    void moved(int n, Mask cards);
    void find_overcommit();
    void find_watermark(const Node& node, Live& live) const;

    struct Step {
        const Slices* slices;
        int sign;
        std::uint64_t version;
    };

    Settings settings_;
    bool sampled_ = false;
    std::int64_t overcommit_ = 1000, queue_overcommit_ = 0;  // thousandths
    Boards boards_;
    std::vector<Node> nodes_;
    std::unordered_map<std::string, int> positions_;
    std::vector<CardType> types_;
    std::vector<int> by_name_, rank_;
    std::uint64_t layout_ = 0;
    Ledger used_, nothing_;
    std::vector<std::uint64_t> versions_;
    std::vector<std::uint32_t> conditions_;
    std::uint64_t version_ = 0;
    std::vector<Step> trail_;
    struct Change {
        int node;
        Mask cards;
    };
    std::vector<Change> changes_;
    std::uint64_t changes_base_ = 0;
    Crowds crowds_;
    std::vector<int> maintained_;  // nodes with windows
};

// A ratio in thousandths, never below one.
std::int64_t overcommit_of(double ratio);

}  // namespace crater::engine
