// What the tests of the world share.
#pragma once

#include <gtest/gtest.h>

#include "crater/sim/world.h"

namespace crater::sim {

using std::chrono::minutes;
using std::chrono::seconds;

inline JobSpec work(std::int64_t cards, Millis duration) {
    JobSpec spec;
    spec.type = JobType::training;
    spec.command.argv = {"work"};
    spec.resources.gpu.count = MilliGpu(cards * 1000);
    spec.resources.cpu.cores = MilliCpu(1000);
    spec.resources.memory.size = Bytes(1ll << 30);
    spec.duration = duration;
    return spec;
}

inline ::testing::AssertionResult sound(const World& world) {
    if (world.violations().empty()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << world.violations()[0].checker << ": " << world.violations()[0].text << "\n"
           << world.trace(80);
}

}  // namespace crater::sim
