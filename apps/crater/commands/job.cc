#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "../commands.h"
#include "../print.h"
#include "crater/api/views.h"
#include "crater/codec/codec.h"
#include "job_options.h"

namespace crater::cli {
namespace {

// "whole", "16 GiB", "3g.20gb"
std::string part_of_card(const Json& gpu) {
    if (text(gpu, "exclusive") == "true") return "whole";
    const std::string partition = text(gpu, "partition");
    return partition.empty() ? mib_text(number(gpu, "memory_mib")) : partition;
}

const std::string jobs = "/api/v1/jobs";

bool ended(const std::string& state) {
    return state == "Finished" || state == "Failed" || state == "Cancelled" || state == "Evicted";
}

std::string memory_column(const Json& job) {
    if (number(job, "gpu") <= 0) return {};
    const double mib = number(job, "gpu_memory_mib");
    return mib > 0 ? mib_text(mib) : "whole";
}

void print_fit(const Json& fit) {
    const bool stops_others =
        text(fit, "fits_now") != "true" && fit.contains("plan") && text(fit, "plan.possible") == "true";
    if (stops_others)
        print_plan(fit["plan"]);
    else
        std::cout << (text(fit, "fits_now") == "true"    ? "would start now"
                      : text(fit, "fits_ever") == "true" ? "would wait"
                                                         : "can never start")
                  << ": " << text(fit, "summary") << "\n";
    if (!text(fit, "nodes").empty()) std::cout << "on " << text(fit, "nodes") << "\n";
    for (const Json& note : fit.value("notes", Json::array()))
        std::cout << "note: " << note.get<std::string>() << "\n";
    if (!stops_others && fit.contains("plan") && fit["plan"].contains("why"))
        print_changes(fit["plan"]["why"]);
}

// Until the job has ended; prints each state it enters. The loop's deadline is the user's Ctrl-C.
void wait_for_end(Context& context, Client& client, const std::string& id) {
    std::string last;
    for (;;) {
        auto view = client.get(jobs + "/" + encoded(id));
        if (view) {
            const Json& job = (*view)["job"];
            const std::string state = text(job, "state");
            if (state != last) {
                std::cerr << id << " " << column_state(context, state)
                          << (text(job, "detail").empty() ? "" : ": " + text(job, "detail")) << "\n";
                last = state;
            }
            if (ended(state)) {
                if (state == "Cancelled")
                    context.exit_status = 3;
                else if (state != "Finished")
                    context.exit_status = 1;
                return;
            }
        } else if (view.error().code != Code::unavailable && view.error().code != Code::timeout) {
            throw CommandFailed{view.error()};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
}

void submit(Context& context, const JobOptions& options) {
    const JobSpec spec = need(job_spec(options));
    const std::string body = codec::write_json(spec, {.reveal = true});
    Client client(context);
    if (options.dry_run) {
        const Json fit = need(client.call("POST", "/api/v1/plans/submit", body));
        print_answer(context, fit, [&] { print_fit(fit); });
        if (text(fit, "fits_ever") != "true") context.exit_status = 4;
        return;
    }
    const Json view = need(client.call("POST", jobs, body));
    const std::string id = text(view, "job.id");
    const Json labels = view["spec"].value("labels", Json::object());
    const std::string array =
        spec.array > 0 ? labels.value(std::string(api::array_label), std::string()) : std::string();
    print_answer(context, view, [&] {
        std::cout << (array.empty() ? id : array) << "\n";
        for (const Json& note : view.value("notes", Json::array()))
            std::cerr << "note: " << note.get<std::string>() << "\n";
    });
    if (!options.wait) return;
    if (array.empty()) return wait_for_end(context, client, id);
    for (std::int64_t i = 0; i < spec.array; ++i)
        wait_for_end(context, client, array + "." + std::to_string(i));
}

// "12m to 1h": when a job is expected to start, from now; empty where nobody knows.
std::string start_text(const Json& holder) {
    const std::string early = text(holder, "estimate.p50"), late = text(holder, "estimate.p90");
    if (early.empty()) return {};
    const std::string from = until_text(early), to = until_text(late);
    return from == to ? from : from + " to " + to;
}

struct ListOptions {
    std::string queue, status, since, tenant, name, node, label;
    std::int64_t limit = 1000;
};

void list(Context& context, const ListOptions& o) {
    Client client(context);
    Json all = Json::array(), page;
    std::string cursor;
    do {
        const auto left = o.limit - static_cast<std::int64_t>(all.size());
        page =
            need(client.get(with_query(jobs, {{"queue", o.queue},
                                              {"status", o.status},
                                              {"since", o.since},
                                              {"tenant", o.tenant},
                                              {"name", o.name},
                                              {"node", o.node},
                                              {"label", o.label},
                                              {"estimates", context.output == Output::wide ? "true" : ""},
                                              {"limit", std::to_string(std::min<std::int64_t>(1000, left))},
                                              {"cursor", cursor}})));
        for (const Json& item : page["items"]) all.push_back(item);
        cursor = text(page, "next");
    } while (!cursor.empty() && static_cast<std::int64_t>(all.size()) < o.limit);
    page["items"] = all;
    print_table(
        context, page, all,
        {{"ID", [](const Json& j) { return text(j, "id"); }},
         {"NAME", [](const Json& j) { return text(j, "name"); }},
         {"STATUS",
          [&](const Json& j) {
              return column_state(context, text(j, "state")) +
                     (text(j, "simulated") == "true" ? " (simulated)" : "") +
                     (text(j, "enforcement") == "advisory" ? " (advisory)" : "");
          }},
         {"GPU", [](const Json& j) { return number(j, "gpu") > 0 ? text(j, "gpu") : std::string(); }},
         {"MEMORY", memory_column},
         {"NODE", [](const Json& j) { return text(j, "nodes"); }},
         {"QUEUE", [](const Json& j) { return text(j, "queue"); }, true},
         {"TENANT", [](const Json& j) { return text(j, "tenant"); }, true},
         {"PRIORITY", [](const Json& j) { return text(j, "priority"); }, true},
         {"CPU", [](const Json& j) { return text(j, "cpu"); }, true},
         {"SUBMITTED", [](const Json& j) { return ago_text(text(j, "submitted")); }, true},
         {"STARTS IN", [](const Json& j) { return start_text(j); }, true},
         {"REASON",
          [](const Json& j) { return text(j, "detail").empty() ? text(j, "reason") : text(j, "detail"); },
          true}},
        "no jobs");
    if (!cursor.empty() && context.output == Output::table)
        std::cerr << "... " << text(page, "total") << " in all; --limit shows more\n";
}

void describe_job(const Context& context, const Json& view) {
    const Json& job = view["job"];
    const auto line = [](const std::string& key, const std::string& value) {
        if (!value.empty()) std::cout << fmt::format("{:<12} {}\n", key, value);
    };
    line("Id", text(job, "id"));
    line("Name", text(job, "name"));
    line("State", column_state(context, text(job, "state")) +
                      (text(job, "detail").empty() ? "" : "  " + text(job, "detail")));
    if (text(job, "simulated") == "true") line("Hardware", "simulated");
    line("Enforcement", text(job, "enforcement"));
    line("Type", text(job, "type"));
    line("Queue", text(job, "queue") + ", priority " + text(job, "priority") +
                      (text(job, "preemptible") == "true" ? ", preemptible" : ""));
    line("Tenant", text(job, "tenant"));
    line("Asks",
         fmt::format("{} x ({}{} cores, {})", text(job, "tasks"),
                     number(job, "gpu") > 0 ? text(view, "spec.resources.gpu.count") + " GPU, " : "",
                     text(view, "spec.resources.cpu.cores"), text(view, "spec.resources.memory.size")));
    std::string command;
    for (const Json& word : view["spec"].value("command", Json::array()))
        command += (command.empty() ? "" : " ") + word.get<std::string>();
    line("Command", command);
    line("Submitted", text(job, "submitted") + "  (" + ago_text(text(job, "submitted")) + " ago)");
    if (!text(job, "started").empty()) line("Ran", span_text(text(job, "started"), text(job, "ended")));
    if (!start_text(job).empty())
        line("Starts", "in " + start_text(job) + ", by " + text(job, "estimate.basis"));
    if (!text(view, "no_estimate").empty()) line("Starts", "unknown: " + text(view, "no_estimate"));
    for (const Json& note : view.value("notes", Json::array())) line("Note", note.get<std::string>());
    for (const Json& task : view.value("tasks", Json::array())) {
        std::string held;
        if (task.contains("allocation")) {
            const Json& a = task["allocation"];
            held = text(a, "node");
            for (const Json& gpu : a.value("gpus", Json::array()))
                held += fmt::format(", card {} ({})", text(gpu, "index"), part_of_card(gpu));
            held += ", " + text(a, "cpu") + " cores";
            if (!text(a, "cpu_set").empty()) held += " [" + text(a, "cpu_set") + "]";
            if (number(a, "numa_node") >= 0) held += ", NUMA " + text(a, "numa_node");
            held += ", " + bytes_text(number(a, "memory_bytes"));
        }
        line("Task " + text(task, "index"),
             column_state(context, text(task, "state")) + fmt::format("  attempt {}", text(task, "attempt")) +
                 (number(task, "exit_code") >= 0 ? "  exit " + text(task, "exit_code") : "") +
                 (held.empty() ? "" : "  on " + held));
    }
    std::cout << "Timeline\n";
    for (const Json& change : view.value("timeline", Json::array()))
        std::cout << fmt::format("  {}  {:<11} {}{}\n", text(change, "at"), text(change, "state"),
                                 text(change, "reason"),
                                 text(change, "detail").empty() ? "" : ": " + text(change, "detail"));
}

void print_why(const Json& why, const std::string& thorough) {
    std::cout << text(why, "summary") << "\n";
    if (number(why, "rank") > 0)
        std::cout << "It is number " << text(why, "rank") << " of " << text(why, "queue_length")
                  << " in its queue.\n";
    if (!start_text(why).empty())
        std::cout << "It is expected to start in " << start_text(why)
                  << " (half of such jobs by then, nine in ten), by " << text(why, "estimate.basis") << ".\n";
    if (!text(why, "no_estimate").empty())
        std::cout << "When it will start is unknown: " << text(why, "no_estimate") << ".\n";
    if (!why.value("requirements", Json::array()).empty())
        std::cout << fmt::format("\n{:<18} {:>12} {:>14} {:>12}  {}\n", "NEEDS", "", "BEST NODE HAS",
                                 "SHORT ON", "BEST NODE");
    for (const Json& need : why.value("requirements", Json::array())) {
        const std::string unit = text(need, "unit");
        const auto shown = [&](const char* key) {
            return unit == "bytes" ? bytes_text(number(need, key))
                   : unit == "MiB" ? mib_text(number(need, key))
                                   : amount_text(number(need, key)) + (unit.empty() ? "" : " " + unit);
        };
        std::cout << fmt::format("{:<18} {:>12} {:>14} {:>12}  {}{}\n", text(need, "name"), shown("needs"),
                                 shown("best_has"), text(need, "nodes_short") + " nodes",
                                 text(need, "best_node"),
                                 text(need, "binding") == "true" ? "   <- waits for this" : "");
    }
    if (!why.value("holders", Json::array()).empty()) std::cout << "\nHeld by\n";
    for (const Json& holder : why.value("holders", Json::array()))
        std::cout << fmt::format("  {}  on {}: {}\n", text(holder, "job"), text(holder, "node"),
                                 text(holder, "holds"));
    print_changes(why, thorough);
    if (!why.value("rejections", Json::array()).empty()) std::cout << "\nWhy not elsewhere\n";
    for (const Json& rejection : why.value("rejections", Json::array()))
        std::cout << fmt::format("  {} nodes: {} ({}: {})\n", text(rejection, "nodes"),
                                 text(rejection, "filter"), text(rejection, "first_node"),
                                 text(rejection, "detail"));
}

void print_nodes(const Json& why) {
    if (!why.value("nodes", Json::array()).empty()) std::cout << "\nNode by node\n";
    for (const Json& node : why.value("nodes", Json::array()))
        std::cout << fmt::format("  {:<24} {}\n", text(node, "node"),
                                 text(node, "filter").empty() ? "has room for a task" : text(node, "detail"));
}

void print_metrics(const Json& metrics, const std::string& which) {
    static const std::map<std::string, std::pair<const char*, std::string (*)(double)>> columns = {
        {"cpu", {"cpu_cores", amount_text}},       {"memory", {"memory_bytes", bytes_text}},
        {"disk-read", {"read_bytes", bytes_text}}, {"disk-write", {"write_bytes", bytes_text}},
        {"gpu", {"gpu_percent", amount_text}},     {"gpu-memory", {"gpu_memory_mib", mib_text}}};
    auto column = columns.find(which);
    if (column == columns.end())
        throw CommandFailed{{Code::invalid, "\"" + which + "\" is no metric", "--metric",
                             "cpu, memory, disk-read, disk-write, gpu or gpu-memory"}};
    bool any = false;
    for (const Json& series : metrics.value("series", Json::array()))
        for (const Json& point : series.value("points", Json::array())) {
            std::cout << fmt::format("{}  task {}  {}\n", text(point, "at"), text(series, "task"),
                                     column->second.second(number(point, column->second.first)));
            any = true;
        }
    if (!any) std::cerr << "nothing was measured in that time\n";
}

void add_action(CLI::App& job, Context& context, const char* verb, const char* help, const char* done) {
    struct Options {
        std::vector<std::string> ids;
        std::string reason, grace, tenant;
        int priority = -1;
        bool all = false, dry_run = false;
    };
    auto options = std::make_shared<Options>();
    auto* command = job.add_subcommand(verb, help);
    auto* ids = command->add_option("id", options->ids, "Job ids");
    command->add_option("--reason", options->reason, "Why; kept in the audit log");
    command->add_option("--grace-period", options->grace, "Instead of the job's own");
    if (std::string(verb) == "evict") {
        command->add_option("--tenant", options->tenant, "Of this tenant, with --all");
        command->add_option("--priority", options->priority, "Of at most this priority, with --all");
        command->add_flag("--all", options->all, "Every job that holds slices and matches")->excludes(ids);
        command->add_flag(
            "--dry-run", options->dry_run,
            "Say what it would cost and who would start instead; of a waiting job, who would be stopped for it");
    } else {
        ids->required();
    }
    command->callback([&context, options, verb, done] {
        Client client(context);
        if (options->all) {
            const Json page = need(client.get(with_query(
                jobs,
                {{"status", "Preparing,Ready,Running"}, {"tenant", options->tenant}, {"limit", "1000"}})));
            for (const Json& row : page["items"])
                if (options->priority < 0 || number(row, "priority") <= options->priority)
                    options->ids.push_back(text(row, "id"));
        }
        if (options->ids.empty() && !options->all)
            throw CommandFailed{{Code::invalid, "no job is named", "id", "give ids, or --all"}};
        Json body = Json::object();
        if (!options->reason.empty()) body["reason"] = options->reason;
        if (!options->grace.empty()) body["grace_period"] = options->grace;
        for (const std::string& id : options->ids) {
            if (options->dry_run) {
                const Json plan =
                    need(client.call("POST", "/api/v1/plans/preempt", Json{{"job", id}}.dump()));
                print_answer(context, plan, [&] { print_plan(plan); });
                continue;
            }
            const Json view = need(client.call("POST", jobs + "/" + encoded(id) + "/" + verb, body.dump()));
            print_answer(context, view, [&] { std::cout << id << " " << done << "\n"; });
        }
    });
}

}  // namespace

void add_job(CLI::App& app, Context& context) {
    auto* job = app.add_subcommand("job", "Work")->require_subcommand(1);

    auto submit_options = std::make_shared<JobOptions>();
    auto* submit_command = job->add_subcommand("submit", "Submit a job; prints its id");
    add_job_options(*submit_command, *submit_options);
    submit_command->callback([&context, submit_options] { submit(context, *submit_options); });

    auto list_options = std::make_shared<ListOptions>();
    auto* list_command = job->add_subcommand("list", "Jobs, newest first");
    list_command->add_option("--queue", list_options->queue, "Only this queue");
    list_command->add_option("--status", list_options->status, "Only these states, separated by commas");
    list_command->add_option("--since", list_options->since,
                             "Submitted since: a time, or a span such as 24h");
    list_command->add_option("--tenant", list_options->tenant, "This tenant and its descendants");
    list_command->add_option("--name", list_options->name, "Part of the name or id");
    list_command->add_option("--node", list_options->node, "Holding slices on this node");
    list_command->add_option("--label", list_options->label,
                             "With this label: key or key=value; crater.array=ID for an array");
    list_command->add_option("--limit", list_options->limit, "At most so many")->capture_default_str();
    list_command->callback([&context, list_options] { list(context, *list_options); });

    struct One {
        std::string id, metric = "cpu", range = "1h";
        std::int64_t task = 0, attempt = 0, tail = -1;
        bool follow = false, nodes = false, thorough = false;
    };
    auto one = std::make_shared<One>();
    const auto add_one = [&](const char* name, const char* help) {
        auto* command = job->add_subcommand(name, help);
        command->add_option("id", one->id, "Job id")->required();
        return command;
    };
    add_one("describe", "One job in full")->callback([&context, one] {
        const Json view = need(Client(context).get(jobs + "/" + encoded(one->id)));
        print_answer(context, view, [&] { describe_job(context, view); });
    });
    auto* why_command = add_one("why", "Why it waits, who holds what it needs, and what would start it now");
    why_command->add_flag("--nodes", one->nodes, "Node by node, too");
    why_command->add_flag("--thorough", one->thorough,
                          "Look for changes that would start it to the end, however long it takes");
    why_command->callback([&context, one] {
        const Json why = need(Client(context).get(
            with_query(jobs + "/" + encoded(one->id) + "/why",
                       {{"nodes", one->nodes ? "true" : ""}, {"thorough", one->thorough ? "true" : ""}})));
        print_answer(context, why, [&] {
            print_why(why, one->thorough ? "" : "crater job why " + one->id + " --thorough");
            print_nodes(why);
        });
    });
    auto* logs = add_one("logs", "What a task wrote");
    logs->add_flag("-f,--follow", one->follow, "Go on while it runs");
    logs->add_option("--task", one->task, "Which task")->capture_default_str();
    logs->add_option("--attempt", one->attempt, "Which start, from 1; the latest when absent");
    logs->add_option("--tail", one->tail, "Only the last lines, so many");
    logs->callback([&context, one] {
        const auto optional = [](std::int64_t value, std::int64_t absent) {
            return value == absent ? std::string() : std::to_string(value);
        };
        need(Client(context).stream(
            with_query(jobs + "/" + encoded(one->id) + "/logs", {{"task", optional(one->task, 0)},
                                                                 {"attempt", optional(one->attempt, 0)},
                                                                 {"tail", optional(one->tail, -1)},
                                                                 {"follow", one->follow ? "true" : ""}}),
            [](std::string_view piece) {
                std::cout << piece << std::flush;
                return true;
            }));
    });
    auto* metrics = add_one("metrics", "What its tasks used");
    metrics->add_option("--metric", one->metric, "cpu, memory, disk-read, disk-write, gpu or gpu-memory")
        ->capture_default_str();
    metrics->add_option("--range", one->range, "How far back")->capture_default_str();
    metrics->callback([&context, one] {
        const Json answer = need(Client(context).get(
            with_query(jobs + "/" + encoded(one->id) + "/metrics", {{"range", one->range}})));
        print_answer(context, answer, [&] { print_metrics(answer, one->metric); });
    });
    add_action(*job, context, "cancel", "End jobs, with their grace period", "is being cancelled");
    add_action(*job, context, "evict", "Take jobs' slices away", "is being evicted");
    add_action(*job, context, "resume", "Queue ended jobs again", "waits again");
}

}  // namespace crater::cli
