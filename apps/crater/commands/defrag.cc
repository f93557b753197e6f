#include <iostream>

#include "../commands.h"
#include "../print.h"

namespace crater::cli {

void add_defrag(CLI::App& app, Context& context) {
    struct Options {
        std::string job;
        std::int64_t max_moves = 10;
        bool dry_run = false;
    };
    auto options = std::make_shared<Options>();
    auto* defrag = app.add_subcommand(
        "defrag",
        "Move preemptible jobs so that what is free lies together; each goes on from its last checkpoint");
    defrag->add_option("--job", options->job,
                       "Make room for this waiting job; without it, whatever makes what is free worth most");
    defrag->add_option("--max-moves", options->max_moves, "Move at most so many jobs")->capture_default_str();
    defrag->add_flag("--dry-run", options->dry_run,
                     "Say which jobs would move, what it costs and what it gains; move none");
    defrag->callback([&context, options] {
        Client client(context);
        Json body{{"max_moves", options->max_moves}};
        if (!options->job.empty()) body["job"] = options->job;
        if (options->dry_run) {
            const Json plan = need(client.call("POST", "/api/v1/plans/defrag", body.dump()));
            return print_answer(context, plan, [&] { print_plan(plan); });
        }
        const Json started = need(client.call("POST", "/api/v1/defrag", body.dump()));
        print_answer(context, started, [&] { print_plan(started["plan"]); });
    });
}

}  // namespace crater::cli
