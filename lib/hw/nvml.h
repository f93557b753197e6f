// NVML by dlopen: the declarations that we need, ours, after the published ABI (NVML API 13). A function that
// the installed driver lacks is a null pointer and counts as "not supported".
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace crater::hw::nvml {

using Device = struct DeviceTag*;
using EventSet = struct EventSetTag*;

enum Return : int { success = 0, not_supported = 3, driver_not_loaded = 9, timeout = 10, gpu_is_lost = 15 };

struct Memory {
    std::uint64_t total, free, used;
};
struct MemoryV2 {
    std::uint32_t version;
    std::uint64_t total, reserved, free, used;
};
inline constexpr std::uint32_t memory_v2_version = sizeof(MemoryV2) | (2U << 24);
struct Utilization {
    std::uint32_t gpu, memory;
};
struct PciInfo {
    char bus_id_legacy[16];
    std::uint32_t domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};
struct EventData {
    Device device;
    std::uint64_t type, data;
    std::uint32_t gpu_instance, compute_instance;
};
inline constexpr std::uint64_t event_xid = 8;

// Name in the library, member, arguments.
#define CRATER_NVML_FUNCTIONS(X)                                                             \
    X(nvmlInit_v2, init, (void))                                                             \
    X(nvmlShutdown, shutdown, (void))                                                        \
    X(nvmlDeviceGetCount_v2, device_count, (std::uint32_t*))                                 \
    X(nvmlDeviceGetHandleByIndex_v2, device_by_index, (std::uint32_t, Device*))              \
    X(nvmlDeviceGetName, name, (Device, char*, std::uint32_t))                               \
    X(nvmlDeviceGetUUID, uuid, (Device, char*, std::uint32_t))                               \
    X(nvmlDeviceGetPciInfo_v3, pci_info, (Device, PciInfo*))                                 \
    X(nvmlDeviceGetMemoryInfo, memory, (Device, Memory*))                                    \
    X(nvmlDeviceGetMemoryInfo_v2, memory_v2, (Device, MemoryV2*))                            \
    X(nvmlDeviceGetUtilizationRates, utilization, (Device, Utilization*))                    \
    X(nvmlDeviceGetTemperature, temperature, (Device, int, std::uint32_t*))                  \
    X(nvmlDeviceGetPowerUsage, power, (Device, std::uint32_t*))                              \
    X(nvmlDeviceGetCudaComputeCapability, compute_capability, (Device, int*, int*))          \
    X(nvmlDeviceGetNumGpuCores, cuda_cores, (Device, std::uint32_t*))                        \
    X(nvmlDeviceGetMemoryBusWidth, memory_bus_width, (Device, std::uint32_t*))               \
    X(nvmlDeviceGetMaxClockInfo, clock_max, (Device, int, std::uint32_t*))                   \
    X(nvmlDeviceGetMigMode, mig_mode, (Device, std::uint32_t*, std::uint32_t*))              \
    X(nvmlDeviceGetP2PStatus, p2p_status, (Device, Device, int, int*))                       \
    X(nvmlDeviceGetNvLinkState, nvlink_state, (Device, std::uint32_t, int*))                 \
    X(nvmlDeviceGetNvLinkRemotePciInfo_v2, nvlink_remote, (Device, std::uint32_t, PciInfo*)) \
    X(nvmlDeviceGetTotalEccErrors, ecc_errors, (Device, int, int, std::uint64_t*))           \
    X(nvmlDeviceGetRemappedRows, remapped_rows,                                              \
      (Device, std::uint32_t*, std::uint32_t*, std::uint32_t*, std::uint32_t*))              \
    X(nvmlEventSetCreate, event_set_create, (EventSet*))                                     \
    X(nvmlEventSetFree, event_set_free, (EventSet))                                          \
    X(nvmlDeviceRegisterEvents, register_events, (Device, std::uint64_t, EventSet))          \
    X(nvmlEventSetWait_v2, event_wait, (EventSet, EventData*, std::uint32_t))

// One open library, initialised; shut down with the object.
class Library {
  public:
    // Null when the library is not there or finds no driver; `why` then says so.
    static std::unique_ptr<Library> open(const std::string& path, std::string& why);
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    bool fake() const { return fake_; }  // our test double: what it says is simulated

#define CRATER_NVML_MEMBER(symbol, member, arguments) int(*member) arguments = nullptr;
    CRATER_NVML_FUNCTIONS(CRATER_NVML_MEMBER)
#undef CRATER_NVML_MEMBER

  private:
    Library() = default;
    void* handle_ = nullptr;
    bool started_ = false, fake_ = false;
};

// Calls a function that may be missing.
template <class F, class... A>
int call(F* function, A... arguments) {
    return function ? function(arguments...) : static_cast<int>(not_supported);
}

}  // namespace crater::hw::nvml
