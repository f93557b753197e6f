#include <nlohmann/json.hpp>

#include "crater/agent/agent.h"
#include "crater/base/ids.h"
#include "crater/codec/codec.h"
#include "crater/wire/http.h"

namespace crater::agent {

Result<Config> read_config(std::string_view yaml) {
    CRATER_TRY(config, codec::read_yaml<Config>(yaml));
    if (config.scheduler_endpoint.empty())
        return fail(Code::invalid, "the scheduler's address is missing", "scheduler_endpoint", "such as http://10.0.0.1:8080");
    for (const std::string& endpoint : config.scheduler_endpoint)
        if (auto url = wire::parse_url(endpoint); !url) return fail(Code::invalid, url.error().message, "scheduler_endpoint", url.error().hint);
    if (!config.node_name.empty()) CRATER_TRY_VOID(check_id(config.node_name, "node_name"));
    static const std::vector<std::string> types = {"gpu", "cpu", "memory", "disk"};
    for (const ResourcePool& pool : config.resource_pools)
        if (std::find(types.begin(), types.end(), pool.type) == types.end())
            return fail(Code::invalid, "\"" + pool.type + "\" is none of gpu, cpu, memory, disk", "resource_pools.type", nearest(pool.type, types));
    if (config.heartbeat_interval >= config.heartbeat_timeout)
        return fail(Code::invalid, "must be shorter than heartbeat_timeout", "heartbeat_interval");
    return config;
}

}  // namespace crater::agent
