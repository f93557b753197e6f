#include "../commands.h"
#include "../print.h"

namespace crater::cli {

void add_plugin(CLI::App& app, Context& context) {
    auto* plugin = app.add_subcommand("plugin", "Placement plugins of the scheduler")->require_subcommand(1);
    plugin->add_subcommand("list", "All plugins and how they do")->callback([&context] {
        const Json page = need(Client(context).get("/api/v1/plugins"));
        print_table(context, page, page["items"],
                    {{"NAME", [](const Json& p) { return text(p, "name"); }},
                     {"VERSION", [](const Json& p) { return text(p, "version"); }},
                     {"STATE", [](const Json& p) { return text(p, "state"); }},
                     {"CALLS", [](const Json& p) { return text(p, "calls"); }},
                     {"LATE", [](const Json& p) { return text(p, "late"); }},
                     {"P99", [](const Json& p) { return text(p, "p99_us") + "us"; }},
                     {"FILE", [](const Json& p) { return text(p, "file"); }, true},
                     {"REASON", [](const Json& p) { return text(p, "reason"); }}},
                    "no plugins");
    });
}

}  // namespace crater::cli
