#include "state/cluster.h"

#include <algorithm>
#include <cmath>

#include "crater/base/ids.h"

namespace crater::engine {
namespace {

constexpr std::size_t changes_kept = 1 << 18;

int thousandths(double part) { return static_cast<int>(std::lround(std::clamp(part, 0.0, 1.0) * 1000)); }

}  // namespace

std::int8_t heat_step(double celsius) {
    if (!(celsius > 70)) return 0;  // nor when it is no number
    return static_cast<std::int8_t>(std::min((celsius - 70) / 5, static_cast<double>(heat_steps)));
}

std::int64_t overcommit_of(double ratio) { return std::llround(std::clamp(ratio, 1.0, 10.0) * 1000); }

void Cluster::find_overcommit() {
    overcommit_ = std::max(overcommit_of(settings_.memory_overcommit_ratio), queue_overcommit_);
}

bool Cluster::set_queue_overcommit(std::int64_t ratio) {
    const auto before = overcommit_;
    queue_overcommit_ = ratio;
    find_overcommit();
    if (overcommit_ == before) return false;
    for (int n = 0; n < size(); ++n)
        if (node(n).present) touch(n);
    return true;
}

void Cluster::find_watermark(const Node& host, Live& live) const {
    live.above_watermark = 0;
    for (std::size_t c = 0; c < host.cards.size(); ++c)
        if (live.memory_on(c) * 1000 >
            type(host.cards[c].type).memory * thousandths(settings_.safety_watermark))
            live.above_watermark |= Mask{1} << c;
}

void Cluster::emptied(const Slices& slices) {
    Live& live = at(slices.node).live;
    for (const auto& slice : slices.cards) {
        const auto c = static_cast<std::size_t>(slice.card);
        if (used_.cards[static_cast<std::size_t>(at(slices.node).cards_at) + c].tasks > 0 ||
            c >= live.card_memory.size())
            continue;
        live.card_memory[c] = -1;
        if (!(live.above_watermark >> c & 1)) continue;
        live.above_watermark &= ~(Mask{1} << c);
        ++conditions_[static_cast<std::size_t>(slices.node)];
    }
}

void Cluster::set_settings(Settings settings) {
    settings_ = std::move(settings);
    find_overcommit();
    for (auto& node : nodes_) {
        if (!node.present) continue;
        set_reserve(node);
        find_watermark(node, node.live);
        ++node.hardware_version;
        touch(find(node.name));
    }
}

int Cluster::find(const std::string& name) const {
    const auto it = positions_.find(name);
    return it == positions_.end() ? -1 : it->second;
}

int Cluster::set_node(std::shared_ptr<const NodeInventory> inventory) {
    // else a decision or an answer pays for moving them all when they grow
    changes_.reserve(changes_kept + 1);
    int n = find(inventory->name);
    if (n < 0) {
        n = size();
        positions_.emplace(inventory->name, n);
        nodes_.emplace_back().name = inventory->name;
        nodes_.back().name_hash = hash64(inventory->name);
        versions_.push_back(0);
        conditions_.push_back(0);
        used_.add_node();
        nothing_.add_node();
        put_in_order(n);
    }
    Node& node = at(n);
    node.present = true;
    node.inventory = std::move(inventory);
    node.live = {};
    build(node);
    ++node.hardware_version;
    touch(n);
    return n;
}

void Cluster::put_in_order(int n) {
    const auto before = [&](int a, int b) { return at(a).name < at(b).name; };
    const auto place = by_name_.insert(std::lower_bound(by_name_.begin(), by_name_.end(), n, before), n);
    rank_.push_back(0);
    for (auto i = static_cast<std::size_t>(place - by_name_.begin()); i < by_name_.size(); ++i)
        rank_[static_cast<std::size_t>(by_name_[i])] = static_cast<int>(i);
    ++layout_;
}

void Cluster::remove_node(int n) {
    CRATER_CHECK(used_.nodes[static_cast<std::size_t>(n)].tasks == 0, "a node that is removed holds nothing");
    Node& node = at(n);
    node.present = node.draining = node.lost = false;
    set_taints(n, {});
    set_windows(n, {}, {});
    node.live = {};
    node.live.gpus.assign(node.cards.size(), 0);
    ++node.hardware_version;
    touch(n);
}

void Cluster::set_flags(int n, bool draining, bool lost) {
    Node& node = at(n);
    node.draining = draining;
    node.lost = lost;
    if (lost) node.live = {}, node.live.gpus.assign(node.cards.size(), 0);
    touch(n);
}

bool Cluster::set_sample(int n, const NodeSample& sample) {
    Node& node = at(n);
    if (node.inventory->simulated || !node.present) return false;
    sampled_ = true;
    const bool first = node.live.at.ms == 0;  // what was not known may be less than what was feared
    Live live;
    live.cpu = thousandths(sample.cpu_percent / 100);
    if (sample.memory_total.value > 0)
        live.memory = thousandths(static_cast<double>(sample.memory_used.value) /
                                  static_cast<double>(sample.memory_total.value));
    live.disk = thousandths(sample.disk_busy_percent / 100);
    live.gpus.assign(node.cards.size(), 0);
    live.card_memory.assign(node.cards.size(), -1);
    live.heat.assign(node.cards.size(), 0);
    for (const auto& gpu : sample.gpus)
        for (std::size_t c = 0; c < node.cards.size(); ++c)
            if (node.cards[c].index == gpu.index) {
                live.gpus[c] = thousandths(gpu.utilization_percent / 100);
                live.card_memory[c] = gpu.memory_used.value;
                live.heat[c] = heat_step(gpu.temperature_celsius);
            }
    live.disk_rate = sample.disk_read.value + sample.disk_write.value;
    live.at = sample.at;
    find_watermark(node, live);

    // Scores look at steps of 5 %, thresholds at the exact figure: smaller moves change nothing worth a new
    // look.
    bool changed = false, eased = false;
    const auto compare = [&](int before, int after, double threshold) {
        const int limit = thousandths(threshold);
        changed |= before / 50 != after / 50 || (before > limit) != (after > limit);
        eased |= threshold > 0 && before > limit && after <= limit;
    };
    compare(node.live.cpu, live.cpu, settings_.cpu_threshold);
    compare(node.live.memory, live.memory, settings_.memory_threshold);
    compare(node.live.disk, live.disk, settings_.disk_io_threshold);
    for (std::size_t c = 0; c < live.gpus.size(); ++c)
        compare(c < node.live.gpus.size() ? node.live.gpus[c] : 0, live.gpus[c], settings_.gpu_threshold);
    for (std::size_t c = 0; c < live.heat.size(); ++c) changed |= node.live.heat_of(c) != live.heat_of(c);
    changed |= node.live.above_watermark != live.above_watermark;
    eased |= (node.live.above_watermark & ~live.above_watermark) != 0;
    if (!changed) {
        // Not worth a new look, but the prediction reads it when it looks.
        node.live.card_memory = std::move(live.card_memory);
        node.live.disk_rate = live.disk_rate;
        node.live.at = live.at;
        return first;
    }
    node.live = std::move(live);
    touch(n);
    return eased || first;
}

Mask Cluster::open_cards(int n) const { return calm_cards(n) & ~node(n).live.above_watermark; }

Mask Cluster::calm_cards(int n) const {
    const Node& host = node(n);
    if (settings_.gpu_threshold <= 0) return host.usable;
    Mask out = host.usable;
    for (std::size_t c = 0; c < host.live.gpus.size(); ++c)
        if (host.live.gpus[c] > settings_.gpu_threshold * 1000) out &= ~(Mask{1} << c);
    return out;
}

void Cluster::touch(int n) {
    ++conditions_[static_cast<std::size_t>(n)];
    moved(n, ~Mask{0});
}

void Cluster::moved(int n, Mask cards) {
    versions_[static_cast<std::size_t>(n)] = ++version_;
    changes_.push_back({n, cards});
    if (changes_.size() > changes_kept) {
        changes_base_ += changes_.size() / 2;
        changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(changes_.size() / 2));
    }
}

void Cluster::book(const Slices& slices, int sign) {
    used_.book(node(slices.node), slices, sign);
    Mask cards = 0;
    for (const auto& slice : slices.cards) cards |= Mask{1} << slice.card;
    moved(slices.node, slices.node_exclusive ? ~Mask{0} : cards);
}

void Cluster::try_book(const Slices& slices, int sign) {
    trail_.push_back({&slices, sign, version(slices.node)});
    book(slices, sign);
}

void Cluster::undo_to(std::size_t mark) {
    while (trail_.size() > mark) {
        const Step step = trail_.back();
        trail_.pop_back();
        book(*step.slices, -step.sign);
        versions_[static_cast<std::size_t>(step.slices->node)] =
            step.version;  // as it was, so what was known of it holds again
    }
}

Allocation Cluster::to_allocation(const Slices& s) const {
    const Node& host = node(s.node);
    Allocation out;
    out.node = host.name;
    for (const auto& slice : s.cards) {
        const Card& card = host.cards[static_cast<std::size_t>(slice.card)];
        out.gpus.push_back({card.index, host.card_texts[static_cast<std::size_t>(slice.card)].uuid,
                            MilliGpu(slice.compute), Mebibytes(slice.memory), slice.exclusive, slice.capped});
        if (slice.start < 0) continue;
        out.gpus.back().start = slice.start;
        out.gpus.back().partition =
            slice.partition < 0
                ? lost_partition
                : type(card.type).partitions->rows[static_cast<std::size_t>(slice.partition)].name;
    }
    out.cpu = MilliCpu(s.cpu);
    s.cores.each([&](std::size_t position) {
        const auto& cpus = host.board->cores[position].cpus;
        out.cpu_set.insert(out.cpu_set.end(), cpus.begin(), cpus.end());
    });
    std::sort(out.cpu_set.begin(), out.cpu_set.end());
    out.numa_node = s.domain < 0 ? -1 : host.domains[static_cast<std::size_t>(s.domain)].id;
    out.memory = Bytes(s.memory);
    out.memory_bandwidth = BytesPerSecond(s.bandwidth);
    if (s.disk >= 0) out.disk = host.disks[static_cast<std::size_t>(s.disk)].name;
    out.disk_size = Bytes(s.disk_size);
    out.disk_iops = Iops(s.disk_iops);
    out.disk_bandwidth = BytesPerSecond(s.disk_bandwidth);
    out.node_exclusive = s.node_exclusive;
    return out;
}

// An instance that the card does not have, or not there, is held as an amount: what it covers nobody can
// tell. It may have it again later.
CardSlice Cluster::card_slice(Node& host, const GpuSlice& slice) {
    CardSlice out{.card = static_cast<std::int16_t>(card_position(host, slice)),
                  .exclusive = slice.exclusive,
                  .capped = slice.capped,
                  .compute = static_cast<std::int16_t>(slice.compute.value),
                  .memory = slice.memory.value};
    const auto& partitions = type(host.cards[static_cast<std::size_t>(out.card)].type).partitions;
    if (slice.partition.empty()) return out;
    out.start = static_cast<std::int8_t>(std::clamp<std::int64_t>(slice.start, -1, slots_max));
    if (partitions)
        out.partition =
            static_cast<std::int8_t>(partitions->placed(slice.partition, out.memory, out.compute, out.start));
    return out;
}

Slices Cluster::from_allocation(const Allocation& a) {
    Slices s;
    s.node = find(a.node);
    CRATER_CHECK(s.node >= 0, "an allocation names a node that is not known: " + a.node);
    Node& host = at(s.node);
    const auto parts = host.cards.size() + host.disks.size();
    for (const auto& slice : a.gpus) s.cards.push_back(card_slice(host, slice));
    s.cpu = a.cpu.value;
    s.cpu_only = a.gpus.empty();
    for (std::size_t c = 0; c < host.board->cores.size() && !a.cpu_set.empty(); ++c) {
        const auto& cpus = host.board->cores[c].cpus;
        const bool all = std::all_of(cpus.begin(), cpus.end(), [&](std::int64_t cpu) {
            return std::find(a.cpu_set.begin(), a.cpu_set.end(), cpu) != a.cpu_set.end();
        });
        if (all && !cpus.empty()) s.cores.add(c);
    }
    for (std::size_t d = 0; d < host.domains.size(); ++d)
        if (a.numa_node >= 0 && host.domains[d].id == a.numa_node) s.domain = static_cast<int>(d);
    s.memory = a.memory.value;
    s.bandwidth = s.domain >= 0 ? a.memory_bandwidth.value : 0;
    if (!a.disk.empty()) s.disk = disk_position(host, a.disk);
    s.disk_size = a.disk_size.value;
    s.disk_iops = a.disk_iops.value;
    s.disk_bandwidth = a.disk_bandwidth.value;
    s.node_exclusive = a.node_exclusive;
    if (parts != host.cards.size() + host.disks.size())
        ++host.hardware_version, ++conditions_[static_cast<std::size_t>(s.node)];
    return s;
}

}  // namespace crater::engine
