// Measuring what the hardware really gives: memory bandwidth of each NUMA domain, and the disk behind a
// folder. Loads the machine while it runs, so it is asked for by a person and never by a daemon. Blocking;
// starts threads of its own and joins them.
#pragma once

#include <functional>
#include <string>

#include "crater/base/clock.h"
#include "crater/base/error.h"
#include "crater/hw/probe_config.h"
#include "crater/model/node.h"

namespace crater::hw {

struct CalibrateOptions {
    std::string path;    // folder on the disk to measure; a file is made in it and is gone whatever happens
    bool quick = false;  // some 10 s and at most 0.8 GB written, else some 60 s and at most 6 GB
};

// What is measured now, as step `done` of `steps`.
using CalibrateProgress = std::function<void(std::string_view what, int done, int steps)>;

// STREAM's triad on all usable CPUs of the domain, each thread on its own CPU and its own memory: the best of
// several rounds, counted as STREAM does (24 bytes an element).
BytesPerSecond measure_memory_bandwidth(const NumaDomain& domain, bool quick, const Clock& clock);

// Direct IO (no page cache) in 4 KiB blocks, 4 jobs of queue depth 64, through io_uring where kernel and
// build have it, else threads. Mean and p99 latency are those of single reads one after the other. Refused
// where direct IO is (tmpfs) and where space is short.
Result<ProbeDisk> measure_disk(const CalibrateOptions& options, const Clock& clock,
                               const CalibrateProgress& progress);

// All of it, for the domains and the first disk of `inventory`.
Result<ProbeMeasured> calibrate(const CalibrateOptions& options, const NodeInventory& inventory,
                                const Clock& clock, const CalibrateProgress& progress);

}  // namespace crater::hw
