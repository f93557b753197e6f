// One function per noun: adds its sub-commands to the application. A command's body runs in its callback and
// may throw CommandFailed.
#pragma once

#include <CLI/CLI.hpp>

#include "context.h"

namespace crater::cli {

struct CommandFailed {
    Error error;
};
// The value, or ends the command with its error.
template <class T>
T need(Result<T> result) {
    if (!result) throw CommandFailed{std::move(result.error())};
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void add_up(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_config(CLI::App& app, Context& context);
void add_job(CLI::App& app, Context& context);
void add_quota(CLI::App& app, Context& context);
void add_node(CLI::App& app, Context& context);
void add_queue(CLI::App& app, Context& context);
void add_plugin(CLI::App& app, Context& context);
void add_defrag(CLI::App& app, Context& context);
void add_cluster(CLI::App& app, Context& context);
void add_token(CLI::App& app, Context& context);
void add_events(CLI::App& app, Context& context);
void add_simulate(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);

}  // namespace crater::cli
