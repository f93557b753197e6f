#include <fmt/format.h>

#include <iostream>

#include "../commands.h"
#include "../print.h"

namespace crater::cli {
namespace {

void print_quota(const Json& view) {
    const auto line = [&](const char* name, const std::string& used, const std::string& cap) {
        std::cout << fmt::format("{:<12} {:>12}  of {}\n", name, used, cap.empty() ? "no limit" : cap);
    };
    std::cout << "Tenant " << text(view, "tenant") << "\n";
    line("gpu", text(view, "used.gpu"), text(view, "hard.gpu"));
    line("gpu memory", mib_text(number(view, "used.gpu_memory_mib")), text(view, "hard.gpu_memory"));
    line("cpu", text(view, "used.cpu"), text(view, "hard.cpu"));
    line("memory", bytes_text(number(view, "used.memory_bytes")), text(view, "hard.memory"));
    line("disk", bytes_text(number(view, "used.disk_bytes")), text(view, "hard.disk"));
    line("iops", text(view, "used.iops"), text(view, "hard.iops"));
    line("jobs", text(view, "used.jobs"), text(view, "hard.jobs"));
    line("waiting", text(view, "pending"), text(view, "max_pending"));
    std::cout << "highest priority " << text(view, "max_priority") << "\n";
}

}  // namespace

void add_quota(CLI::App& app, Context& context) {
    auto* quota = app.add_subcommand("quota", "What tenants may hold")->require_subcommand(1);
    struct Options {
        std::string tenant;
        std::map<std::string, std::string> caps;
        std::string max_priority, max_pending;
        bool dry_run = false;
    };
    auto options = std::make_shared<Options>();

    auto* get = quota->add_subcommand("get", "Quota and present use of a tenant");
    get->add_option("--tenant", options->tenant, "Tenant")->required();
    get->callback([&context, options] {
        const Json view = need(Client(context).get("/api/v1/quotas/" + encoded(options->tenant)));
        print_answer(context, view, [&] { print_quota(view); });
    });

    auto* set = quota->add_subcommand(
        "set", "Change a tenant's hard quota; takes effect at once and ends nothing that runs");
    set->add_option("--tenant", options->tenant, "Tenant")->required();
    for (const auto& [flag, key, help] :
         std::initializer_list<std::tuple<const char*, const char*, const char*>>{
             {"--gpu-hard", "gpu", "Cards"},
             {"--gpu-memory-hard", "gpu_memory", "GPU memory, such as 320Gi"},
             {"--cpu-hard", "cpu", "Cores"},
             {"--memory-hard", "memory", "Memory, such as 256Gi"},
             {"--disk-hard", "disk", "Disk space"},
             {"--iops-hard", "iops", "Disk operations per second"},
             {"--jobs-hard", "jobs", "Jobs running at once"}})
        set->add_option(flag, options->caps[key], help);
    set->add_flag("--dry-run", options->dry_run,
                  "Say which jobs it would start or hold back; change nothing");
    set->add_option("--max-priority", options->max_priority, "Highest priority its jobs may ask for");
    set->add_option("--max-pending", options->max_pending, "Most jobs waiting at once");
    set->callback([&context, options] {
        Json body = Json::object();
        // Counts travel as numbers, sizes as text with their unit; the server says what is wrong with either.
        const auto value = [](const std::string& given) {
            const Json parsed = Json::parse(given, nullptr, false);
            return parsed.is_number() ? parsed : Json(given);
        };
        for (const auto& [key, given] : options->caps)
            if (!given.empty()) body["hard"][key] = value(given);
        if (!options->max_priority.empty()) body["max_priority"] = value(options->max_priority);
        if (!options->max_pending.empty()) body["max_pending"] = value(options->max_pending);
        if (body.empty())
            throw CommandFailed{
                {Code::invalid, "nothing to set", "", "give at least one cap, such as --gpu-hard 8"}};
        if (options->dry_run) {
            Json asked{{"tenant", options->tenant}, {"hard", body.value("hard", Json::object())}};
            const Json plan = need(Client(context).call("POST", "/api/v1/plans/quota", asked.dump()));
            return print_answer(context, plan, [&] { print_plan(plan); });
        }
        const Json view =
            need(Client(context).call("PUT", "/api/v1/quotas/" + encoded(options->tenant), body.dump()));
        print_answer(context, view, [&] { print_quota(view); });
    });
}

}  // namespace crater::cli
