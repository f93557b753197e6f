#include "crater/hw/probe_config.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "crater/base/ids.h"
#include "crater/codec/codec.h"
#include "tree.h"

namespace crater::hw {
namespace {

const ProbeNuma* domain_of(const ProbeCpu& cpu, std::int64_t id) {
    for (const auto& domain : cpu.numa_nodes)
        if (domain.id == id) return &domain;
    return nullptr;
}

void apply_domain(const ProbeNuma& from, NumaDomain& to) {
    if (from.memory_bandwidth) to.memory_bandwidth = from.memory_bandwidth;
    if (from.cores.cpus.empty()) return;
    NumaDomain kept = to;
    kept.cpus.clear();
    kept.core_of.clear();
    for (std::size_t i = 0; i < to.cpus.size(); ++i) {
        if (!std::binary_search(from.cores.cpus.begin(), from.cores.cpus.end(), to.cpus[i])) continue;
        kept.cpus.push_back(to.cpus[i]);
        kept.core_of.push_back(to.core_of[i]);
    }
    to = std::move(kept);
}

void apply_disk(const std::map<std::string, ProbeDisk>& config, Disk& disk) {
    const auto found = config.find(disk.name);
    if (found == config.end()) return;
    const ProbeDisk& from = found->second;
    if (from.iops) disk.iops = from.iops;
    if (from.latency_us > 0) disk.latency = Micros(static_cast<std::int64_t>(std::ceil(from.latency_us)));
    if (from.bandwidth) disk.bandwidth = from.bandwidth;
    if (from.iops_stability_ratio > 0) disk.iops_stability_ratio = from.iops_stability_ratio;
}

void apply_card(const std::map<std::string, ProbeGpu>& config, Gpu& card) {
    const auto found = config.find(card.model);
    if (found == config.end()) return;
    const ProbeGpu& from = found->second;
    if (from.sm_count > 0) card.sm_count = from.sm_count;
    if (from.memory_bandwidth) card.memory_bandwidth = from.memory_bandwidth;
    if (!from.tensor_core_support.value_or(true)) card.precisions.clear();
}

// Reads `text` over `config`: fields that it lacks stay.
Result<void> read_probe_over(ProbeConfig& config, std::string_view text) {
    CRATER_TRY(tree, codec::parse_yaml(text));
    std::optional<bool> ring;  // `ssd: {use_io_uring: true, nvme0n1: {...}}`
    if (tree.is_object() && tree.contains("ssd") && tree["ssd"].is_object()) {
        auto& ssd = tree["ssd"];
        for (const auto* key : {"use_io_uring", "useIoUring", "use-io-uring"})
            if (ssd.contains(key) && ssd[key].is_boolean()) {
                ring = ssd[key].get<bool>();
                ssd.erase(key);
            }
    }
    CRATER_TRY_VOID(codec::read_into(config, tree));
    if (ring)
        for (auto& [name, disk] : config.ssd)
            if (!disk.use_io_uring) disk.use_io_uring = ring;
    return {};
}

Result<void> read_probe_file(ProbeConfig& config, const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        std::error_code error;
        if (!std::filesystem::exists(path, error)) return {};
        return fail(Code::invalid, "cannot read " + shown(path));
    }
    std::ostringstream text;
    text << in.rdbuf();
    auto read = read_probe_over(config, text.str());
    if (!read) read.error().message += " (in " + path + ")";
    return read;
}

}  // namespace

Result<void> from_list(std::vector<std::string> words, CpuSet& out) {
    std::set<std::int64_t> cpus;
    for (const auto& word : words) {
        const auto some = cpu_list(word);
        if (some.empty())
            return fail(Code::invalid, shown(word) + " names no CPUs; allowed: \"0-31\", \"0,2,4\"");
        cpus.insert(some.begin(), some.end());
    }
    out.cpus.assign(cpus.begin(), cpus.end());
    return {};
}

Result<void> from_text(std::string_view text, CpuSet& out) { return from_list({std::string(text)}, out); }

std::vector<std::string> to_list(const CpuSet& set) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < set.cpus.size();) {
        std::size_t last = i;
        while (last + 1 < set.cpus.size() && set.cpus[last + 1] == set.cpus[last] + 1) ++last;
        out.push_back(std::to_string(set.cpus[i]));
        if (last > i) out.back() += "-" + std::to_string(set.cpus[last]);
        i = last + 1;
    }
    return out;
}

Result<ProbeConfig> parse_probe_config(std::string_view yaml) {
    ProbeConfig config;
    CRATER_TRY_VOID(read_probe_over(config, yaml));
    return config;
}

Result<ProbeConfig> read_probe_config(const std::string& path) {
    ProbeConfig config;
    std::error_code error;
    if (path.empty()) return config;
    if (!std::filesystem::is_directory(path, error)) {
        CRATER_TRY_VOID(read_probe_file(config, path));
        return config;
    }
    for (const auto* name : {"probe-config.yaml", "gpu_topology.yaml", "cpu_topology.yaml"})
        CRATER_TRY_VOID(read_probe_file(config, path + "/" + name));
    return config;
}

void apply(const ProbeConfig& config, NodeInventory& inventory) {
    for (auto& domain : inventory.numa)
        for (const ProbeCpu* cpu : {&config.measured.cpu, &config.cpu})
            if (const ProbeNuma* from = domain_of(*cpu, domain.id)) apply_domain(*from, domain);
    for (auto& disk : inventory.disks)
        for (const auto* disks : {&config.measured.ssd, &config.ssd}) apply_disk(*disks, disk);
    for (auto& card : inventory.gpus) apply_card(config.gpu, card);
}

std::string with_measured(std::string_view text, const ProbeMeasured& measured) {
    std::string out;
    bool inside = false;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
        const auto line = text.substr(at, end - at);
        at = end;
        if (line.starts_with("measured:"))
            inside = true;
        else if (inside && !line.starts_with(' ') && !line.starts_with('\t') && line != "\n")
            inside = false;
        if (!inside) out += line;
    }
    while (out.ends_with("\n\n")) out.pop_back();
    if (!out.empty() && !out.ends_with('\n')) out += '\n';
    const auto block = codec::yaml_of_json("{\"measured\":" + codec::write_json(measured) + "}");
    CRATER_CHECK(block.has_value());
    return out + *block + (block->ends_with('\n') ? "" : "\n");
}

}  // namespace crater::hw
