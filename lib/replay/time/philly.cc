// The Philly trace: one job a line, real arrivals and durations.
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "crater/base/ids.h"
#include "crater/replay/workload.h"
#include "csv.h"

namespace crater::replay {
namespace {

// "2017-10-09 07:01:55" in seconds; -1 when it is none.
std::int64_t seconds_of(std::string_view text) {
    std::tm t{};
    const std::string copy(text);
    const char* end = ::strptime(copy.c_str(), "%Y-%m-%d %H:%M:%S", &t);
    return end && !*end ? ::timegm(&t) : -1;
}

bool run_seconds(std::string_view text, double& out) {
    const std::string copy(text);
    char* end = nullptr;
    out = std::strtod(copy.c_str(), &end);
    return end != copy.c_str() && !*end && out >= 0 && out < 1e10;
}

}  // namespace

void split_over_nodes(TimedJob& job, int cards, const Fleet& fleet) {
    job.tasks = 1;
    job.cards = cards;
    while (job.cards > fleet.cards || job.tasks * job.cards != cards) {
        ++job.tasks;
        job.cards = cards / job.tasks;
    }
}

void relax_locality(Workload& workload) {
    for (auto& job : workload.jobs) {
        if (job.shares_card() || job.all_cards() == 1) continue;
        job.tasks = job.all_cards();
        job.cards = 1;
        job.near = true;
    }
}

double offered_load(const Workload& workload) {
    if (workload.jobs.empty()) return 0;
    double asked = 0;
    for (const auto& job : workload.jobs)
        asked += static_cast<double>(job.run_time.count()) * job.all_cards();
    const auto span = workload.jobs.back().submitted - workload.jobs.front().submitted;
    return asked / static_cast<double>(std::max<std::int64_t>(1, span.count())) / workload.fleet.total();
}

Result<Workload> parse_philly(std::istream& in, const std::string& named, const Fleet& fleet) {
    enum : std::size_t { timestamp, duration, num_gpus };
    Csv csv(in, named);
    CRATER_TRY_VOID(csv.columns({"timestamp", "duration", "num_gpus"}));
    Workload out;
    out.name = "philly";
    out.fleet = fleet;
    std::vector<std::pair<std::int64_t, TimedJob>> rows;
    while (csv.next()) {
        const auto at = seconds_of(csv.text(timestamp));
        if (at < 0)
            return fail(Code::invalid,
                        "timestamp is " + shown(csv.text(timestamp)) + "; YYYY-MM-DD HH:MM:SS is needed",
                        csv.place());
        TimedJob job;
        double seconds = 0;
        if (!run_seconds(csv.text(duration), seconds))
            return fail(Code::invalid,
                        "duration is " + shown(csv.text(duration)) + "; seconds of 0 or more are needed",
                        csv.place());
        job.run_time = Millis(std::max<std::int64_t>(1000, static_cast<std::int64_t>(seconds * 1000)));
        CRATER_TRY(cards, csv.number(num_gpus, 1, fleet.total()));
        split_over_nodes(job, cards, out.fleet);
        rows.emplace_back(at, job);
    }
    if (rows.empty()) return fail(Code::invalid, "has no job", named);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [at, job] : rows) {
        job.submitted = Millis((at - rows.front().first) * 1000);
        out.jobs.push_back(job);
    }
    return out;
}

Result<Workload> read_philly(const std::string& folder, const Fleet& fleet) {
    const auto path = std::filesystem::path(folder) / "philly.csv";
    std::ifstream in(path);
    if (!in)
        return fail(Code::not_found, "there is no file " + path.string(), "trace",
                    "a folder with philly.csv is needed, such as ../shared/bench/philly");
    return parse_philly(in, path.filename().string(), fleet);
}

}  // namespace crater::replay
