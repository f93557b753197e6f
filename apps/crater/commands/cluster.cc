#include <fmt/format.h>

#include <iostream>

#include "../commands.h"
#include "../print.h"

namespace crater::cli {
namespace {

void print_bar(const Context& context, const Json& cluster, const std::string& name,
               const std::string& resource, std::string (*unit)(double)) {
    constexpr int width = 30;
    const double allocated = number(cluster, "resources." + resource + ".allocated"),
                 total = number(cluster, "resources." + resource + ".total");
    const int filled = total > 0 ? static_cast<int>(allocated / total * width + 0.5) : 0;
    std::string bar;
    for (int i = 0; i < width; ++i)
        bar += i < filled ? (context.colours ? "█" : "#") : (context.colours ? "░" : ".");
    std::cout << fmt::format("{:<11} {}  {} of {} allocated, {} used\n", name, bar, unit(allocated),
                             unit(total), unit(number(cluster, "resources." + resource + ".used")));
}

void print_cluster(const Context& context, const Json& cluster) {
    std::cout << text(cluster, "name") << ", Crater " << text(cluster, "version") << ", revision "
              << text(cluster, "revision") << ", state " << text(cluster, "state_hash") << "\n";
    std::cout << fmt::format("nodes       {} up, {} draining, {} lost{}\n", text(cluster, "nodes.up"),
                             text(cluster, "nodes.draining"), text(cluster, "nodes.lost"),
                             number(cluster, "nodes.simulated") > 0
                                 ? " (" + text(cluster, "nodes.simulated") + " simulated)"
                                 : "");
    std::string jobs;
    if (cluster.contains("jobs"))
        for (const auto& [state, count] : cluster["jobs"].items())
            jobs += (jobs.empty() ? "" : ", ") + count.dump() + " " + state;
    std::cout << "jobs        " << (jobs.empty() ? "none" : jobs) << "\n";
    print_bar(context, cluster, "GPU", "gpu", amount_text);
    print_bar(context, cluster, "GPU memory", "gpu_memory_mib", mib_text);
    print_bar(context, cluster, "CPU", "cpu", amount_text);
    print_bar(context, cluster, "memory", "memory_bytes", bytes_text);
    print_bar(context, cluster, "disk", "disk_bytes", bytes_text);
    for (const Json& free : cluster.value("free", Json::array()))
        std::cout << fmt::format(
            "free        {}{}: {} whole cards (at most {} on one node), largest slice {} on {}\n",
            text(free, "model"), text(free, "simulated") == "true" ? " (simulated)" : "",
            text(free, "whole_cards"), text(free, "cards_on_one_node"), mib_text(number(free, "largest_mib")),
            text(free, "node"));
    for (const Json& problem : cluster.value("problems", Json::array()))
        std::cout << "PROBLEM     " << text(problem, "text") << "\n";
}

}  // namespace

void add_cluster(CLI::App& app, Context& context) {
    auto* cluster = app.add_subcommand("cluster", "The whole of it")->require_subcommand(1);
    cluster->add_subcommand("info", "Totals, room, problems")->callback([&context] {
        const Json view = need(Client(context).get("/api/v1/cluster"));
        print_answer(context, view, [&] { print_cluster(context, view); });
    });
}

}  // namespace crater::cli
