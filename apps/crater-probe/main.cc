// crater-probe: what hardware this machine has, and what it is really worth.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include "crater/base/log.h"
#include "crater/codec/codec.h"
#include "crater/daemon/daemon.h"
#include "crater/hw/calibrate.h"
#include "crater/hw/source.h"
#include "show.h"

namespace {

using namespace crater;

constexpr const char* name = "crater-probe";

struct Choices {
    std::string output = "table";
    std::string path = "/";
    std::string config;
    std::string nvml = "libnvidia-ml.so.1";
    bool quick = false;
};

// As root the machine's, else the user's own.
std::string default_config() {
    if (geteuid() == 0) return "/etc/crater/probe-config.yaml";
    const char* folder = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    return (folder && *folder ? std::string(folder) : std::string(home ? home : ".") + "/.config") +
           "/crater/probe-config.yaml";
}

std::unique_ptr<hw::Source> machine(const Choices& choices, const Clock& clock) {
    return hw::machine_source(
        {.data_path = choices.path, .nvml_library = choices.nvml, .probe_config = choices.config}, clock);
}

template <class T>
Result<void> print(const Choices& choices, const T& value) {
    const std::string json = codec::write_json(value);
    if (choices.output == "json") {
        std::cout << json << "\n";
        return {};
    }
    CRATER_TRY(yaml, codec::yaml_of_json(json));
    std::cout << yaml;
    return {};
}

Result<void> show(const Choices& choices) {
    const auto clock = system_clock();
    const auto source = machine(choices, *clock);
    CRATER_TRY(inventory, source->inventory());
    if (choices.output != "table") return print(choices, inventory);
    source->sample(clock->now());
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // rates need two looks
    probe::print_inventory(std::cout, inventory, source->sample(clock->now()));
    return {};
}

// On a terminal one line that changes, elsewhere a line a step.
void tell(std::string_view what, int done, int steps) {
    const std::string line =
        "[" + std::to_string(done + 1) + "/" + std::to_string(steps) + "] " + std::string(what);
    if (isatty(2))
        std::cerr << "\r\x1b[K" << line << std::flush;
    else
        std::cerr << line << "\n";
}

Result<void> calibrate(const Choices& choices) {
    CRATER_TRY(before,
               hw::read_probe_config(choices.config));  // a broken file is found before the work is done
    const auto clock = system_clock();
    CRATER_TRY(inventory, machine(choices, *clock)->inventory());
    auto measured = hw::calibrate({.path = choices.path, .quick = choices.quick}, inventory, *clock, tell);
    if (isatty(2)) std::cerr << "\r\x1b[K";
    if (!measured) return fail(std::move(measured.error()));
    for (const auto& [disk, values] : before.measured.ssd)
        measured->ssd.try_emplace(disk, values);  // of other disks

    std::string text;
    std::error_code error;
    if (std::filesystem::exists(choices.config, error)) {
        CRATER_TRY(present, daemon::read_file(choices.config));
        text = std::move(present);
    } else {
        std::filesystem::create_directories(std::filesystem::path(choices.config).parent_path(), error);
    }
    CRATER_TRY_VOID(daemon::write_file(choices.config, hw::with_measured(text, *measured), 0644));
    std::cerr << "written to " << choices.config << "\n";
    if (choices.output != "table") return print(choices, *measured);
    probe::print_measured(std::cout, *measured);
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    log::setup(name, log::Level::warning);
    Choices choices;
    choices.config = default_config();
    CLI::App app("Crater's probe: the hardware of this machine and what it is really worth.", name);
    app.set_version_flag("--version", std::string(name) + " " + daemon::version());
    app.require_subcommand(1);
    app.fallthrough();
    app.add_option("-o,--output", choices.output, "table, json or yaml")
        ->check(CLI::IsMember({"table", "json", "yaml"}));
    app.add_option("--path", choices.path, "Folder on the disk that serves tasks")->capture_default_str();
    app.add_option("--config", choices.config, "The probe's configuration")->capture_default_str();
    app.add_option("--nvml", choices.nvml, "NVML library")->capture_default_str();
    auto* show_command = app.add_subcommand("show", "Print the hardware");
    auto* calibrate_command = app.add_subcommand(
        "calibrate", "Measure memory and disk under load and keep the result in the configuration");
    calibrate_command->add_flag("--quick", choices.quick, "Seconds instead of a minute, less written");
    auto* models_command = app.add_subcommand("models", "Print the known GPU models");
    constexpr int usage = 2;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : usage;
    }
    Result<void> done;
    if (*show_command) done = show(choices);
    if (*calibrate_command) done = calibrate(choices);
    if (*models_command) probe::print_models(std::cout);
    return done ? 0 : daemon::report(name, done.error());
}
