// Queues, tenants, quotas, roles. SPEC 3.6, 3.7, 10.4.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "crater/base/describe.h"
#include "crater/base/error.h"
#include "crater/model/job.h"

namespace crater {

enum class Policy { best_fit, binpack, spread, affinity, priority, fragmentation, price };
inline std::span<const EnumName<Policy>> enum_names(Policy) {
    static constexpr EnumName<Policy> names[] = {
        {Policy::best_fit, "best_fit"},   {Policy::binpack, "binpack"},
        {Policy::spread, "spread"},       {Policy::spread, "load_balance"},
        {Policy::affinity, "affinity"},   {Policy::priority, "priority"},
        {Policy::priority, "preemptive"}, {Policy::fragmentation, "fragmentation"},
        {Policy::price, "price"}};
    return names;
}

// A policy adds weighted terms up, or orders by one thing after the other, or has learned what a node is
// worth.
enum class Ranking { weighted, ordered, learned };
constexpr Ranking ranking_of(Policy policy) {
    switch (policy) {
        case Policy::best_fit:
        case Policy::priority: return Ranking::ordered;
        case Policy::fragmentation:
        case Policy::price: return Ranking::learned;
        case Policy::binpack:
        case Policy::spread:
        case Policy::affinity: break;
    }
    return Ranking::weighted;
}

// Who goes first within a queue, after priority. SPEC 3.6.
enum class Order { fair, fifo, shortest, las };
inline std::span<const EnumName<Order>> enum_names(Order) {
    static constexpr EnumName<Order> names[] = {
        {Order::fair, "fair"}, {Order::fifo, "fifo"}, {Order::shortest, "shortest"}, {Order::las, "las"}};
    return names;
}

// A placement plugin that a queue uses: "spread_tenant", or "spread_tenant=0.5". A weight of 1 counts as much
// as the queue's whole policy.
struct PluginUse {
    std::string name;
    double weight = 1;
    bool operator==(const PluginUse&) const = default;
};
template <class V>
void describe(V& v, PluginUse& p) {
    v.field("name", p.name, "Plugin.");
    v.field("weight", p.weight, "Against 1 for the queue's policy.");
}
Result<void> from_text(std::string_view text, PluginUse& out);
std::string to_text(const PluginUse& use);

// Weights of a queue's own, over those that its policy is a preset of (terms) and those of the settings
// (parts of the terms load and capacity). SPEC 3.2. Only policies that add weighted terms up have such.
struct PlacementWeights {
    std::optional<double> capacity, dataset_locality, disk, fit, fragmentation, gpu_thrift, health,
        interconnect, load, low_utilization, model_cache, numa;
    std::optional<double> w_gpu, w_cpu, w_mem, w_disk;
    std::optional<double> gpu_memory, cpu_cores, memory_bandwidth, ssd_iops;
    bool operator==(const PlacementWeights&) const = default;
};
inline constexpr double placement_weight_max = 100;
template <class V>
void describe(V& v, PlacementWeights& w) {
    const FieldOptions range{.minimum = 0, .maximum = placement_weight_max};
    v.field("capacity", w.capacity, "Of how much the node could still hold.", range);
    v.field("dataset_locality", w.dataset_locality,
            "Of the part of its datasets that the node has in its cache.", range);
    v.field("disk", w.disk, "Of the steadiness of the disk.", range);
    v.field("fit", w.fit, "Of how exactly the task fills what is left.", range);
    v.field("fragmentation", w.fragmentation, "Of how little room for others it spoils.", range);
    v.field("gpu_thrift", w.gpu_thrift, "Of leaving GPUs to work that needs them.", range);
    v.field("health", w.health, "Of how well the cards and the node are.", range);
    v.field("interconnect", w.interconnect, "Of the links between the cards it gets.", range);
    v.field("load", w.load, "Of how little of the node is in use, or how much where the policy packs.",
            range);
    v.field("low_utilization", w.low_utilization,
            "Of how little the cards of the node are really used, for jobs that prefer it.", range);
    v.field("model_cache", w.model_cache,
            "Of the part of its models whose weights the node has in its cache.", range);
    v.field("numa", w.numa, "Of cards and cores in one NUMA domain.", range);
    v.field("w_gpu", w.w_gpu, "GPU within load.", range);
    v.field("w_cpu", w.w_cpu, "CPU within load.", range);
    v.field("w_mem", w.w_mem, "Memory within load.", range);
    v.field("w_disk", w.w_disk, "Disk within load.", range);
    v.field("gpu_memory", w.gpu_memory, "GPU memory within capacity.", range);
    v.field("cpu_cores", w.cpu_cores, "Cores within capacity.", range);
    v.field("memory_bandwidth", w.memory_bandwidth, "Memory bandwidth within capacity.", range);
    v.field("ssd_iops", w.ssd_iops, "Disk IOPS within capacity.", range);
}

struct QueueSpec {
    std::string name;
    Policy policy = Policy::price;
    PlacementWeights weights;
    Order order = Order::fair;
    Priority priority{500};  // of jobs that give none
    bool default_preemptible = false;
    std::vector<JobType> types;  // job types that go here when they name no queue
    std::vector<PluginUse> plugins;
    std::optional<double> overcommit_ratio;  // instead of memory_overcommit_ratio, for its jobs
    std::optional<double> preempt_factor;    // absent: 3 where order is shortest, 10 where it is las
    std::int64_t reserved_gpu = 0;           // cards kept for its jobs, lent to preemptible work meanwhile
};
template <class V>
void describe(V& v, QueueSpec& q) {
    v.field("name", q.name, "Queue.", {.required = true});
    v.field("policy", q.policy, "How a node is chosen.");
    v.field(
        "weights", q.weights,
        "Weights of its own, with the policies binpack, spread and affinity; the others add no weighted terms up.");
    v.field("order", q.order, "Who goes first among jobs of the same priority.");
    v.field("priority", q.priority, "Priority of jobs that give none.");
    v.field("default_preemptible", q.default_preemptible, "Whether jobs that do not say may be preempted.");
    v.field("types", q.types, "Job types that wait here when they name no queue.");
    v.field("plugins", q.plugins,
            "Placement plugins, as NAME or NAME=WEIGHT; a weight of 1 counts as much as the policy.");
    v.field("overcommit_ratio", q.overcommit_ratio,
            "Instead of memory_overcommit_ratio, for jobs of this queue.", {.minimum = 1, .maximum = 10});
    v.field(
        "preempt_factor", q.preempt_factor,
        "In a queue ordered shortest or las: how many times a waiting job's key a running one's must exceed to give way to it.",
        {.minimum = 1, .maximum = 1000});
    v.field("reserved_gpu", q.reserved_gpu,
            "Cards kept for this queue's jobs, lent to preemptible work meanwhile.",
            {.minimum = 0, .maximum = 1e6});
}

// Whether the settings of a queue go together; `field`: where they stand, "" or "queues[2].".
Result<void> check_queue(const QueueSpec& queue, const std::string& field = {});

// Caps of one tenant; an absent one is no limit. Charged up the chain of its parents.
struct Quota {
    std::optional<MilliGpu> gpu;
    std::optional<Mebibytes> gpu_memory;
    std::optional<MilliCpu> cpu;
    std::optional<Bytes> memory, disk;
    std::optional<Iops> iops;
    std::optional<std::int64_t> jobs;  // running at once
};
template <class V>
void describe(V& v, Quota& q) {
    v.field("gpu", q.gpu, "Cards.");
    v.field("gpu_memory", q.gpu_memory, "GPU memory, summed over cards.");
    v.field("cpu", q.cpu, "Cores.");
    v.field("memory", q.memory, "Memory.");
    v.field("disk", q.disk, "Disk space.");
    v.field("iops", q.iops, "Disk operations per second.");
    v.field("jobs", q.jobs, "Jobs running at once.");
}

struct Tenant {
    std::string path;  // "research/vision"
    Quota hard;
    std::int64_t max_priority = 700;
    std::int64_t max_pending = 10'000;
};
template <class V>
void describe(V& v, Tenant& t) {
    v.field("path", t.path, "Names joined by /.");
    v.field("hard", t.hard, "Hard quota: the tenant's own.");
    v.field("max_priority", t.max_priority, "Highest priority its jobs may ask for.",
            {.minimum = 0, .maximum = 1000});
    v.field("max_pending", t.max_pending, "Most jobs waiting at once.", {.minimum = 0, .maximum = 1e9});
}

enum class Role { admin, op, tenant, read_only, agent_join };
inline std::span<const EnumName<Role>> enum_names(Role) {
    static constexpr EnumName<Role> names[] = {{Role::admin, "admin"},
                                               {Role::op, "operator"},
                                               {Role::tenant, "tenant"},
                                               {Role::read_only, "read-only"},
                                               {Role::agent_join, "agent-join"}};
    return names;
}

// A token is stored as the SHA-256 of its secret.
struct Token {
    std::string id, name, secret_sha256;
    Role role = Role::read_only;
    std::string tenant;  // for Role::tenant
    Instant created, expires;
};
template <class V>
void describe(V& v, Token& t) {
    v.field("id", t.id, "Token id.");
    v.field("name", t.name, "What it is for.");
    v.field("secret_sha256", t.secret_sha256, "Hash of the secret.", {.secret = true});
    v.field("role", t.role, "What it may do.");
    v.field("tenant", t.tenant, "Whose jobs, for the role tenant.");
    v.field("created", t.created, "When it was made.");
    v.field("expires", t.expires, "When it ends; never when absent.");
}

}  // namespace crater
