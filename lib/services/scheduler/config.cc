#include "crater/scheduler/config.h"

#include <nlohmann/json.hpp>

#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "crater/codec/changed.h"

namespace crater::scheduler {
namespace {

using codec::Json;

// The value under a key in any of its spellings; null when there is none.
Json* member(Json& tree, std::string_view key) {
    if (!tree.is_object()) return nullptr;
    for (auto& [name, value] : tree.items())
        if (snake_case(name) == key) return &value;
    return nullptr;
}
void drop(Json& tree, std::string_view key) {
    for (auto it = tree.begin(); it != tree.end();)
        it = snake_case(it.key()) == key ? tree.erase(it) : std::next(it);
}

// "weights: {gpu_memory: 0.45}" -> "capacity_gpu_memory: 0.45"
Result<void> flatten(Json& scheduling, std::string_view group, std::string_view prefix) {
    Json* found = member(scheduling, group);
    if (!found) return {};
    const Json weights = *found;
    const std::string path = "scheduling." + std::string(group);
    if (!weights.is_object()) return fail(Code::invalid, "an object of weights is expected", path);
    drop(scheduling, group);
    for (const auto& [name, value] : weights.items()) {
        const std::string key = std::string(prefix) + snake_case(name);
        if (member(scheduling, key))
            return fail(Code::invalid, "given twice", path + "." + name, "it is also " + key);
        scheduling[key] = value;
    }
    return {};
}

// Parts of the contract that this version does not have yet: accepted, so that one file serves, and said.
void leave_out(Json& tree, std::string_view key, std::string_view path) {
    if (!member(tree, key)) return;
    drop(tree, key);
    log::warning("this setting has no effect in this version",
                 {{"setting", std::string(path) + std::string(key)}});
}

Result<void> check(const Config& config) {
    const auto positive = [](Millis value, const char* field) -> Result<void> {
        if (value >= Millis(100)) return {};
        return fail(Code::invalid, "too short: " + format(value), field, "at least 100ms");
    };
    CRATER_TRY_VOID(positive(config.heartbeat_interval, "heartbeat_interval"));
    CRATER_TRY_VOID(positive(config.heartbeat_timeout, "heartbeat_timeout"));
    CRATER_TRY_VOID(positive(config.sample_interval, "sample_interval"));
    if (config.heartbeat_timeout <= config.heartbeat_interval)
        return fail(Code::invalid,
                    format(config.heartbeat_timeout) + " is not longer than heartbeat_interval, " +
                        format(config.heartbeat_interval),
                    "heartbeat_timeout", "use some three times the interval");
    if (config.defragmentation.interval < Millis(60'000))
        return fail(Code::invalid, "too short: " + format(config.defragmentation.interval),
                    "defragmentation.interval", "at least 1m; moves cost work");
    if (!config.log_level.empty()) CRATER_TRY_VOID(log::parse_level(config.log_level));
    for (const auto& [name, caps] : config.quota_policies) CRATER_TRY_VOID(check_id(name, "quota_policies"));
    if (config.plugin_budget < Millis(1) || config.plugin_budget > Millis(1'000))
        return fail(Code::invalid, format(config.plugin_budget) + " is not between 1ms and 1s",
                    "plugin_budget", "decisions wait that long");
    std::vector<std::string> names;
    for (std::size_t i = 0; i < config.queues.size(); ++i) {
        const std::string field = "queues[" + std::to_string(i) + "].";
        CRATER_TRY_VOID(check_queue(config.queues[i], field));
        if (std::find(names.begin(), names.end(), config.queues[i].name) != names.end())
            return fail(Code::invalid, "two queues are called " + shown(config.queues[i].name),
                        field + "name");
        names.push_back(config.queues[i].name);
    }
    if (!config.path_prefix.empty() &&
        (config.path_prefix.front() != '/' || config.path_prefix.back() == '/'))
        return fail(Code::invalid, shown(config.path_prefix) + " is no prefix", "path_prefix",
                    "such as /crater");
    if (config.tls && (config.tls->certificate.empty() || config.tls->key.empty()))
        return fail(Code::invalid, "TLS needs a certificate and a key", "tls", "both are PEM files");
    return {};
}

}  // namespace

std::vector<QueueSpec> Config::default_queues() {
    return {{.name = "training", .policy = Policy::price, .priority = {500}, .types = {JobType::training}},
            {.name = "inference",
             .policy = Policy::spread,
             .priority = {700},
             .types = {JobType::inference, JobType::interactive}},
            {.name = "offline",
             .policy = Policy::price,
             .priority = {100},
             .default_preemptible = true,
             .types = {JobType::batch}}};
}

std::vector<std::string> changed_settings(const Config& a, const Config& b) {
    return codec::changed_fields(a, b);
}

bool reloadable(std::string_view setting) {
    for (const std::string_view hot :
         {"scheduling", "defragmentation", "queues", "quota_policies", "heartbeat_interval",
          "heartbeat_timeout", "sample_interval", "lost_grace", "decision_retention", "log_level"})
        if (setting == hot) return true;
    return setting == "scheduling_policy";  // of queues that name none: it is in their own settings already
}

Result<Config> read_config(std::string_view yaml) {
    CRATER_TRY(tree, codec::parse_yaml(yaml));
    if (tree.is_null()) tree = Json::object();
    if (tree.is_object()) {
        if (member(tree, "etcd_endpoints"))
            return fail(Code::invalid, "etcd is not supported by this version", "etcd_endpoints",
                        "use store: { sqlite: PATH }");
        if (Json* store = member(tree, "store"); store && member(*store, "etcd_endpoints"))
            return fail(Code::invalid, "etcd is not supported by this version", "store.etcd_endpoints",
                        "use store: { sqlite: PATH }");
        leave_out(tree, "kubernetes", "");
        if (Json* alldata = member(tree, "alldata")) leave_out(*alldata, "poll_interval_seconds", "alldata.");
        if (Json* scheduling = member(tree, "scheduling"); scheduling && scheduling->is_object()) {
            CRATER_TRY_VOID(flatten(*scheduling, "weights", "capacity_"));
            CRATER_TRY_VOID(flatten(*scheduling, "score_weights", "w_"));
        }
        // A queue that names no policy takes the one of the file; one that names no types takes those of the
        // shipped queue of its name.
        const Json* policy = member(tree, "scheduling_policy");
        if (Json* queues = member(tree, "queues"); queues && queues->is_array()) {
            for (Json& queue : *queues) {
                if (!queue.is_object()) continue;
                if (policy && !member(queue, "policy")) queue["policy"] = *policy;
                const Json* name = member(queue, "name");
                if (!name || !name->is_string() || member(queue, "types")) continue;
                for (const QueueSpec& shipped : Config::default_queues()) {
                    if (shipped.name != name->get<std::string>()) continue;
                    for (const JobType type : shipped.types)
                        queue["types"].push_back(std::string(name_of(type)));
                    if (!member(queue, "default_preemptible"))
                        queue["default_preemptible"] = shipped.default_preemptible;
                }
            }
        }
    }
    Config config;
    const bool has_queues = tree.is_object() && member(tree, "queues");
    CRATER_TRY_VOID(codec::read_into(config, tree));
    if (!has_queues)
        for (QueueSpec& queue : config.queues)
            if (queue.name == "training" && tree.is_object() && member(tree, "scheduling_policy"))
                queue.policy = config.scheduling_policy;
    if (config.queues.empty()) config.queues = Config::default_queues();
    CRATER_TRY_VOID(check(config));
    return config;
}

}  // namespace crater::scheduler
