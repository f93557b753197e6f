#include "accelerators/nvidia_card.h"

#include <algorithm>
#include <cctype>

#include "crater/hw/source.h"

namespace crater::hw::nvidia {
namespace {

using nvml::call;
using nvml::success;

std::string text_of(int (*function)(nvml::Device, char*, std::uint32_t), nvml::Device device) {
    char buffer[96] = {};
    return call(function, device, buffer, static_cast<std::uint32_t>(sizeof buffer)) == success ? buffer : "";
}

// "00000000:3B:00.0" -> "0000:3b:00.0", as in /sys.
std::string sysfs_address(std::string_view bus_id) {
    std::string out(bus_id);
    if (out.find(':') == 8) out.erase(0, 4);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::string pci_address(const nvml::Library& library, nvml::Device device) {
    nvml::PciInfo info{};
    if (call(library.pci_info, device, &info) != success) return {};
    info.bus_id[sizeof info.bus_id - 1] = '\0';
    return sysfs_address(info.bus_id);
}

Mebibytes whole_mib(std::uint64_t bytes) { return Mebibytes(static_cast<std::int64_t>(bytes >> 20)); }

struct CardMemory {
    Mebibytes total, used;
};
CardMemory card_memory(const nvml::Library& library, nvml::Device device) {
    nvml::MemoryV2 v2{};
    v2.version = nvml::memory_v2_version;
    if (call(library.memory_v2, device, &v2) == success) return {whole_mib(v2.total), whole_mib(v2.used)};
    nvml::Memory v1{};
    if (call(library.memory, device, &v1) == success) return {whole_mib(v1.total), whole_mib(v1.used)};
    return {};
}

// What an architecture has, for models that are not in the table.
struct ArchitectureRow {
    int major, minor;
    std::uint32_t cores_per_sm;
    std::string_view precisions;
};
constexpr ArchitectureRow architectures[] = {
    {6, 0, 64, ""},
    {6, 1, 128, ""},
    {7, 0, 64, "fp16"},
    {7, 5, 64, "fp16 int8 int4"},
    {8, 0, 64, "tf32 bf16 fp16 int8 int4"},
    {8, 6, 128, "tf32 bf16 fp16 int8 int4"},
    {8, 9, 128, "tf32 bf16 fp16 fp8 int8 int4"},
    {9, 0, 128, "tf32 bf16 fp16 fp8 int8"},
    {10, 0, 128, "tf32 bf16 fp16 fp8 fp6 fp4 int8"},
    {12, 0, 128, "tf32 bf16 fp16 fp8 fp6 fp4 int8"},
};
const ArchitectureRow* architecture(int major, int minor) {
    const ArchitectureRow* best = nullptr;
    for (const auto& row : architectures)
        if (row.major == major && row.minor <= minor) best = &row;
    return best;
}

void add_precisions(Gpu& card, std::string_view list) {
    for (auto name : words(list)) card.precisions.emplace_back(name);
}

void describe_unknown_model(const nvml::Library& library, nvml::Device device, int major, int minor,
                            Gpu& card) {
    std::uint32_t cores = 0, width = 0, clock = 0;
    if (const auto* row = architecture(major, minor)) {
        if (call(library.cuda_cores, device, &cores) == success) card.sm_count = cores / row->cores_per_sm;
        add_precisions(card, row->precisions);
    }
    constexpr int memory_clock = 2;
    if (call(library.memory_bus_width, device, &width) == success &&
        call(library.clock_max, device, memory_clock, &clock) == success)  // MHz, two transfers a cycle
        card.memory_bandwidth = BytesPerSecond(static_cast<std::int64_t>(width) / 8 * clock * 2 * 1'000'000);
}

}  // namespace

Gpu read_card(const nvml::Library& library, nvml::Device device, std::int64_t index, const Tree& tree) {
    Gpu card{.index = index};
    card.model = normalised_gpu(text_of(library.name, device));
    card.uuid = text_of(library.uuid, device);
    card.pci_address = pci_address(library, device);
    if (!card.pci_address.empty())
        card.numa_node = tree.numa_node("/sys/bus/pci/devices/" + card.pci_address);
    card.memory = card_memory(library, device).total;
    int major = 0, minor = 0;
    if (call(library.compute_capability, device, &major, &minor) == success)
        card.compute_capability = std::to_string(major) + "." + std::to_string(minor);
    if (const GpuModel* model = find_gpu(card.model)) {
        card.sm_count = model->sm_count;
        card.memory_bandwidth = BytesPerSecond(static_cast<std::int64_t>(model->memory_bandwidth_gbps * 1e9));
        add_precisions(card, model->precisions);
        if (card.compute_capability.empty()) card.compute_capability = model->compute_capability;
    } else {
        describe_unknown_model(library, device, major, minor, card);
    }
    std::uint32_t now = 0, pending = 0;
    card.mig_enabled = call(library.mig_mode, device, &now, &pending) == success && now == 1;
    card.health_detail = card_fault(library, device);
    card.healthy = card.health_detail.empty();
    return card;
}

GpuSample sample_card(const nvml::Library& library, nvml::Device device, std::int64_t index) {
    GpuSample sample{.index = index};
    nvml::Utilization use{};
    if (call(library.utilization, device, &use) == success) sample.utilization_percent = use.gpu;
    std::uint32_t celsius = 0, milliwatts = 0;
    constexpr int core_sensor = 0;
    if (call(library.temperature, device, core_sensor, &celsius) == success)
        sample.temperature_celsius = celsius;
    if (call(library.power, device, &milliwatts) == success) sample.power_watts = milliwatts / 1000.0;
    sample.memory_used = card_memory(library, device).used;
    return sample;
}

std::string card_fault(const nvml::Library& library, nvml::Device device) {
    nvml::Memory memory{};
    if (call(library.memory, device, &memory) == nvml::gpu_is_lost)
        return "the card is lost: it fell off the bus";
    std::uint32_t corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    if (call(library.remapped_rows, device, &corrected, &uncorrected, &pending, &failed) == success) {
        if (failed) return "a faulty memory row could not be remapped";
        if (pending) return "a memory row waits to be remapped: the card needs a reset";
        return {};  // remapped rows do no harm
    }
    constexpr int uncorrected_errors = 1, since_driver_load = 0;
    std::uint64_t errors = 0;
    if (call(library.ecc_errors, device, uncorrected_errors, since_driver_load, &errors) == success &&
        errors > 0)
        return std::to_string(errors) + " uncorrected memory errors since the driver was loaded";
    return {};
}

bool fatal_xid(std::uint64_t xid) {
    // Faults of the program that ran, by NVIDIA's XID guide: 13 graphics exception, 31 page fault, 43 stopped
    // processing, 45 preemptive cleanup, 68 video processor, 109 context switch time-out; 63, 92 and 94 are
    // handled by the driver.
    constexpr std::uint64_t harmless[] = {13, 31, 43, 45, 63, 68, 92, 94, 109};
    return std::find(std::begin(harmless), std::end(harmless), xid) == std::end(harmless);
}

}  // namespace crater::hw::nvidia
