#include "../commands.h"
#include "../print.h"
#include "crater/base/quantity.h"

namespace crater::cli {

void add_queue(CLI::App& app, Context& context) {
    auto* queue = app.add_subcommand("queue", "Where jobs wait")->require_subcommand(1);
    queue->add_subcommand("list", "All queues")->callback([&context] {
        const Json page = need(Client(context).get("/api/v1/queues"));
        print_table(context, page, page["items"],
                    {{"NAME", [](const Json& q) { return text(q, "spec.name"); }},
                     {"POLICY", [](const Json& q) { return text(q, "spec.policy"); }},
                     {"ORDER", [](const Json& q) { return text(q, "spec.order"); }},
                     {"PRIORITY", [](const Json& q) { return text(q, "spec.priority"); }},
                     {"PREEMPTIBLE",
                      [](const Json& q) {
                          return std::string(text(q, "spec.default_preemptible") == "true" ? "yes" : "no");
                      }},
                     {"WAITING", [](const Json& q) { return text(q, "waiting"); }},
                     {"RUNNING", [](const Json& q) { return text(q, "running"); }},
                     {"OLDEST", [](const Json& q) { return ago_text(text(q, "oldest")); }},
                     {"WAIT P50",
                      [](const Json& q) { return amount_text(number(q, "wait_p50_seconds")) + "s"; }, true},
                     {"WAIT P95",
                      [](const Json& q) { return amount_text(number(q, "wait_p95_seconds")) + "s"; }, true}},
                    "no queues");
    });

    auto* set = queue->add_subcommand("set", "Make or change a queue");
    struct Options {
        std::string name, policy, order, priority;
        double preempt_factor = 0;
        std::int64_t reserved_gpu = 0;
        std::vector<std::string> plugins, weights;
        bool preemptible = false;
    };
    auto options = std::make_shared<Options>();
    set->add_option("name", options->name, "Queue")->required();
    set->add_option("--policy", options->policy,
                    "price (the default), fragmentation, best_fit, binpack, spread, affinity or priority");
    set->add_option("--order", options->order,
                    "Who goes first among equal priorities: fair (the default), fifo, shortest or las");
    set->add_option("--preempt-factor", options->preempt_factor,
                    "Order shortest or las: how many times a waiting job's key makes a running one give way");
    set->add_option("--reserved-gpu", options->reserved_gpu,
                    "Cards kept for its jobs, lent to preemptible ones meanwhile");
    set->add_option("--priority", options->priority, "Of jobs that give none");
    set->add_flag("--default-preemptible,!--no-default-preemptible", options->preemptible,
                  "Whether jobs that do not say may be preempted");
    set->add_option("--plugin", options->plugins,
                    "Placement plugin, as NAME or NAME=WEIGHT; may be repeated; \"\" for none");
    set->add_option(
           "--weight", options->weights,
           "Policy binpack, spread or affinity: a weight of its own, as TERM=WEIGHT; may be repeated; \"\" for the policy's")
        ->check([](const std::string& text) {
            return std::string(
                text.empty() || text.find('=') != std::string::npos ? "" : "not TERM=WEIGHT: " + text);
        });
    set->callback([&context, options, set] {
        Client client(context);
        const std::string path = "/api/v1/queues/" + encoded(options->name);
        Json spec = {{"name", options->name}};
        if (auto known = client.get(path)) spec = (*known)["spec"];
        if (!options->policy.empty()) spec["policy"] = options->policy;
        if (!options->order.empty()) spec["order"] = options->order;
        if (set->count("--preempt-factor")) spec["preempt_factor"] = options->preempt_factor;
        if (set->count("--reserved-gpu")) spec["reserved_gpu"] = options->reserved_gpu;
        if (!options->priority.empty()) spec["priority"] = options->priority;
        if (set->count("--default-preemptible")) spec["default_preemptible"] = options->preemptible;
        if (set->count("--plugin")) {
            std::erase(options->plugins, "");
            spec["plugins"] = options->plugins;
        }
        if (set->count("--weight")) {
            Json weights = Json::object();
            for (const std::string& text : options->weights) {
                if (text.empty()) continue;
                const auto equals = text.find('=');
                const std::string weight = text.substr(equals + 1);
                // of what is none the scheduler says so, with the term
                const auto number = parse_number(weight);
                weights[text.substr(0, equals)] = number ? Json(*number) : Json(weight);
            }
            spec["weights"] = weights;
        }
        const Json view = need(client.call("PUT", path, spec.dump()));
        print_answer(context, view, [&] { std::cout << "queue " << options->name << " is set\n"; });
    });
}

}  // namespace crater::cli
