#include <iostream>

#include "../commands.h"
#include "../print.h"

namespace crater::cli {

void add_config(CLI::App& app, Context& context) {
    auto* config =
        app.add_subcommand("config", "Which scheduler this command line talks to")->require_subcommand(1);
    config->add_subcommand("set", "Remember --server and --token")->callback([&context] {
        ClientConfig known = need(load_client_config());
        if (context.server.empty() && context.token.empty())
            throw CommandFailed{
                {Code::invalid, "nothing to set", "", "crater config set --server URL --token TOKEN"}};
        if (!context.server.empty()) known.server = context.server;
        if (!context.token.empty()) known.token = context.token;
        need(save_client_config(known));
        std::cerr << "saved in " << config_path() << "\n";
    });
    config->add_subcommand("get", "Show what is used")->callback([&context] {
        need(context.resolve());
        const Json answer = {{"server", context.server},
                             {"token", context.token.empty() ? "" : "***"},
                             {"file", config_path()}};
        print_answer(context, answer, [&] {
            std::cout << "server  " << context.server << "\ntoken   "
                      << (context.token.empty() ? "none" : "set") << "\nfile    " << config_path() << "\n";
        });
    });
}

}  // namespace crater::cli
