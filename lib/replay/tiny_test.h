// A trace of three servers and six pods, written out.
#pragma once

#include <gtest/gtest.h>

#include <sstream>

#include "crater/replay/trace.h"

namespace crater::replay {

struct TinyTrace {
    std::string servers =
        "sn,cpu_milli,memory_mib,gpu,model\n"
        "a,32000,65536,2,T4\n"
        "b,64000,131072,4,G2\n"
        "c,16000,32768,1,T4\n";
    std::string pods =
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n"
        "pod-0000,4000,8192,1,500,,LS\n"
        "pod-0001,4000,8192,1,500,,LS\n"
        "pod-0002,8000,16384,2,1000,G2,LS\n"
        "pod-0003,2000,1024,0,0,T4,BE\n"
        "pod-0004,4000,4096,1,1000,T4|V100,LS\n"
        "pod-0017,4000,8192,1,2000,P100,LS\n";
    std::string arrivals =
        "arrival 7 2 0 4 1 3 17\n"
        "rank 7 2 0 1\n"
        "arrival 8 0\n"
        "rank 8 0 1 2\n";

    Result<Trace> parse(std::uint64_t seed = 7) const {
        std::istringstream s(servers), p(pods), a(arrivals);
        return parse_trace({s, p, a, "servers.csv", "pods.csv", "arrivals.txt"}, "tiny", seed);
    }
    Trace read(std::uint64_t seed = 7) const {
        auto trace = parse(seed);
        EXPECT_TRUE(trace) << trace.error().text();
        return *std::move(trace);
    }
};

}  // namespace crater::replay
