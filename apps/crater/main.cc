// crater: the command line. Each noun is a file in commands/.
#include <unistd.h>

#include <iostream>
#include <map>

#include "commands.h"
#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "crater/daemon/daemon.h"

namespace {

using namespace crater;
using namespace crater::cli;

// "unknown command 'jbo'. Did you mean 'job'?"
std::string suggestion(const CLI::App& app, int argc, char** argv) {
    const CLI::App* level = &app;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word.starts_with("-")) continue;
        std::vector<std::string> names;
        const CLI::App* next = nullptr;
        for (const CLI::App* sub : level->get_subcommands([](const CLI::App*) { return true; })) {
            names.push_back(sub->get_name());
            if (sub->get_name() == word) next = sub;
        }
        if (next) {
            level = next;
            continue;
        }
        const std::string close = nearest(word, names);
        return close.empty() ? "" : "did you mean '" + close + "'?";
    }
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    log::setup("crater", log::Level::warning);
    Context context;
    context.colours = ::isatty(1) && !std::getenv("NO_COLOR");

    CLI::App app("Crater: GPU, CPU, memory and disk of many servers in one pool.", "crater");
    app.set_version_flag("--version", "crater " + daemon::version());
    app.require_subcommand(1);
    app.fallthrough();
    const std::map<std::string, Output> outputs = {
        {"table", Output::table}, {"wide", Output::wide}, {"json", Output::json}, {"yaml", Output::yaml}};
    app.add_option("-o,--output", context.output, "table, wide, json or yaml")
        ->transform(CLI::CheckedTransformer(outputs).description(""));
    app.add_option("--server", context.server, "URL of the scheduler [CRATER_SERVER]");
    app.add_option("--token", context.token, "Bearer token [CRATER_TOKEN]");

    for (auto add : {add_up, add_doctor, add_config, add_job, add_node, add_queue, add_plugin, add_quota,
                     add_defrag, add_cluster, add_token, add_events, add_simulate, add_completion})
        add(app, context);

    try {
        app.parse(argc, argv);
        return context.exit_status;
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // help, version
        std::cerr << "crater: " << error.what() << "\n";
        if (auto close = suggestion(app, argc, argv); !close.empty())
            std::cerr << "        " << close << "\n";
        std::cerr << "        crater --help, or --help after any command, lists what there is\n";
        return 2;
    } catch (const CommandFailed& failed) {
        print_error(context, failed.error);
        return exit_status_of(failed.error);
    }
}
