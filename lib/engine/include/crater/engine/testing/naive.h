// A second opinion: an engine without indexes, memory or cleverness, which asks of every node, every set of
// cards, every domain and every disk whether the rules hold. On small clusters it must agree with the real
// one. It shares no code with it. For tests and the simulator.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "crater/engine/engine.h"

namespace crater::engine::testing {

struct NaiveTask {
    EngineJob job;
    std::int64_t index = 0;
    Allocation held;
    Instant started;
};

struct Naive {
    Instant now;
    std::map<std::string, NodeInventory> nodes;
    std::set<std::string> closed;                                      // draining or lost
    std::vector<NaiveTask> tasks;                                      // that hold something
    double ratio = 1;                                                  // of overcommit
    std::map<std::string, double> ratios;                              // of queues that have their own
    std::map<std::string, std::map<std::int64_t, std::int64_t>> real;  // node, card: MiB by the last sample

    double ratio_of(const EngineJob& job) const {
        return ratios.contains(job.queue) ? ratios.at(job.queue) : ratio;
    }
    double highest_ratio() const {
        double most = ratio;
        for (const auto& [queue, own] : ratios) most = std::max(most, own);
        return most;
    }
    static std::int64_t limit(const Gpu& gpu, double of) {
        return gpu.memory.value * std::llround(of * 1000) / 1000;
    }
    // The sample of a card that nothing is on any more says nothing.
    void forget_use(const Allocation& freed) {
        for (const auto& slice : freed.gpus) {
            const bool other = std::any_of(tasks.begin(), tasks.end(), [&](const NaiveTask& t) {
                return t.held.node == freed.node &&
                       std::any_of(t.held.gpus.begin(), t.held.gpus.end(),
                                   [&](const auto& g) { return g.index == slice.index; });
            });
            if (!other) real[freed.node].erase(slice.index);
        }
    }
    std::map<std::string, std::vector<Taint>> taints;
    std::map<std::string, std::vector<Maintenance>> windows;

    static bool carries(const JobSpec& spec, const std::map<std::string, std::string>& wanted) {
        for (const auto& [key, value] : wanted)
            if (!spec.labels.contains(key) || spec.labels.at(key) != value) return false;
        return true;
    }
    static bool avoids(const JobSpec& one, const JobSpec& other) {
        for (const auto& selector : one.anti_affinity.jobs)
            if (carries(other, selector.labels)) return true;
        return false;
    }
    bool kept_away(const EngineJob& job, const std::string& name, const std::set<std::string>& gone) const {
        if (taints.contains(name))
            for (const auto& taint : taints.at(name)) {
                bool tolerated = false;
                for (const auto& t : job.spec->tolerations)
                    tolerated |= t.key == taint.key && (t.value.empty() || t.value == taint.value);
                if (!tolerated) return true;
            }
        if (windows.contains(name))
            for (const auto& window : windows.at(name)) {
                // Spans count in minutes, and from eight on in steps of a quarter of the power of two below.
                const auto length =
                    job.spec->time_limit.count() > 0 ? job.spec->time_limit : job.spec->duration;
                std::int64_t takes = (length.count() + 59'999) / 60'000,
                             left = std::max<std::int64_t>(0, (window.start - now).count() / 60'000);
                std::int64_t step = 1;
                while (takes / step >= 8) step *= 2;
                takes = (takes + step - 1) / step * step;
                for (step = 1; left / step >= 8;) step *= 2;
                left = left / step * step;
                if (window.end > now && (window.start <= now || takes > left)) return true;
            }
        for (const auto& task : tasks) {
            if (task.held.node != name || gone.contains(task.job.id)) continue;
            if (task.job.id == job.id
                    ? job.spec->anti_affinity.spread_tasks
                    : avoids(*job.spec, *task.job.spec) || avoids(*task.job.spec, *job.spec))
                return true;
        }
        return false;
    }

    static bool lies_in(const std::vector<CachedItem>& cache, const std::string& id) {
        return std::any_of(cache.begin(), cache.end(), [&](const CachedItem& item) { return item.id == id; });
    }
    static bool lacks_data(const JobSpec& spec, const NodeInventory& node) {
        if (spec.data_locality != DataLocality::required) return false;
        for (const auto& id : spec.datasets)
            if (!lies_in(node.cache.datasets, id)) return true;
        for (const auto& id : spec.models)
            if (!lies_in(node.cache.models, id)) return true;
        return false;
    }

    static std::int64_t nominal(const Gpu& gpu) { return gpu.model == "odd-40gb" ? 40960 : gpu.memory.value; }
    static std::int64_t round_up(std::int64_t amount, const Gpu& gpu) {
        const auto step = std::max<std::int64_t>(512, (nominal(gpu) + 31) / 32);
        return std::min(gpu.memory.value, (amount + step - 1) / step * step);
    }
    struct Part {
        bool possible = false, whole = false;
        std::int64_t memory = 0, compute = 0;
        const GpuPartition* instance = nullptr;
    };
    // The smallest instance that is enough; all that there is for a whole card.
    static Part instance_of(const JobSpec& spec, const Gpu& gpu, bool whole) {
        const auto& want = spec.resources.gpu;
        const bool half = want.count.value < 1000;
        const auto memory = want.memory ? want.memory.value
                            : half      ? nominal(gpu) * want.count.value / 1000
                                        : nominal(gpu);
        const auto compute = want.compute ? want.compute->value : half ? want.count.value : 0;
        Part best;
        for (const auto& row : gpu.partitions) {
            const auto called = std::stoll(row.name.substr(row.name.find('.') + 1)) * 1024;
            const bool enough = whole || (called >= memory && row.compute.value >= compute);
            const auto size = std::pair(row.memory.value, row.compute.value);
            const bool better = !best.instance || (whole ? size > std::pair(best.memory, best.compute)
                                                         : size < std::pair(best.memory, best.compute));
            if (enough && better) best = {true, false, row.memory.value, row.compute.value, &row};
        }
        return best;
    }
    // Whether an instance has a place that no other covers a part of.
    bool has_place(const std::string& name, const Gpu& gpu, const GpuPartition& row,
                   const std::set<std::string>& gone) const {
        std::set<std::int64_t> taken;
        for (const auto& task : tasks)
            for (const auto& g : task.held.gpus)
                if (task.held.node == name && !gone.contains(task.job.id) && g.index == gpu.index)
                    for (const auto& other : gpu.partitions)
                        for (std::int64_t at = 0; other.name == g.partition && at < other.size; ++at)
                            taken.insert(g.start + at);
        return std::any_of(row.starts.begin(), row.starts.end(), [&](std::int64_t start) {
            const auto first = taken.lower_bound(start);
            return first == taken.end() || *first >= start + row.size;
        });
    }
    static Part part_of(const JobSpec& spec, const Gpu& gpu, double most) {
        const auto& want = spec.resources.gpu;
        if (!want.model.empty() && gpu.model.rfind(want.model, 0) != 0) return {};
        if (want.memory.value > nominal(gpu)) return {};
        const bool all = want.memory.value >= gpu.memory.value || want.memory.value == 0;
        const bool whole =
            want.exclusive || (want.count.value >= 1000 && all && (want.memory.value == 0 || !want.compute));
        if (!gpu.partitions.empty()) {
            const bool inference = spec.type == JobType::inference && !whole &&
                                   (want.memory.value < gpu.memory.value || !want.memory);
            if (inference && (want.memory ? want.memory.value * 2 > nominal(gpu) : want.count.value > 500))
                return {};
            return instance_of(spec, gpu, whole);
        }
        if (whole) return {true, true, gpu.memory.value, 1000};
        Part part{true, false, 0, 0};
        part.memory =
            want.memory.value ? round_up(want.memory.value, gpu) : gpu.memory.value * want.count.value / 1000;
        if (want.compute)
            part.compute = want.compute->value;
        else if (want.count.value < 1000)
            part.compute = want.count.value;
        else
            part.compute = std::max<std::int64_t>(1, part.memory * 1000 / limit(gpu, most));
        if (spec.type == JobType::inference) {
            const bool too_much = want.memory.value ? want.memory.value * 2 > nominal(gpu) &&
                                                          want.memory.value < gpu.memory.value
                                                    : want.count.value > 500;
            if (too_much) return {};
        }
        return part;
    }

    struct Used {
        std::int64_t cpu = 0, cpu_only = 0, memory = 0, tasks = 0;
        bool exclusive = false;
        std::map<std::int64_t, std::int64_t> card_memory, card_compute, card_tasks, domain_cpu, domain_memory,
            domain_rate;
        std::set<std::int64_t> whole_cards;
        std::map<std::string, std::int64_t> disk_size, disk_iops;
    };
    Used used_on(const std::string& name, const std::set<std::string>& gone = {}) const {
        Used used;
        const auto& node = nodes.at(name);
        for (const auto& task : tasks) {
            const auto& a = task.held;
            if (a.node != name || gone.contains(task.job.id)) continue;
            used.cpu += a.cpu.value;
            if (a.gpus.empty()) used.cpu_only += a.cpu.value;
            used.memory += a.memory.value;
            ++used.tasks;
            used.exclusive |= a.node_exclusive;
            for (const auto& g : a.gpus) {
                used.card_memory[g.index] += g.memory.value;
                used.card_compute[g.index] += g.compute.value;
                ++used.card_tasks[g.index];
                if (g.exclusive) used.whole_cards.insert(g.index);
            }
            for (const auto& domain : node.numa)
                for (const auto cpu : a.cpu_set)
                    if (std::count(domain.cpus.begin(), domain.cpus.end(), cpu))
                        used.domain_cpu[domain.id] += 1000;
            if (a.numa_node >= 0) {
                if (a.cpu_set.empty()) used.domain_cpu[a.numa_node] += a.cpu.value;
                used.domain_memory[a.numa_node] += a.memory.value;
                used.domain_rate[a.numa_node] += a.memory_bandwidth.value;
            }
            used.disk_size[a.disk] += a.disk_size.value;
            used.disk_iops[a.disk] += a.disk_iops.value;
        }
        return used;
    }

    static bool linked(const NodeInventory& node, const std::vector<std::size_t>& cards) {
        std::set<std::size_t> seen{cards[0]};
        for (std::size_t round = 0; round < cards.size(); ++round)
            for (const auto a : cards)
                for (const auto b : cards)
                    if (seen.contains(a) &&
                        (std::count(node.gpus[a].nvlink_peers.begin(), node.gpus[a].nvlink_peers.end(),
                                    node.gpus[b].index) ||
                         std::count(node.gpus[b].nvlink_peers.begin(), node.gpus[b].nvlink_peers.end(),
                                    node.gpus[a].index)))
                        seen.insert(b);
        return seen.size() == cards.size();
    }

    bool fits(const EngineJob& job, const std::string& name, const std::set<std::string>& gone = {}) const {
        const auto& node = nodes.at(name);
        const auto& spec = *job.spec;
        const auto& want = spec.resources;
        const Used used = used_on(name, gone);
        if (closed.contains(name) || kept_away(job, name, gone) || lacks_data(spec, node)) return false;
        for (const auto& [key, value] : spec.node.labels)
            if (!node.labels.contains(key) || node.labels.at(key) != value) return false;
        if (spec.node.exclusive ? used.tasks > 0 : used.exclusive) return false;
        const auto cpu = want.cpu.cores.value, memory = want.memory.size.value,
                   rate = want.memory.bandwidth.value;
        const auto count = (want.gpu.count.value + 999) / 1000;
        if (used.cpu + cpu > node.cpu.value || used.memory + memory > node.memory.value) return false;
        const std::int64_t reserve = node.gpus.empty() ? 0 : (node.cpu.value + 2) / 5;
        if (count == 0 && used.cpu_only + cpu > node.cpu.value - reserve) return false;

        bool disk_ok = !want.disk.size && !want.disk.iops && !want.disk.latency_us_max;
        for (const auto& disk : node.disks) {
            const auto at = [&](const auto& map) { return map.contains(disk.name) ? map.at(disk.name) : 0; };
            disk_ok |= (want.disk.latency_us_max.value == 0 ||
                        (disk.latency.value > 0 && disk.latency <= want.disk.latency_us_max)) &&
                       at(used.disk_size) + want.disk.size.value <= disk.free.value &&
                       at(used.disk_iops) + want.disk.iops.value <= disk.iops.value;
        }
        if (!disk_ok) return false;

        const auto domain_has = [&](const NumaDomain& d, bool all) {
            const auto at = [&](const auto& map) { return map.contains(d.id) ? map.at(d.id) : 0; };
            if (at(used.domain_rate) + rate > d.memory_bandwidth.value) return false;
            return !all || (at(used.domain_cpu) + cpu <= static_cast<std::int64_t>(d.cpus.size()) * 1000 &&
                            at(used.domain_memory) + memory <= d.memory.value);
        };
        const bool strict = spec.numa_binding_policy == NumaPolicy::strict;
        for (std::uint32_t bits = 0; bits < (1U << node.gpus.size()); ++bits) {
            std::vector<std::size_t> cards;
            for (std::size_t g = 0; g < node.gpus.size(); ++g)
                if (bits >> g & 1) cards.push_back(g);
            if (static_cast<std::int64_t>(cards.size()) != count) continue;
            bool ok = true;
            std::set<std::int64_t> domains;
            for (const auto g : cards) {
                const auto& gpu = node.gpus[g];
                const auto part = part_of(spec, gpu, highest_ratio());
                const auto at = [&](const auto& map) {
                    return map.contains(gpu.index) ? map.at(gpu.index) : 0;
                };
                ok &= gpu.healthy && part.possible && !used.whole_cards.contains(gpu.index);
                ok &= part.whole ? at(used.card_tasks) == 0 : at(used.card_tasks) < 8;
                ok &= !part.instance || has_place(name, gpu, *part.instance, gone);
                if (real.contains(name) && real.at(name).contains(gpu.index))
                    ok &= real.at(name).at(gpu.index) * 10 <= gpu.memory.value * 9;
                ok &= at(used.card_memory) + part.memory <=
                          limit(gpu, part.whole || part.instance ? 1 : ratio_of(job)) &&
                      at(used.card_compute) + part.compute <= 1000;
                domains.insert(gpu.numa_node);
            }
            if (count > 1 && want.gpu.interconnect == Interconnect::nvlink) ok &= linked(node, cards);
            if (count > 1 && want.gpu.interconnect == Interconnect::same_numa) ok &= domains.size() == 1;
            if (!ok) continue;
            for (const auto& d : node.numa) {
                if (strict && (!domain_has(d, true) ||
                               (count > 0 && (domains.size() != 1 || *domains.begin() != d.id))))
                    continue;
                if (!strict && rate > 0 && !domain_has(d, false)) continue;
                return true;
            }
        }
        return false;
    }
    bool fits_anywhere(const EngineJob& job, const std::set<std::string>& gone = {}) const {
        for (const auto& [name, node] : nodes)
            if (fits(job, name, gone)) return true;
        return false;
    }

    // What is given out twice, or is more than there is; empty when nothing is.
    std::string overbooked() const;
};

inline std::string Naive::overbooked() const {
    std::string out;
    const auto most = [&](std::int64_t held, std::int64_t there, const std::string& what) {
        if (held > there && out.empty())
            out = what + ": " + std::to_string(held) + " of " + std::to_string(there);
    };
    const auto at = [](const auto& map, const auto& key) { return map.contains(key) ? map.at(key) : 0; };
    for (const auto& [name, node] : nodes) {
        const Used used = used_on(name);
        most(used.cpu, node.cpu.value, name + " cpu");
        most(used.memory, node.memory.value, name + " memory");
        std::set<std::int64_t> cpus;
        for (const auto& task : tasks) {
            if (task.held.node != name) continue;
            for (const auto cpu : task.held.cpu_set)
                if (!cpus.insert(cpu).second) out = name + " cpu " + std::to_string(cpu) + " twice";
            if (!task.held.cpu_set.empty() &&
                static_cast<std::int64_t>(task.held.cpu_set.size()) * 1000 != task.held.cpu.value)
                out = name + ": " + task.job.id + " has other cores than are counted";
            for (const auto& other : tasks) {
                if (&other == &task || other.held.node != name) continue;
                const bool own = other.job.id == task.job.id;
                if (own ? task.job.spec->anti_affinity.spread_tasks : avoids(*task.job.spec, *other.job.spec))
                    out = name + ": " + task.job.id + " is beside what it avoids";
                if (task.held.node_exclusive && !own)
                    out = name + ": " + task.job.id + " has the node for itself and is not alone";
            }
        }
        for (const auto& gpu : node.gpus) {
            const std::string card = name + " card " + std::to_string(gpu.index);
            const bool whole = used.whole_cards.contains(gpu.index);
            most(at(used.card_memory, gpu.index), limit(gpu, whole ? 1 : highest_ratio()), card + " memory");
            most(at(used.card_compute, gpu.index), 1000, card + " compute");
            most(at(used.card_tasks, gpu.index), whole ? 1 : 8, card + " tasks");
        }
        for (const auto& d : node.numa)
            most(at(used.domain_rate, d.id), d.memory_bandwidth.value, name + " memory bandwidth");
        for (const auto& disk : node.disks)
            most(at(used.disk_iops, disk.name), disk.iops.value, name + " iops");
    }
    return out;
}

}  // namespace crater::engine::testing
