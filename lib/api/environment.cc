#include "environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "crater/base/ids.h"

namespace crater::api {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t names_max = 2048, name_bytes_max = 256, value_bytes_max = 128 << 10;

// Set for every task from what it holds; a document that set them would be overruled, so it is refused.
constexpr std::array given{"CRATER_ARRAY_INDEX"sv,     "CRATER_JOB_ID"sv,
                           "CRATER_TASK_INDEX"sv,      "CRATER_GPU_IDS"sv,
                           "CRATER_GPU_MEMORY_MB"sv,   "CRATER_CPU_CORES"sv,
                           "CRATER_CPU_SET"sv,         "CRATER_NUMA_NODE"sv,
                           "CRATER_CHECKPOINT_PATH"sv, "CRATER_RESUME_FROM"sv,
                           "CRATER_TEMP_PATH"sv,       "CRATER_IO_SOCKET"sv,
                           "CRATER_OUTPUT_PATH"sv,     "CUDA_VISIBLE_DEVICES"sv,
                           "NVIDIA_VISIBLE_DEVICES"sv, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"sv};
constexpr std::array rendezvous{"MASTER_ADDR"sv, "MASTER_PORT"sv, "WORLD_SIZE"sv, "NODE_RANK"sv};
constexpr std::array secrets{"TOKEN"sv, "SECRET"sv, "PASSWORD"sv, "KEY"sv};

}  // namespace

Result<void> check_environment(const std::map<std::string, std::string>& env, bool gang) {
    if (env.size() > names_max)
        return fail(Code::invalid, fmt::format("{} names; at most {}", env.size(), names_max), "env");
    for (const auto& [name, value] : env) {
        if (name.empty()) return fail(Code::invalid, "a name is empty", "env");
        if (name.find_first_of("=\0"sv) != std::string::npos)
            return fail(Code::invalid, shown(name) + " cannot be a name: it holds = or NUL", "env");
        if (name.size() > name_bytes_max || !valid_utf8(name))
            return fail(Code::invalid, shown(name) + " cannot be a name: at most 256 bytes of UTF-8", "env");
        const std::string at = "env." + name;
        if (value.find('\0') != std::string::npos) return fail(Code::invalid, "the value holds NUL", at);
        if (value.size() + name.size() + 2 > value_bytes_max)
            return fail(Code::invalid,
                        fmt::format("the value has {} bytes; name and value have room for {}", value.size(),
                                    value_bytes_max - 2),
                        at, "put it into a file");
        if (std::find(given.begin(), given.end(), name) != given.end())
            return fail(Code::invalid, name + " is set by Crater from what the task holds", at,
                        "leave it out");
        if (gang && std::find(rendezvous.begin(), rendezvous.end(), name) != rendezvous.end())
            return fail(Code::invalid, name + " is set by Crater for jobs of several tasks", at,
                        "leave it out");
    }
    return {};
}

bool secret_name(std::string_view name) {
    std::string upper(name);
    for (char& c : upper)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return std::any_of(secrets.begin(), secrets.end(),
                       [&](auto word) { return upper.find(word) != std::string::npos; });
}

}  // namespace crater::api
