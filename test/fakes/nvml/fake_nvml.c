/* The NVML entry points that Crater uses, over the simulated cards. A handle is the card's index + 1. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "state.h"

#define EXPORT __attribute__((visibility("default")))

enum {
    SUCCESS = 0,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    DRIVER_NOT_LOADED = 9,
    TIMEOUT = 10,
    GPU_IS_LOST = 15
};

typedef void* device;
struct memory {
    uint64_t total, free, used;
};
struct memory_v2 {
    uint32_t version;
    uint64_t total, reserved, free, used;
};
struct utilization {
    uint32_t gpu, memory;
};
struct pci_info {
    char legacy[16];
    uint32_t domain, bus, device, id, subsystem;
    char bus_id[32];
};
struct event {
    device device;
    uint64_t type, data;
    uint32_t gi, ci;
};

/* By this symbol Crater knows that all it sees is simulated. */
EXPORT const int crater_fake_nvml = 1;

static unsigned last_xid[CARDS_MAX];

static int find_card(device handle, struct card* out) {
    static _Thread_local struct state state;
    const uintptr_t number = (uintptr_t)handle;
    if (!read_state(&state)) return DRIVER_NOT_LOADED;
    if (number < 1 || number > (uintptr_t)state.count) return INVALID_ARGUMENT;
    *out = state.cards[number - 1];
    return out->lost ? GPU_IS_LOST : SUCCESS;
}

#define CARD(handle)                                   \
    struct card card;                                  \
    const int found_card = find_card((handle), &card); \
    if (found_card != SUCCESS) return found_card

static int give_text(const char* text, char* out, uint32_t size) {
    if (strlen(text) + 1 > size) return INSUFFICIENT_SIZE;
    strcpy(out, text);
    return SUCCESS;
}

EXPORT int nvmlInit_v2(void) {
    struct state state;
    return read_state(&state) ? SUCCESS : DRIVER_NOT_LOADED;
}
EXPORT int nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    return nvmlInit_v2();
}
EXPORT int nvmlShutdown(void) { return SUCCESS; }

EXPORT int nvmlDeviceGetCount_v2(uint32_t* out) {
    struct state state;
    if (!read_state(&state)) return DRIVER_NOT_LOADED;
    *out = (uint32_t)state.count;
    return SUCCESS;
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(uint32_t index, device* out) {
    CARD((device)(uintptr_t)(index + 1));
    *out = (device)(uintptr_t)(index + 1);
    return SUCCESS;
}
EXPORT int nvmlDeviceGetName(device handle, char* out, uint32_t size) {
    CARD(handle);
    return give_text(card.name, out, size);
}
EXPORT int nvmlDeviceGetUUID(device handle, char* out, uint32_t size) {
    CARD(handle);
    return give_text(card.uuid, out, size);
}
EXPORT int nvmlDeviceGetPciInfo_v3(device handle, struct pci_info* out) {
    CARD(handle);
    memset(out, 0, sizeof *out);
    out->domain = card.domain;
    out->bus = card.bus;
    out->device = card.device;
    snprintf(out->bus_id, sizeof out->bus_id, "%08X:%02X:%02X.0", card.domain, card.bus & 0xff,
             card.device & 0xff);
    snprintf(out->legacy, sizeof out->legacy, "%04X:%02X:%02X.0", card.domain & 0xffff, card.bus & 0xff,
             card.device & 0xff);
    return SUCCESS;
}
EXPORT int nvmlDeviceGetMemoryInfo(device handle, struct memory* out) {
    CARD(handle);
    *out =
        (struct memory){card.memory_mib << 20, (card.memory_mib - card.used_mib) << 20, card.used_mib << 20};
    return SUCCESS;
}
EXPORT int nvmlDeviceGetMemoryInfo_v2(device handle, struct memory_v2* out) {
    CARD(handle);
    if (out->version != (sizeof *out | (2u << 24))) return INVALID_ARGUMENT;
    out->total = card.memory_mib << 20;
    out->used = card.used_mib << 20;
    out->reserved = 0;
    out->free = out->total - out->used;
    return SUCCESS;
}
EXPORT int nvmlDeviceGetUtilizationRates(device handle, struct utilization* out) {
    CARD(handle);
    *out = (struct utilization){card.utilization, 0};
    return SUCCESS;
}
EXPORT int nvmlDeviceGetTemperature(device handle, int sensor, uint32_t* out) {
    CARD(handle);
    if (sensor != 0) return INVALID_ARGUMENT;
    *out = card.temperature;
    return SUCCESS;
}
EXPORT int nvmlDeviceGetPowerUsage(device handle, uint32_t* out) {
    CARD(handle);
    *out = card.power_mw;
    return SUCCESS;
}
EXPORT int nvmlDeviceGetCudaComputeCapability(device handle, int* major, int* minor) {
    CARD(handle);
    *major = card.cc_major;
    *minor = card.cc_minor;
    return SUCCESS;
}
static int give_number(uint32_t value, uint32_t* out) {
    if (!value) return NOT_SUPPORTED;
    *out = value;
    return SUCCESS;
}
EXPORT int nvmlDeviceGetNumGpuCores(device handle, uint32_t* out) {
    CARD(handle);
    return give_number(card.cuda_cores, out);
}
EXPORT int nvmlDeviceGetMemoryBusWidth(device handle, uint32_t* out) {
    CARD(handle);
    return give_number(card.bus_width, out);
}
EXPORT int nvmlDeviceGetMaxClockInfo(device handle, int clock, uint32_t* out) {
    CARD(handle);
    return clock == 2 ? give_number(card.memory_clock, out) : NOT_SUPPORTED;
}
EXPORT int nvmlDeviceGetMigMode(device handle, uint32_t* now, uint32_t* pending) {
    CARD(handle);
    *now = *pending = (uint32_t)card.mig;
    return SUCCESS;
}
EXPORT int nvmlDeviceGetP2PStatus(device a, device b, int capability, int* out) {
    CARD(a);
    const uintptr_t i = (uintptr_t)a - 1, j = (uintptr_t)b - 1;
    const int linked = !strcmp(card.nvlink, "all") || (!strcmp(card.nvlink, "pairs") && (i ^ 1) == j);
    if (capability != 2) return NOT_SUPPORTED;
    *out = linked ? 0 : 5;
    return SUCCESS;
}
EXPORT int nvmlDeviceGetTotalEccErrors(device handle, int type, int counter, uint64_t* out) {
    CARD(handle);
    *out = type == 1 && counter == 0 ? card.ecc : 0;
    return SUCCESS;
}
EXPORT int nvmlDeviceGetRemappedRows(device handle, uint32_t* corrected, uint32_t* uncorrected,
                                     uint32_t* pending, uint32_t* failed) {
    CARD(handle);
    if (card.cc_major < 8) return NOT_SUPPORTED;
    *corrected = *uncorrected = 0;
    *pending = (uint32_t)card.remap_pending;
    *failed = (uint32_t)card.remap_failed;
    return SUCCESS;
}

EXPORT int nvmlEventSetCreate(void** out) {
    *out = last_xid;
    return SUCCESS;
}
EXPORT int nvmlEventSetFree(void* set) { return set == last_xid ? SUCCESS : INVALID_ARGUMENT; }
EXPORT int nvmlDeviceRegisterEvents(device handle, uint64_t types, void* set) {
    CARD(handle);
    return set == last_xid && (types & ~(uint64_t)8) == 0 ? SUCCESS : INVALID_ARGUMENT;
}
EXPORT int nvmlEventSetWait_v2(void* set, struct event* out, uint32_t timeout_ms) {
    struct state state;
    (void)timeout_ms; /* never waits: an event is there or it is not */
    if (set != last_xid || !read_state(&state)) return INVALID_ARGUMENT;
    for (int i = 0; i < state.count; ++i) {
        if (state.cards[i].xid == last_xid[i]) continue;
        last_xid[i] = state.cards[i].xid;
        if (!last_xid[i]) continue;
        memset(out, 0, sizeof *out);
        out->device = (device)(uintptr_t)(i + 1);
        out->type = 8;
        out->data = last_xid[i];
        return SUCCESS;
    }
    return TIMEOUT;
}
