/* One plugin per FAULT_x, each wrong in one way; `works` is right, and keeps what its configuration names. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "crater/plugin.h"

#ifndef FAULT_no_symbol

static int create(const char* config, void** context, char* error, size_t error_size) {
    (void)config, (void)context, (void)error, (void)error_size;
#ifdef FAULT_refuses
    snprintf(error, error_size, "the moon is in the wrong phase");
    return 7;
#endif
#ifdef FAULT_works
    *context = strdup(config);
#endif
    return 0;
}

static int filter(void* context, const crater_job_view* job, const crater_node_view* const* nodes,
                  size_t count, uint8_t* keep) {
    (void)context, (void)job, (void)nodes, (void)count, (void)keep;
#ifdef FAULT_works
    const char* kept = context;
    for (size_t i = 0; *kept && i < count; ++i) keep[i] = strstr(kept, nodes[i]->name) != NULL;
#endif
#ifdef FAULT_segfaults
    *(volatile int*)job->duration_ms = 1;
#endif
#ifdef FAULT_aborts
    abort();
#endif
#ifdef FAULT_exits
    exit(3);
#endif
#ifdef FAULT_hangs
    for (;;) {
    }
#endif
#ifdef FAULT_sleeps
    const struct timespec time = {0, 30 * 1000 * 1000};
    nanosleep(&time, NULL);
#endif
#ifdef FAULT_returns_five
    return 5;
#endif
#ifdef FAULT_scribbles
    /* Over everything it was shown: the head of the shared memory and all that follows. */
    char* page = (char*)((uintptr_t)job & ~(uintptr_t)4095);
    memset(page, 0xff, 4096);
    keep = (uint8_t*)page;
#endif
#ifdef FAULT_shuts_up
    for (int fd = 3; fd < 16; ++fd) close(fd);
    for (;;) pause();
#endif
#ifdef FAULT_hungry
    for (;;) memset(malloc(1 << 24), 1, 1 << 24);
#endif
    return 0;
}

static int score(void* context, const crater_job_view* job, const crater_node_view* const* nodes,
                 size_t count, double* out) {
    (void)context, (void)job, (void)nodes;
    for (size_t i = 0; i < count; ++i) out[i] = 0.5;
#ifdef FAULT_scores_nan
    out[count - 1] = NAN;
#endif
#ifdef FAULT_scores_two
    out[0] = 2;
#endif
#ifdef FAULT_leaves_out
    out[0] = NAN; /* what a score that was never written looks like */
    const double unwritten = NAN;
    for (size_t i = 0; i < count; ++i) out[i] = unwritten;
#endif
    return 0;
}

#ifdef FAULT_crashes_loading
__attribute__((constructor)) static void crash(void) { abort(); }
#endif
#ifdef FAULT_hangs_loading
__attribute__((constructor)) static void hang(void) {
    for (;;) pause();
}
#endif

const crater_plugin_descriptor* crater_plugin(void) {
    static crater_plugin_descriptor descriptor = {
        .abi_version = CRATER_PLUGIN_ABI_VERSION,
        .size = sizeof(crater_plugin_descriptor),
        .name = FAULT,
        .version = "1.0",
        .description = "For tests.",
        .create = create,
        .filter = filter,
        .score = score,
    };
#ifdef FAULT_other_version
    descriptor.abi_version = 99;
#endif
#ifdef FAULT_other_name
    descriptor.name = "somebody_else";
#endif
#ifdef FAULT_no_hooks
    descriptor.filter = NULL, descriptor.score = NULL;
#endif
#ifdef FAULT_shorter
    descriptor.size = offsetof(crater_plugin_descriptor, score); /* an older interface without score */
#endif
    return &descriptor;
}

#endif
