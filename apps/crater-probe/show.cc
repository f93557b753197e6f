#include "show.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "crater/hw/source.h"

namespace crater::probe {
namespace {

using Row = std::vector<std::string>;

// Columns as wide as their widest cell; an empty cell is a dash.
void print_rows(std::ostream& out, const std::vector<Row>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    const auto cell = [](const std::string& text) { return text.empty() ? std::string("-") : text; };
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], cell(row[i]).size());
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", cell(row[i]), widths[i]);
        out << line.substr(0, line.find_last_not_of(' ') + 1) << "\n";
    }
}

std::string gib(Bytes bytes) {
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes.value) / (1 << 30));
}
std::string rate(BytesPerSecond value) { return value ? format(value) : ""; }
std::string number(std::int64_t value) { return value ? std::to_string(value) : ""; }
std::string place(std::int64_t numa) { return numa < 0 ? "" : std::to_string(numa); }

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
    return fmt::format("{}", fmt::join(words, separator));
}

std::string core_count(const NumaDomain& domain) {
    auto cores = domain.core_of;
    std::sort(cores.begin(), cores.end());
    return std::to_string(std::unique(cores.begin(), cores.end()) - cores.begin());
}

void print_cards(std::ostream& out, const NodeInventory& inventory, const NodeSample& sample) {
    if (inventory.gpus.empty()) {
        out << "\nno GPUs found\n";
        return;
    }
    std::vector<Row> rows = {{"GPU", "MODEL", "MEMORY", "USED", "USE", "TEMP", "POWER", "SMS", "CC", "NUMA",
                              "NVLINK", "PCI", "HEALTH"}};
    for (const auto& card : inventory.gpus) {
        GpuSample live;
        for (const auto& one : sample.gpus)
            if (one.index == card.index) live = one;
        std::vector<std::string> peers;
        for (auto peer : card.nvlink_peers) peers.push_back(std::to_string(peer));
        rows.push_back(
            {std::to_string(card.index), card.model + (card.mig_enabled ? " (MIG)" : ""), format(card.memory),
             format(live.memory_used), fmt::format("{:.0f}%", live.utilization_percent),
             fmt::format("{:.0f}C", live.temperature_celsius), fmt::format("{:.0f}W", live.power_watts),
             number(card.sm_count), card.compute_capability, place(card.numa_node), joined(peers, ","),
             card.pci_address, card.healthy ? "ok" : card.health_detail});
    }
    out << "\n";
    print_rows(out, rows);
}

void print_domains(std::ostream& out, const NodeInventory& inventory) {
    std::vector<Row> rows = {{"NUMA", "CORES", "CPUS", "MEMORY", "BANDWIDTH"}};
    for (const auto& domain : inventory.numa)
        rows.push_back({std::to_string(domain.id), core_count(domain),
                        joined(hw::to_list({domain.cpus}), ","), gib(domain.memory),
                        rate(domain.memory_bandwidth)});
    out << "\n";
    print_rows(out, rows);
}

void print_disks(std::ostream& out, const NodeInventory& inventory) {
    std::vector<Row> rows = {
        {"DISK", "TYPE", "MOUNT", "SIZE", "FREE", "NUMA", "IOPS", "LATENCY", "BANDWIDTH", "STABILITY"}};
    for (const auto& disk : inventory.disks)
        rows.push_back(
            {disk.name, disk.type, disk.mount, gib(disk.capacity), gib(disk.free), place(disk.numa_node),
             number(disk.iops.value), disk.latency ? std::to_string(disk.latency.value) + "us" : "",
             rate(disk.bandwidth),
             disk.iops_stability_ratio > 0 ? fmt::format("{:.2f}", disk.iops_stability_ratio) : ""});
    out << "\n";
    print_rows(out, rows);
}

void print_networks(std::ostream& out, const NodeInventory& inventory) {
    std::vector<Row> rows = {{"NETWORK", "SPEED", "RDMA", "NUMA"}};
    for (const auto& network : inventory.networks)
        rows.push_back({network.name, network.speed_mbps ? std::to_string(network.speed_mbps) + "Mb/s" : "",
                        network.rdma_device, place(network.numa_node)});
    if (rows.size() == 1) return;
    out << "\n";
    print_rows(out, rows);
}

}  // namespace

void print_inventory(std::ostream& out, const NodeInventory& inventory, const NodeSample& sample) {
    if (inventory.simulated) out << "SIMULATED: what follows comes from a test double, not from hardware\n";
    out << fmt::format("os        {}\n", inventory.os);
    out << fmt::format("cpu       {}, {} socket(s), {} cores usable, {:.0f}% busy\n", inventory.cpu_model,
                       inventory.sockets, format(inventory.cpu), sample.cpu_percent);
    out << fmt::format("features  {}\n", joined(inventory.cpu_features, " "));
    out << fmt::format("memory    {} usable, {} used\n", gib(inventory.memory), gib(sample.memory_used));
    print_domains(out, inventory);
    print_cards(out, inventory, sample);
    print_disks(out, inventory);
    print_networks(out, inventory);
}

void print_measured(std::ostream& out, const hw::ProbeMeasured& measured) {
    std::vector<Row> memory = {{"NUMA", "BANDWIDTH"}};
    for (const auto& domain : measured.cpu.numa_nodes)
        memory.push_back({std::to_string(domain.id), rate(domain.memory_bandwidth)});
    print_rows(out, memory);
    std::vector<Row> disks = {
        {"DISK", "READ IOPS", "WRITE IOPS", "LATENCY", "P99", "READ", "WRITE", "STABILITY", "BY"}};
    for (const auto& [name, disk] : measured.ssd)
        disks.push_back({name, number(disk.iops.value), number(disk.write_iops.value),
                         fmt::format("{:.1f}us", disk.latency_us),
                         fmt::format("{:.0f}us", disk.latency_p99_us), rate(disk.bandwidth),
                         rate(disk.write_bandwidth), fmt::format("{:.2f}", disk.iops_stability_ratio),
                         disk.use_io_uring.value_or(false) ? "io_uring" : "threads"});
    out << "\n";
    print_rows(out, disks);
}

void print_models(std::ostream& out) {
    std::vector<Row> rows = {{"MODEL", "MEMORY", "SMS", "BANDWIDTH", "CC", "PRECISIONS", "MIG", "SOURCE"}};
    for (const auto& model : hw::known_gpus()) {
        std::string profiles;
        for (const auto& partition : hw::mig_partitions(model))
            profiles += (profiles.empty() ? "" : " ") + partition.name + ":" +
                        std::to_string(partition.starts.size());
        rows.push_back(
            {std::string(model.name), format(Mebibytes(model.memory_mib)), std::to_string(model.sm_count),
             fmt::format("{:.0f}GB/s", model.memory_bandwidth_gbps), std::string(model.compute_capability),
             std::string(model.precisions), profiles, std::string(model.source)});
    }
    print_rows(out, rows);
}

}  // namespace crater::probe
