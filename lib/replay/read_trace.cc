// From a folder and a name to the files of a trace.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "crater/base/ids.h"
#include "crater/replay/trace.h"

namespace crater::replay {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view pods_before = "openb_pod_list_", pods_after = ".csv";

std::vector<std::string> workloads_in(const fs::path& folder) {
    std::vector<std::string> out;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const auto name = entry.path().filename().string();
        if (name.starts_with(pods_before) && name.ends_with(pods_after))
            out.push_back(
                name.substr(pods_before.size(), name.size() - pods_before.size() - pods_after.size()));
    }
    std::sort(out.begin(), out.end());
    return out;
}

Result<std::ifstream> open_file(const fs::path& path, const std::string& field) {
    std::ifstream file(path);
    if (!file) return fail(Code::invalid, path.string() + " cannot be read: " + std::strerror(errno), field);
    return file;
}

}  // namespace

Result<Trace> read_trace(const TraceSource& source) {
    const fs::path folder = source.folder;
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored))
        return fail(Code::invalid, "there is no folder " + shown(source.folder), "trace",
                    "give the folder that holds openb_node_list_gpu_node.csv");
    const auto servers_path = folder / "openb_node_list_gpu_node.csv";
    CRATER_TRY(servers, open_file(servers_path, "trace"));

    const auto known = workloads_in(folder);
    if (std::find(known.begin(), known.end(), source.workload) == known.end()) {
        std::string all;
        for (const auto& name : known) all += (all.empty() ? "" : ", ") + name;
        const auto close = nearest(source.workload, known);
        return fail(Code::invalid,
                    shown(source.workload) + " is not in the folder; it has " + (all.empty() ? "none" : all),
                    "workload", close.empty() ? "" : "did you mean '" + close + "'?");
    }
    const auto pods_path = folder / (std::string(pods_before) + source.workload + std::string(pods_after));
    CRATER_TRY(pods, open_file(pods_path, "workload"));
    const auto arrivals_path = source.arrivals.empty()
                                   ? folder / "arrivals_compact" / (source.workload + ".txt")
                                   : fs::path(source.arrivals);
    auto arrivals = open_file(arrivals_path, "arrivals");
    if (!arrivals) {
        arrivals.error().hint = "--arrivals FILE names another file with the order of arrivals";
        return fail(std::move(arrivals.error()));
    }
    const TraceFiles files{servers,
                           pods,
                           *arrivals,
                           servers_path.filename().string(),
                           pods_path.filename().string(),
                           arrivals_path.filename().string()};
    return parse_trace(files, source.workload, source.seed);
}

}  // namespace crater::replay
