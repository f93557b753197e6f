#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "crater/base/log_level.h"
#include "crater/daemon/daemon.h"

#ifndef CRATER_VERSION
#define CRATER_VERSION "0.1.0"
#endif

namespace crater::daemon {

std::string version() { return CRATER_VERSION; }

Options parse(int argc, char** argv, const std::string& name, const std::string& purpose,
              const std::function<void(CLI::App&)>& extend) {
    Options options{.config = "/etc/crater/" + name.substr(name.find('-') + 1) + ".yaml"};
    std::string level = "info";
    CLI::App app(purpose, name);
    app.set_version_flag("--version", name + " " + version());
    auto* config = app.add_option("--config", options.config, "Configuration file")->capture_default_str();
    auto* level_option =
        app.add_option("--log-level", level, "debug, info, warning or error")->capture_default_str();
    app.add_flag("--check", options.check, "Validate the configuration and end");
    if (extend) extend(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::exit(app.exit(error) == 0 ? 0 : 2);
    }
    options.config_given = config->count() > 0;
    options.level_given = level_option->count() > 0;
    auto parsed = log::parse_level(level);
    if (!parsed) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), parsed.error().text().c_str());
        std::exit(2);
    }
    log::setup(name, *parsed);
    return options;
}

Result<std::string> config_text(const Options& options) {
    auto text = read_file(options.config);
    if (!text && text.error().code == Code::not_found && !options.config_given) return std::string();
    return text;
}

void use_log_level(const std::string& level) {
    if (level.empty()) return;
    if (const auto parsed = log::parse_level(level)) log::set_level(*parsed);
}

void report_reload(const std::vector<std::string>& applied, const std::vector<std::string>& at_restart) {
    const auto listed = [](const std::vector<std::string>& keys) {
        std::string out;
        for (const std::string& key : keys) out += (out.empty() ? "" : ", ") + key;
        return out.empty() ? std::string("nothing") : out;
    };
    log::info("the configuration was read again", {{"changed", listed(applied)}});
    if (!at_restart.empty())
        log::warning("these settings changed, and need a restart to take effect",
                     {{"settings", listed(at_restart)}});
}

int report(const std::string& name, const Error& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.text().c_str());
    return code_row(error.code).exit_status;
}

}  // namespace crater::daemon
