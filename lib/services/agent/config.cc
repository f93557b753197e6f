#include <filesystem>
#include <nlohmann/json.hpp>

#include "crater/agent/agent.h"
#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "crater/codec/changed.h"
#include "crater/wire/http.h"

namespace crater::agent {
namespace {

// Cards are shared by memory, as the scheduler decides; the modes of the contract are not chosen here yet:
// accepted, so that one file serves, and said.
void leave_out_gpu_sharing(codec::Json& tree) {
    if (!tree.is_object()) return;
    for (auto it = tree.begin(); it != tree.end();) {
        if (snake_case(it.key()) != "gpu_sharing") {
            ++it;
            continue;
        }
        it = tree.erase(it);
        log::warning("this setting has no effect in this version", {{"setting", "gpu_sharing"}});
    }
}

Result<void> check_pool(const ResourcePool& pool, const std::string& at) {
    static const std::vector<std::string> types = {"gpu", "cpu", "memory", "disk"};
    if (std::find(types.begin(), types.end(), pool.type) == types.end())
        return fail(Code::invalid, "\"" + pool.type + "\" is none of gpu, cpu, memory, disk", at + ".type",
                    nearest(pool.type, types));
    // What says nothing of a pool of this type is a mistake, and would be without effect.
    const struct {
        bool said;
        const char *field, *type;
    } fields[] = {{!pool.devices.empty(), "devices", "gpu"},
                  {pool.cores > 0, "cores", "cpu"},
                  {pool.reserved_cores > 0, "reserved_cores", "cpu"},
                  {!pool.path.empty(), "path", "disk"}};
    for (const auto& row : fields)
        if (row.said && pool.type != row.type)
            return fail(Code::invalid, std::string("a pool of type ") + pool.type + " has none",
                        at + "." + row.field, std::string("of pools of type ") + row.type);
    if (pool.size && pool.type != "memory" && pool.type != "disk")
        return fail(Code::invalid, "a pool of type " + pool.type + " has no size", at + ".size",
                    "of pools of type memory and disk");
    return {};
}

}  // namespace

std::string cache_root(const Config& config) {
    constexpr const char* usual = "/crater-cache";
    if (!config.cache.path.empty()) return config.cache.path;
    std::error_code error;
    return std::filesystem::is_directory(usual, error) ? usual : config.data + "/cache";
}

std::vector<std::string> changed_settings(const Config& a, const Config& b) {
    return codec::changed_fields(a, b);
}

Result<Config> read_config(std::string_view yaml, std::string_view scheduler) {
    CRATER_TRY(tree, codec::parse_yaml(yaml));
    leave_out_gpu_sharing(tree);
    Config config;
    CRATER_TRY_VOID(codec::read_into(config, tree));
    if (!scheduler.empty()) config.scheduler_endpoint = {std::string(scheduler)};
    if (config.scheduler_endpoint.empty())
        return fail(Code::invalid, "the scheduler's address is missing", "scheduler_endpoint",
                    "such as http://10.0.0.1:8080");
    for (const std::string& endpoint : config.scheduler_endpoint)
        if (auto url = wire::parse_url(endpoint); !url)
            return fail(Code::invalid, url.error().message, "scheduler_endpoint", url.error().hint);
    if (!config.node_name.empty()) CRATER_TRY_VOID(check_id(config.node_name, "node_name"));
    for (std::size_t i = 0; i < config.resource_pools.size(); ++i)
        CRATER_TRY_VOID(check_pool(config.resource_pools[i], "resource_pools[" + std::to_string(i) + "]"));
    if (!config.log_level.empty()) CRATER_TRY_VOID(log::parse_level(config.log_level));
    if (!config.cache.path.empty() && !config.cache.path.starts_with('/'))
        return fail(Code::invalid, shown(config.cache.path) + " is not an absolute path", "cache.path",
                    "such as /crater-cache");
    if (config.heartbeat_interval >= config.heartbeat_timeout)
        return fail(Code::invalid, "must be shorter than heartbeat_timeout", "heartbeat_interval");
    return config;
}

}  // namespace crater::agent
