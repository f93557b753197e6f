/* The simulated cards, as the file named by CRATER_FAKE_NVML describes them now. */
#ifndef CRATER_FAKE_NVML_STATE_H
#define CRATER_FAKE_NVML_STATE_H

enum { CARDS_MAX = 64, TEXT_MAX = 96 };

struct card {
    char name[TEXT_MAX], uuid[TEXT_MAX], nvlink[16];
    unsigned domain, bus, device;
    unsigned long long memory_mib, used_mib, ecc;
    unsigned utilization, temperature, power_mw, cuda_cores, bus_width, memory_clock, xid;
    int cc_major, cc_minor, mig, lost, remap_pending, remap_failed;
};

struct state {
    int count;
    struct card cards[CARDS_MAX];
};

/* 0 when the file cannot be read: no driver. */
int read_state(struct state* out);

#endif
