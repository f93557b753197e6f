#include "spelling.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "crater/base/ids.h"

namespace crater::api {
namespace {

using Json = nlohmann::json;

struct Spelling {
    std::string_view name, written;
};
// Other places that give a field of the JobSpec, longest first.
constexpr std::array places{
    Spelling{"resources.gpu.precision", "model_config.precision"},
    Spelling{"min_gpu_utilization_percent", "sla.min_gpu_utilization_percent"},
    Spelling{"max_queue_time", "sla.max_queue_time"},
    Spelling{"preemptible", "sla.fault_tolerance"},
    Spelling{"numa_binding_policy", "topology_awareness.numa_binding_policy"},
    Spelling{"resources", "resource_requirements"},
};
// Other keys of one field; those with a unit behind the name need no row.
constexpr std::array keys{
    Spelling{"disk", "ssd"},
    Spelling{"model", "type"},
    Spelling{"compute", "cores"},
    Spelling{"features", "avx_support"},
    Spelling{"type", "workload_type"},
    Spelling{"sla", "task_sla"},
    Spelling{"latency_us_max", "ssd_latency_us"},
    Spelling{"latency_us_max", "latency_us"},
    Spelling{"read_mbps_min", "bandwidth_mbps"},
    Spelling{"iops_stability_ratio", "ssd_iops_stability_ratio"},
};
constexpr std::array units{"_mb",    "_gb",    "_tb",   "_kb",   "_mib", "_gib",     "_tib",
                           "_kib",   "_bytes", "_mbps", "_gbps", "_ms",  "_seconds", "_minutes",
                           "_hours", "_days",  "_us",   "_min",  "_max"};

const Json* find(const Json& object, std::string_view name, std::string& written) {
    for (auto it = object.begin(); it != object.end(); ++it) {
        const std::string key = snake_case(it.key());
        bool match = key == name;
        for (const auto& row : keys) match = match || (row.name == name && row.written == key);
        for (const std::string_view unit : units)
            match = match ||
                    (key.size() == name.size() + unit.size() && key.starts_with(name) && key.ends_with(unit));
        if (!match || it->is_null()) continue;
        written = key;
        return &*it;
    }
    return nullptr;
}

std::optional<std::string> resolve(const Json& tree, std::string_view field) {
    const Json* at = &tree;
    std::string out;
    while (!field.empty()) {
        const auto end = std::min(field.find('.'), field.size());
        const std::string_view part = field.substr(0, end),
                               name = part.substr(0, std::min(part.find('['), part.size()));
        field.remove_prefix(std::min(end + 1, field.size()));
        if (!at->is_object()) return std::nullopt;
        std::string written;
        at = find(*at, name, written);
        if (at == nullptr) return std::nullopt;
        out += (out.empty() ? "" : ".") + written + std::string(part.substr(name.size()));
        if (part.size() > name.size()) {
            const auto index = static_cast<std::size_t>(
                std::strtoul(std::string(part.substr(name.size() + 1)).c_str(), nullptr, 10));
            if (at->is_array()) {
                if (index >= at->size()) return std::nullopt;
                at = &(*at)[index];
            }
        }
    }
    return out;
}

std::string parent(std::string_view field) {
    return std::string(field.substr(0, std::min(field.rfind('.'), field.size())));
}

struct NotOffered {
    std::string_view field, instead;
};
constexpr std::array not_offered{
    NotOffered{"resources.gpu.gpu_ids",
               "Crater chooses the cards; leave it out, or name nodes in node.include"},
    NotOffered{"resources.gpu.gpu_id",
               "Crater chooses the cards; leave it out, or name nodes in node.include"},
    NotOffered{"resource_requirements.gpu.gpu_ids",
               "Crater chooses the cards; leave it out, or name nodes in node.include"},
    NotOffered{"resource_requirements.gpu.gpu_id",
               "Crater chooses the cards; leave it out, or name nodes in node.include"},
    NotOffered{"gpu_ids", "Crater chooses the cards; leave it out, or name nodes in node.include"},
    NotOffered{"gpu_id", "Crater chooses the cards; leave it out, or name nodes in node.include"},
    NotOffered{"replicas", "submit a job of type inference for each"},
    NotOffered{"port", "choose a port in the command"},
    NotOffered{"health", "let the process end when it is not well, and set restart"},
    NotOffered{"autoscale", "submit a job of type inference for each replica"},
    NotOffered{"warm_pool_size", "submit a job of type inference for each replica"},
    NotOffered{"batching", "batch in the service itself"},
    NotOffered{"canary", "submit the other version as a job of its own"},
    NotOffered{"borrow", "make the job preemptible"},
};

}  // namespace

std::string as_written(const Json& tree, std::string_view field) {
    // a key of the document may be of any length, and hold any number of dots
    constexpr std::size_t enough = 300;
    if (field.size() > enough) return fmt::format("{}...", field.substr(0, enough));
    if (auto found = resolve(tree, field)) return *found;
    for (const auto& row : places)
        if (field.starts_with(row.name) && (field.size() == row.name.size() || field[row.name.size()] == '.'))
            if (auto found =
                    resolve(tree, std::string(row.written) + std::string(field.substr(row.name.size()))))
                return *found;
    // Not there: then at least its parent is named as it was written.
    if (field.find('.') == std::string_view::npos) return std::string(field);
    const std::string above = parent(field);
    return as_written(tree, above) + std::string(field.substr(above.size()));
}

Result<void> refuse_not_offered(const Json& tree) {
    for (const auto& row : not_offered) {
        const Json* at = &tree;
        std::string written;
        for (std::string_view rest = row.field; !rest.empty() && at != nullptr;) {
            const auto end = std::min(rest.find('.'), rest.size());
            const std::string_view name = rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            const Json* next = nullptr;
            if (at->is_object())
                for (auto it = at->begin(); it != at->end(); ++it)
                    if (snake_case(it.key()) == name && !it->is_null()) next = &*it;
            at = next;
        }
        if (at != nullptr)
            return fail(Code::invalid, std::string(row.field) + " is not offered by this version",
                        std::string(row.field), std::string(row.instead));
    }
    return {};
}

}  // namespace crater::api
