// What the parts of `crater simulate` share.
#pragma once

#include <string>
#include <vector>

#include "../commands.h"
#include "../print.h"
#include "crater/base/clock.h"
#include "crater/replay/replay.h"

namespace crater::cli {

struct SimulateOptions {
    std::vector<std::string> trace;  // a name and perhaps a folder, or a folder alone
    std::string workload = "default", seed = "42", policy = "price", arrivals;
    bool departures = false;
    double offered = 0.95;
    std::int64_t arrivals_count = 60'000;
    std::string holding_time = "1h";
    // Jobs with times.
    std::string generate, nodes, report, until, durations = "known", locality = "strict",
                                                checkpoint = "on_stop", resume_cost = "60s", span = "7d";
    std::vector<std::string> orders;
    double load = 0.75;
};

// Time this thread was computing: on a busy machine the rate of decisions stays that of a core.
class ComputingTime final : public Clock {
  public:
    Instant now() const override { return {}; }
    std::int64_t ticks_us() const override;
};

// A line that grows on a terminal; nothing elsewhere.
class ProgressLine {
  public:
    explicit ProgressLine(std::string what);
    ~ProgressLine();
    replay::Progress callback();

  private:
    void show(std::int64_t done, std::int64_t all);
    std::string what_;
    bool shown_;
    std::int64_t last_ = -1;
};

// Four digits behind the point.
double rounded(double value);

std::uint64_t seed_of(const std::string& given);
Millis duration_of(const std::string& field, const std::string& given);

// Pods one after the other, no time: how full does the cluster get?
void simulate_placement(Context& context, const SimulateOptions& options, const std::string& folder);
// Jobs that come, wait, run and end. `name`: philly or mix; empty with --generate.
void simulate_time(Context& context, const SimulateOptions& options, const std::string& name,
                   const std::string& folder);

}  // namespace crater::cli
