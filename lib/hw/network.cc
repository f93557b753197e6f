#include "network.h"

#include <algorithm>

namespace crater::hw {
namespace {

const std::string net = "/sys/class/net/";
const std::string infiniband = "/sys/class/infiniband/";

bool virtual_interface(std::string_view name) {
    constexpr std::string_view prefixes[] = {"veth",  "docker", "br-", "virbr", "cni", "flannel",
                                             "cali",  "cilium", "ifb", "dummy", "tun", "tap",
                                             "vxlan", "sit",    "gre", "kube-"};
    return name == "lo" || std::any_of(std::begin(prefixes), std::end(prefixes),
                                       [&](auto prefix) { return name.starts_with(prefix); });
}

bool hardware_interface(const Tree& tree, const std::string& name) {
    return tree.exists(net + name + "/device") || tree.exists(net + name + "/bonding");
}

std::string rdma_device(const Tree& tree, const std::string& interface) {
    for (const auto& device : tree.list(infiniband)) {
        if (tree.exists(infiniband + device + "/device/net/" + interface)) return device;
        if (tree.line(infiniband + device + "/parent") == interface) return device;  // software RDMA
    }
    return {};
}

}  // namespace

std::vector<NetworkInterface> read_networks(const Tree& tree) {
    std::vector<std::string> names, hardware;
    for (const auto& name : tree.list(net)) {
        if (virtual_interface(name)) continue;
        names.push_back(name);
        if (hardware_interface(tree, name)) hardware.push_back(name);
    }
    std::vector<NetworkInterface> out;
    for (const auto& name : hardware.empty() ? names : hardware) {
        NetworkInterface interface { .name = name, .rdma_device = rdma_device(tree, name) };
        interface.speed_mbps = std::max<std::int64_t>(0, tree.number(net + name + "/speed").value_or(0));
        interface.numa_node = tree.numa_node(net + name + "/device");
        out.push_back(std::move(interface));
    }
    return out;
}

NetworkCounters read_network_counters(const Tree& tree, const std::vector<NetworkInterface>& networks) {
    NetworkCounters sum;
    const std::string text = tree.text("/proc/net/dev");
    for (auto line : words(text, "\n")) {  // "  eth0: received-bytes packets ... sent-bytes ..."
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const auto name = trimmed(line.substr(0, colon));
        const auto parts = words(line.substr(colon + 1));
        if (parts.size() < 9 ||
            std::none_of(networks.begin(), networks.end(), [&](const auto& n) { return n.name == name; }))
            continue;
        sum.bytes_received += whole_number(parts[0]).value_or(0);
        sum.bytes_sent += whole_number(parts[8]).value_or(0);
    }
    return sum;
}

}  // namespace crater::hw
