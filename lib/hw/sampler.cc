#include "sampler.h"

#include <algorithm>

#include "meminfo.h"

namespace crater::hw {
namespace {

// A counter that went back (a device that came again) counts from its new start.
std::int64_t grown(std::int64_t before, std::int64_t now) { return now >= before ? now - before : now; }

std::int64_t per_second(std::int64_t before, std::int64_t now, double seconds) {
    return static_cast<std::int64_t>(static_cast<double>(grown(before, now)) / seconds);
}

}  // namespace

NodeSample Sampler::sample(Instant now) {
    NodeSample out{.at = now};
    const MemoryFacts memory = read_memory(tree_);
    out.memory_used = memory.total - memory.available;
    out.memory_total = parts_.memory_total ? parts_.memory_total : memory.total;
    out.swap_used = memory.swap_total - memory.swap_free;
    out.disk_free = free_space(tree_, parts_.data_path);
    const std::string load = tree_.line("/proc/loadavg");
    if (const auto parts = words(load); !parts.empty())
        if (auto one = parse_number(parts[0])) out.load1 = *one;

    Counters counters = read();
    if (before_ && counters.at_us > before_->at_us) {
        const double seconds = static_cast<double>(counters.at_us - before_->at_us) / 1e6;
        const auto busy = grown(before_->cpu.busy, counters.cpu.busy),
                   total = grown(before_->cpu.total, counters.cpu.total);
        if (total > 0)
            out.cpu_percent = std::min(100.0, 100.0 * static_cast<double>(busy) / static_cast<double>(total));
        add_disk_rates(*before_, counters, seconds, out);
        const auto &n0 = before_->network, &n1 = counters.network;
        out.network_receive = BytesPerSecond(per_second(n0.bytes_received, n1.bytes_received, seconds));
        out.network_transmit = BytesPerSecond(per_second(n0.bytes_sent, n1.bytes_sent, seconds));
    }
    before_ = std::move(counters);
    return out;
}

Sampler::Counters Sampler::read() const {
    return {.at_us = clock_.ticks_us(),
            .cpu = read_cpu_time(),
            .disks = read_disk_counters(tree_),
            .network = read_network_counters(tree_, parts_.networks)};
}

Sampler::CpuTime Sampler::read_cpu_time() const {
    CpuTime sum;
    const std::string text = tree_.text("/proc/stat");
    for (auto line : words(text, "\n")) {  // "cpu0 user nice system idle iowait irq softirq steal ..."
        const auto parts = words(line);
        if (parts.size() < 9 || !parts[0].starts_with("cpu") || parts[0].size() == 3) continue;
        const auto cpu = whole_number(parts[0].substr(3)).value_or(-1);
        if (!parts_.cpus.empty() && !std::binary_search(parts_.cpus.begin(), parts_.cpus.end(), cpu))
            continue;
        std::int64_t total = 0;
        for (std::size_t i = 1; i <= 8; ++i) total += whole_number(parts[i]).value_or(0);
        sum.total += total;
        sum.busy += total - whole_number(parts[4]).value_or(0) - whole_number(parts[5]).value_or(0);
    }
    return sum;
}

void Sampler::add_disk_rates(const Counters& before, const Counters& now, double seconds, NodeSample& out) {
    double reads = 0, writes = 0;
    std::int64_t read = 0, written = 0;
    for (const auto& disk : now.disks) {
        const auto old = std::find_if(before.disks.begin(), before.disks.end(),
                                      [&](const auto& d) { return d.name == disk.name; });
        if (old == before.disks.end()) continue;
        reads += static_cast<double>(grown(old->reads, disk.reads)) / seconds;
        writes += static_cast<double>(grown(old->writes, disk.writes)) / seconds;
        read += per_second(old->bytes_read, disk.bytes_read, seconds);
        written += per_second(old->bytes_written, disk.bytes_written, seconds);
        const double busy = static_cast<double>(grown(old->busy_ms, disk.busy_ms)) / (seconds * 10);
        out.disk_busy_percent = std::max(out.disk_busy_percent, std::min(100.0, busy));
    }
    out.disk_read_iops = reads;
    out.disk_write_iops = writes;
    out.disk_read = BytesPerSecond(read);
    out.disk_write = BytesPerSecond(written);
}

}  // namespace crater::hw
