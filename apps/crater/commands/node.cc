#include <fmt/format.h>

#include <iostream>

#include "../commands.h"
#include "../print.h"
#include "crater/base/clock.h"

namespace crater::cli {
namespace {

// "3/4" of allocated and total.
std::string share(const Json& node, const std::string& resource, std::string (*unit)(double)) {
    return unit(number(node, "resources." + resource + ".allocated")) + "/" +
           unit(number(node, "resources." + resource + ".total"));
}

std::string model_column(const Json& node) {
    std::string models;
    if (node.contains("cards") && !node["cards"].empty()) models = text(node["cards"][0], "model");
    return models;
}

void print_node(const Context& context, const Json& view) {
    const Json& node = view["node"];
    const Json& inventory = view["inventory"];
    const auto line = [](const std::string& key, const std::string& value) {
        if (!value.empty()) std::cout << fmt::format("{:<14} {}\n", key, value);
    };
    line("Name", text(node, "name") + (text(node, "simulated") == "true" ? "  (simulated)" : ""));
    line("State", column_state(context, text(node, "state")) +
                      (text(node, "detail").empty() ? "" : "  " + text(node, "detail")));
    line("Last heard", ago_text(text(node, "last_heartbeat")) + " ago");
    std::string taints, windows;
    for (const Json& taint : node.value("taints", Json::array()))
        taints += (taints.empty() ? "" : ", ") + text(taint, "key") + "=" + text(taint, "value") + ":" +
                  text(taint, "effect");
    for (const Json& window : node.value("maintenance", Json::array()))
        windows += (windows.empty() ? "" : ", ") + text(window, "start") + " to " + text(window, "end");
    line("Taints", taints);
    line("Maintenance", windows);
    std::string labels;
    if (node.contains("labels"))
        for (const auto& [key, value] : node["labels"].items())
            labels += (labels.empty() ? "" : ", ") + key + "=" + value.get<std::string>();
    line("Labels", labels);
    line("System", text(inventory, "os"));
    line("CPU", text(inventory, "cpu_model"));
    line("Runtimes", text(inventory, "runtimes"));
    line("Cores", share(node, "cpu", amount_text) + " allocated");
    line("Memory", share(node, "memory_bytes", bytes_text) + " allocated, " +
                       bytes_text(number(node, "resources.memory_bytes.used")) + " used");
    line("Disk", share(node, "disk_bytes", bytes_text) + " allocated");
    if (inventory.contains("enforcement")) {
        std::string enforced;
        for (const auto& [limit, how] : inventory["enforcement"].items())
            if (how.is_string())
                enforced += (enforced.empty() ? "" : ", ") + limit + ": " + how.get<std::string>();
        line("Enforcement", enforced);
    }
    for (const auto& [kind, title] : {std::pair{"datasets", "Datasets"}, {"models", "Models"}}) {
        std::string cached;
        for (const Json& item : inventory.value("cache", Json::object()).value(kind, Json::array())) {
            const double size = number(item, "size_bytes");
            cached += (cached.empty() ? "" : ", ") + text(item, "id") +
                      (size > 0 ? " (" + bytes_text(size) + ")" : "");
        }
        line(title, cached);
    }
    for (const Json& card : node.value("cards", Json::array()))
        line("Card " + text(card, "index"),
             fmt::format(
                 "{}, {} of {} MiB allocated, {} % used{}", text(card, "model"),
                 amount_text(number(card, "memory_allocated_mib")),
                 amount_text(number(card, "memory_total_mib")),
                 amount_text(number(card, "utilization_percent")),
                 text(card, "healthy") == "false" ? ", UNHEALTHY " + text(card, "health_detail") : ""));
    for (const Json& held : view.value("held", Json::array()))
        line("Task", text(held, "job") + "." + text(held, "task.index") + "  " + text(held, "task.state") +
                         "  " + text(held, "name"));
}

// "key=value:effect"; the effect may be left out, there is one.
Json taint_of(const std::string& given) {
    const auto colon = given.rfind(':');
    const std::string pair = given.substr(0, colon),
                      effect = colon == std::string::npos ? "no_schedule" : given.substr(colon + 1);
    const auto equals = pair.find('=');
    Json out{{"key", pair.substr(0, equals)}, {"effect", effect}};
    if (equals != std::string::npos) out["value"] = pair.substr(equals + 1);
    return out;
}

std::string time_of(const std::string& given, const char* flag) {
    if (given.empty())
        throw CommandFailed{
            {Code::invalid, "when?", flag, "such as 2026-06-01T02:00:00Z, or 2h for in two hours"}};
    if (const auto at = parse_instant(given)) return format(*at);
    const auto span = parse_duration(given);
    if (!span)
        throw CommandFailed{{Code::invalid, "\"" + given + "\" is neither a time nor a span of time", flag,
                             "such as 2026-06-01T02:00:00Z or 2h"}};
    return format(system_clock()->now() + *span);
}

void print_topology(const Json& view) {
    std::map<std::string, std::string> labels;
    std::map<std::string, std::vector<std::string>> children;
    std::string root;
    for (const Json& vertex : view["vertices"]) {
        labels[text(vertex, "id")] = text(vertex, "label");
        if (text(vertex, "kind") == "node") root = text(vertex, "id");
    }
    for (const Json& edge : view.value("edges", Json::array()))
        if (text(edge, "kind") == "contains") children[text(edge, "from")].push_back(text(edge, "to"));
    const std::function<void(const std::string&, int)> walk = [&](const std::string& id, int depth) {
        std::cout << std::string(static_cast<std::size_t>(depth) * 2, ' ') << labels[id] << "\n";
        for (const std::string& child : children[id]) walk(child, depth + 1);
    };
    walk(root, 0);
    for (const Json& edge : view.value("edges", Json::array()))
        if (text(edge, "kind") == "nvlink")
            std::cout << labels[text(edge, "from")] << "  ==NVLink==  " << labels[text(edge, "to")] << "\n";
}

}  // namespace

void add_node(CLI::App& app, Context& context) {
    auto* node = app.add_subcommand("node", "Servers")->require_subcommand(1);
    struct Options {
        std::string name, state, label, reason, taint, start, end;
        bool evict = false, cancel = false, dry_run = false;
    };
    auto options = std::make_shared<Options>();

    auto* list = node->add_subcommand("list", "All nodes");
    list->add_option("--state", options->state, "up, draining or lost");
    list->add_option("--label", options->label, "Only nodes with this label: key or key=value");
    list->callback([&context, options] {
        Client client(context);
        Json all = Json::array(), page;
        std::string cursor;
        do {
            page = need(client.get(with_query("/api/v1/nodes", {{"state", options->state},
                                                                {"label", options->label},
                                                                {"limit", "1000"},
                                                                {"cursor", cursor}})));
            for (const Json& item : page["items"]) all.push_back(item);
            cursor = text(page, "next");
        } while (!cursor.empty());
        page["items"] = all;
        print_table(context, page, all,
                    {{"NAME", [](const Json& n) { return text(n, "name"); }},
                     {"STATE", [&](const Json& n) { return column_state(context, text(n, "state")); }},
                     {"GPU", [](const Json& n) { return share(n, "gpu", amount_text); }},
                     {"MODEL", model_column},
                     {"GPU MEMORY", [](const Json& n) { return share(n, "gpu_memory_mib", mib_text); }},
                     {"CPU", [](const Json& n) { return share(n, "cpu", amount_text); }},
                     {"MEMORY", [](const Json& n) { return share(n, "memory_bytes", bytes_text); }},
                     {"TASKS", [](const Json& n) { return text(n, "tasks"); }},
                     {"HARDWARE",
                      [](const Json& n) {
                          return std::string(text(n, "simulated") == "true" ? "simulated" : "real");
                      }},
                     {"DISK", [](const Json& n) { return share(n, "disk_bytes", bytes_text); }, true},
                     {"HEARD", [](const Json& n) { return ago_text(text(n, "last_heartbeat")); }, true},
                     {"DETAIL", [](const Json& n) { return text(n, "detail"); }, true}},
                    "no node has joined yet: start crater-agent on one, or crater up here");
    });

    auto* show = node->add_subcommand("describe", "One node in full");
    show->add_option("name", options->name, "Node")->required();
    show->callback([&context, options] {
        const Json view = need(Client(context).get("/api/v1/nodes/" + encoded(options->name)));
        print_answer(context, view, [&] { print_node(context, view); });
    });

    auto* topology = node->add_subcommand("topology", "How a node's devices are joined");
    topology->add_option("name", options->name, "Node")->required();
    topology->callback([&context, options] {
        const Json view = need(Client(context).get("/api/v1/nodes/" + encoded(options->name) + "/topology"));
        print_answer(context, view, [&] { print_topology(view); });
    });

    const auto add_change = [&](const char* verb, const char* help, const char* done) {
        auto* change = node->add_subcommand(verb, help);
        change->add_option("name", options->name, "Node")->required();
        change->add_option("--reason", options->reason, "Why; kept in the audit log");
        if (std::string(verb) == "drain") {
            change->add_flag("--evict", options->evict, "Move running work, too");
            change->add_flag("--dry-run", options->dry_run, "Say what becomes of its jobs; change nothing");
        }
        change->callback([&context, options, verb, done] {
            Json body = Json::object();
            if (options->dry_run) {
                const Json plan = need(
                    Client(context).call("POST", "/api/v1/plans/drain",
                                         Json{{"node", options->name}, {"evict", options->evict}}.dump()));
                return print_answer(context, plan, [&] { print_plan(plan); });
            }
            if (!options->reason.empty()) body["reason"] = options->reason;
            if (options->evict) body["evict"] = true;
            const Json row = need(Client(context).call(
                "POST", "/api/v1/nodes/" + encoded(options->name) + "/" + verb, body.dump()));
            print_answer(context, row, [&] { std::cout << "node " << options->name << " " << done << "\n"; });
        });
    };
    add_change("drain", "Take no new work", "takes no new work; what runs goes on unless --evict was given");
    add_change("resume", "Take work again", "takes work again");

    auto* loss = node->add_subcommand("loss", "What would happen if a node were lost; changes nothing");
    loss->add_option("name", options->name, "Node")->required();
    loss->callback([&context, options] {
        const Json plan = need(
            Client(context).call("POST", "/api/v1/plans/node_loss", Json{{"node", options->name}}.dump()));
        print_answer(context, plan, [&] { print_plan(plan); });
    });

    const auto add_taint = [&](const char* verb, const char* help, const char* what, const char* done) {
        auto* change = node->add_subcommand(verb, help);
        change->add_option("name", options->name, "Node")->required();
        change->add_option("taint", options->taint, what)->required();
        change->callback([&context, options, verb, done] {
            const Json body = taint_of(options->taint);
            const Json row = need(Client(context).call(
                "POST", "/api/v1/nodes/" + encoded(options->name) + "/" + verb, body.dump()));
            print_answer(context, row, [&] {
                std::cout << "node " << options->name << " " << done << " " << options->taint << "\n";
            });
        });
    };
    add_taint("taint", "Keep jobs away that do not tolerate it", "key=value:no_schedule", "has the taint");
    add_taint("untaint", "Take a taint away", "key, or key=value", "no longer has the taint");

    auto* maintenance = node->add_subcommand("maintenance", "Plan a time without work");
    maintenance->add_option("name", options->name, "Node")->required();
    auto* cancel =
        maintenance->add_flag("--cancel", options->cancel, "Give up all that is planned or under way");
    maintenance
        ->add_option("--start", options->start, "When it begins: a time, or a span from now such as 2h")
        ->excludes(cancel);
    maintenance->add_option("--end", options->end, "When it is over, likewise")->excludes(cancel);
    maintenance->callback([&context, options] {
        Client client(context);
        const std::string path = "/api/v1/nodes/" + encoded(options->name) + "/maintenance";
        if (options->cancel) {
            const Json row = need(client.call("DELETE", path, ""));
            return print_answer(context, row, [&] {
                std::cout << "node " << options->name << " has no maintenance ahead\n";
            });
        }
        const Json body{{"start", time_of(options->start, "--start")},
                        {"end", time_of(options->end, "--end")}};
        const Json row = need(client.call("POST", path, body.dump()));
        print_answer(context, row, [&] {
            std::cout << "node " << options->name << " is under maintenance from " << text(body, "start")
                      << " to " << text(body, "end") << "\n";
        });
    });
}

}  // namespace crater::cli
