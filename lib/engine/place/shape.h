// What a task asks for, prepared once: equal requests share one shape, and with it what is known about each
// node.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "crater/engine/engine.h"
#include "state/cluster.h"

namespace crater::engine {

// What a shape takes of a card of one type, or why it can never have one.
struct CardNeed {
    enum Fails : std::uint8_t { nothing, model, capability, precision, size, inference_part };
    bool known = false;
    Fails fails = nothing;
    bool whole = false, capped = false;
    std::uint8_t step = 0;       // that a card must have left for it at least (place/level.h)
    std::int8_t partition = -1;  // of a card that is cut into instances: the row of its table
    std::int64_t memory = 0, compute = 0;
    std::int64_t limit = 0;   // what slices of the card may add up to, for this shape
    std::int64_t beyond = 0;  // and how much more others may take: not for this shape
    std::int64_t room() const { return memory + beyond; }  // what must be left of the card's limit
    CardSlice slice(std::size_t card) const {
        return {.card = static_cast<std::int16_t>(card),
                .exclusive = whole,
                .capped = capped,
                .compute = static_cast<std::int16_t>(compute),
                .partition = partition,
                .memory = memory};
    }
};

// What a queue says of weights itself, and what that and the terms that concern the shape make of its
// policy's.
struct OwnWeights {
    PlacementWeights given;
    std::vector<double> terms;
};

struct Shape {
    std::string key;

    int cards = 0;             // per task; 0 = no GPU
    std::int64_t part = 1000;  // of each card's compute, for a request below one card
    std::int64_t gpu_memory = 0;
    std::int64_t compute_cap = 0;  // 0 = a weight
    bool gpu_exclusive = false, inference = false;
    std::string gpu_model, precision;
    int capability = 0;
    Interconnect interconnect = Interconnect::any;

    std::int64_t cpu = 0;
    std::vector<std::string> cpu_features;
    std::int64_t memory = 0, bandwidth = 0;
    bool wants_disk = false;
    std::int64_t disk_size = 0, disk_iops = 0, disk_bandwidth = 0, disk_latency_max = 0, disk_random_min = 0;
    double disk_stability = 0;

    NodeConstraint node;
    std::vector<Toleration> tolerations;
    std::shared_ptr<const WantedData> data;  // null: it names none
    bool low_utilization = false;
    // minutes it may run (minutes_up); 0: not said, or no node has maintenance ahead
    std::int64_t length = 0;
    int crowd = -1;            // when anybody could be in its way
    bool crowd_apart = false;  // two jobs of this crowd share no node
    bool spread_tasks = false;
    Topology topology;
    bool image = false;
    NumaPolicy numa = NumaPolicy::best_effort;
    Policy policy = Policy::best_fit;
    std::int64_t overcommit = 0;                    // its queue's own ratio in thousandths; 0: as all
    std::shared_ptr<const OwnWeights> own_weights;  // null: the usual ones of its policy
    // Of a weighted policy, in the order of score::table(): its preset, or within own_weights.
    std::span<const double> weights;

    std::uint64_t asked = 0;  // filters that concern it, by position in their table

    // Whether what a node is to it depends on which of its own tasks are there.
    bool own_tasks_matter() const { return node.exclusive || spread_tasks || crowd_apart; }
    bool near() const { return topology.level != TopologyLevel::none; }

    const CardNeed& need(const Cluster& cluster, int card_type) const {
        const auto at = static_cast<std::size_t>(card_type);
        return at < needs_.size() && needs_[at].known ? needs_[at] : find_need(cluster, card_type);
    }
    void forget_needs() { needs_.clear(); }

  private:
    const CardNeed& find_need(const Cluster& cluster, int card_type) const;
    mutable std::vector<CardNeed> needs_;  // by card type
};

// What a shape takes over from the jobs and nodes around it.
struct Around {
    int crowd = -1;
    bool maintenance = false;                   // some node has it ahead
    std::int64_t overcommit = 0;                // of the queue, in thousandths; 0: as all
    const PlacementWeights* weights = nullptr;  // of the queue
};
Shape make_shape(const JobSpec& spec, Policy policy, const Cluster& cluster, const Around& around);
// Least part of a card's memory that is given out.
std::int64_t memory_granule(const Settings& settings, const CardType& card);

}  // namespace crater::engine
