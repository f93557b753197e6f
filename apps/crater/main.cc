// crater: the command line. Each noun is a file in commands/.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "commands.h"
#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "crater/daemon/daemon.h"

namespace {

using namespace crater;
using namespace crater::cli;

struct Unknown {
    std::string word, close;  // and the nearest that there is, or empty
};

// The first word that stands where a command should and is none; no word: none, or an option before it is
// unknown.
Unknown unknown_command(const CLI::App& app, int argc, char** argv) {
    const CLI::App* level = &app;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word.starts_with("-")) {
            const std::string name = word.substr(0, word.find('='));
            const CLI::Option* option = level->get_option_no_throw(name);
            if (!option) option = app.get_option_no_throw(name);
            if (!option) return {};
            if (name == word && option->get_items_expected_min() > 0) ++i;  // its value
            continue;
        }
        const auto commands = level->get_subcommands([](const CLI::App*) { return true; });
        if (commands.empty()) return {};
        const auto next = std::find_if(commands.begin(), commands.end(),
                                       [&](const CLI::App* sub) { return sub->get_name() == word; });
        if (next == commands.end()) {
            std::vector<std::string> names;
            for (const CLI::App* sub : commands) names.push_back(sub->get_name());
            return {word, nearest(word, names)};
        }
        level = *next;
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
    const auto set_output = [&](const std::string& name) {
        const auto row = outputs.find(name);
        if (row == outputs.end())
            throw CLI::ValidationError("--output", "\"" + name + "\" is none of table, wide, json, yaml");
        context.output = row->second;
    };
    app.add_option_function<std::string>("-o,--output", set_output, "table, wide, json or yaml");
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
        const Unknown unknown = unknown_command(app, argc, argv);
        std::cerr << "crater: "
                  << (unknown.word.empty() ? error.what() : "there is no command '" + unknown.word + "'")
                  << "\n";
        if (!unknown.close.empty()) std::cerr << "        did you mean '" << unknown.close << "'?\n";
        std::cerr << "        crater --help, or --help after any command, lists what there is\n";
        return 2;
    } catch (const CommandFailed& failed) {
        print_error(context, failed.error);
        return exit_status_of(failed.error);
    }
}
