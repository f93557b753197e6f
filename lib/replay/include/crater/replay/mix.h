// The `mix`: training and inference services on one cluster, composed from published traces and a seed.
// docs/simulate.md says what it is made of and why.
#pragma once

#include "crater/replay/workload.h"

namespace crater::replay {

struct MixOptions {
    std::uint64_t seed = 42;
    Millis span{7 * 86'400'000LL};
    // Cards asked for at any time as a whole-card scheduler counts them, as a part of the fleet's. Well above
    // 1 both kinds always wait.
    double load = 0.75;
    double services = 0.5;  // part of that which services ask for
};

// Requests per second over the day, one value for each of equal parts of it, of mean 1.
struct RequestRate {
    std::vector<double> part;
    double at(double of_day) const;  // of_day: 0 to 1
};
// From the Azure LLM trace. It holds one hour: its course is stretched over the day.
Result<RequestRate> read_request_rate(const std::string& folder);
Result<RequestRate> parse_request_rate(std::istream& in, const std::string& named);

Workload compose_mix(const Workload& philly, const RequestRate& rate, const MixOptions& options);

// The part of services with which a backlogged scheduler that gives whole cards has three quarters of its
// held cards under them; found by trying, the same for a seed.
double services_for_three_quarters(const Workload& philly, const RequestRate& rate, MixOptions options);

}  // namespace crater::replay
