// One NVIDIA card read through NVML.
#pragma once

#include <span>
#include <string>

#include "crater/model/node.h"
#include "nvml.h"
#include "tree.h"

namespace crater::hw::nvidia {

// All but the NVLink peers. `healthy` reflects what the card itself says (lost, rows that could not be
// remapped).
Gpu read_card(const nvml::Library& library, nvml::Device device, std::int64_t index, const Tree& tree);
GpuSample sample_card(const nvml::Library& library, nvml::Device device, std::int64_t index);
// Why tasks must not be placed on it; "" when nothing is known against it.
std::string card_fault(const nvml::Library& library, nvml::Device device);
// Fills `nvlink_peers` of all; cards[i] belongs to devices[i], null where a card is lost.
void link_cards(const nvml::Library& library, std::span<const nvml::Device> devices, std::span<Gpu> cards);
// A fault of the hardware or driver, not of a program on it.
bool fatal_xid(std::uint64_t xid);

}  // namespace crater::hw::nvidia
