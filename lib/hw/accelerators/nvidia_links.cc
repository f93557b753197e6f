// Which cards have a direct NVLink, also through NVSwitch.
#include <algorithm>
#include <optional>
#include <string_view>

#include "accelerators/nvidia_card.h"

namespace crater::hw::nvidia {
namespace {

using nvml::call;
using nvml::success;

// The driver's own answer; nothing when it has none.
std::optional<bool> driver_says_linked(const nvml::Library& library, nvml::Device a, nvml::Device b) {
    constexpr int nvlink_capability = 2, ok = 0;
    int status = -1;
    if (call(library.p2p_status, a, b, nvlink_capability, &status) != success) return std::nullopt;
    return status == ok;
}

struct Links {
    std::vector<std::uint64_t> cards;  // (bus, device) keys of the remote ends
    bool outside = false;              // an active link to something that is no card: a switch
};

std::uint64_t bus_key(const nvml::PciInfo& info) {
    return (std::uint64_t{info.domain} << 32) | (std::uint64_t{info.bus} << 8) | info.device;
}

Links active_links(const nvml::Library& library, nvml::Device device, std::span<const std::uint64_t> cards) {
    constexpr std::uint32_t links_max = 36;
    Links out;
    for (std::uint32_t link = 0; link < links_max; ++link) {
        int active = 0;
        nvml::PciInfo remote{};
        if (call(library.nvlink_state, device, link, &active) != success || !active) continue;
        if (call(library.nvlink_remote, device, link, &remote) != success) continue;
        if (std::find(cards.begin(), cards.end(), bus_key(remote)) != cards.end())
            out.cards.push_back(bus_key(remote));
        else
            out.outside = true;
    }
    return out;
}

}  // namespace

void link_cards(const nvml::Library& library, std::span<const nvml::Device> devices, std::span<Gpu> cards) {
    std::vector<std::uint64_t> keys(devices.size(), ~std::uint64_t{0});
    std::vector<Links> links(devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) {
        nvml::PciInfo info{};
        if (devices[i] && call(library.pci_info, devices[i], &info) == success) keys[i] = bus_key(info);
    }
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (devices[i]) links[i] = active_links(library, devices[i], keys);

    const auto linked = [&](std::size_t i, std::size_t j) {
        if (auto said = driver_says_linked(library, devices[i], devices[j])) return *said;
        const auto& ends = links[i].cards;
        return std::find(ends.begin(), ends.end(), keys[j]) != ends.end() ||
               (links[i].outside && links[j].outside);
    };
    for (std::size_t i = 0; i < devices.size(); ++i)
        for (std::size_t j = 0; j < devices.size(); ++j)
            if (i != j && devices[i] && devices[j] && linked(i, j))
                cards[i].nvlink_peers.push_back(cards[j].index);
}

}  // namespace crater::hw::nvidia
