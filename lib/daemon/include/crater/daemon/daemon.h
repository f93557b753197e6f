// What the mains of all daemons share. SPEC 10.7: --config FILE (default /etc/crater/<name>.yaml), --version,
// --log-level, --check.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crater/base/clock.h"
#include "crater/base/error.h"

namespace CLI {
class App;
}

namespace crater::daemon {

std::string version();

// Parses the common options and those that `extend` adds; ends the process for --help, --version and wrong
// usage (exit 2).
struct Options {
    std::string config;  // path; may be absent unless the user named it
    bool config_given = false;
    // --log-level: wins over the configuration's log_level until that is read again
    bool level_given = false;
    bool check = false;  // validate and end
};
Options parse(int argc, char** argv, const std::string& name, const std::string& purpose,
              const std::function<void(CLI::App&)>& extend);

// `log_level` of a configuration; "" changes nothing. Its text was checked when the configuration was read.
void use_log_level(const std::string& level);
// What became of a configuration that was read again: one line for what holds now, one that names what waits
// for the next start.
void report_reload(const std::vector<std::string>& applied, const std::vector<std::string>& at_restart);

// The configuration's text; "" when the default file does not exist and the user named none.
Result<std::string> config_text(const Options& options);
// A whole file; Code::not_found or Code::unavailable with the path and the reason. A token file's trailing
// newline is removed by `read_secret`.
Result<std::string> read_file(const std::string& path);
Result<std::string> read_secret(const std::string& path);
// Written to a temporary beside it, synced, renamed. Mode as given.
Result<void> write_file(const std::string& path, const std::string& content, unsigned mode);

// SIGTERM and SIGINT run `on_stop` on the loop (a second one ends the process at once), SIGHUP runs
// `on_reload`. Call before any thread starts.
class Signals {
  public:
    Signals(Loop& loop, std::function<void()> on_stop, std::function<void()> on_reload = {});
    ~Signals();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// Prints "NAME: error" on stderr; returns the table's exit status.
int report(const std::string& name, const Error& error);

}  // namespace crater::daemon
