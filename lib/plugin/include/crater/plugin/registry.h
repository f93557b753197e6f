// The plugins of a folder: loaded, replaced, disabled, and asked by the engine under their names.
//
// Owned by whoever owns the engine and used on its thread. Each plugin lives in a process of its own
// (HostProcess); a decision waits for one at most `budget`, and none can take the scheduler with it.
//
// A file NAME.so makes the plugin NAME. A changed file (other inode, size or time; NAME.conf counts too) is
// loaded beside the running one and takes over in `refresh`, once it said that it is ready; if it never is,
// the running one goes on and the row says why. A plugin at fault is quarantined until its file changes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crater/base/clock.h"
#include "crater/base/metric.h"
#include "crater/engine/hooks.h"

namespace crater::plugin {

enum class State {
    loading,
    active,
    quarantined,  // was active, then at fault
    refused,      // never became active
};
inline std::span<const EnumName<State>> enum_names(State) {
    static constexpr EnumName<State> names[] = {{State::loading, "loading"},
                                                {State::active, "active"},
                                                {State::quarantined, "quarantined"},
                                                {State::refused, "refused"}};
    return names;
}

// A plugin as people see it.
struct Row {
    std::string name, version, description, file;
    State state = State::loading;
    std::string reason;  // why it is not active, or why its new file is not
    std::int64_t calls = 0, late = 0;
    Micros p99;  // of the last 1,000 calls
    Instant since;
};

struct Options {
    std::string folder;  // empty, or not there: no plugins
    std::string host;    // the program crater-plugin-host
    Millis budget{5};    // of one call, filter and score together
    int late_max = 3;    // that often late, with fewer than 1,000 good calls in between: quarantined
    Millis loading_max{5'000};
};

class Loaded;  // one version of one plugin

class Registry final : public engine::HookSource {
  public:
    Registry(Options options, const Clock& clock, Metrics* metrics = nullptr);
    ~Registry() override;

    // Looks at the folder, lets new versions take over, ends old ones. Between decisions, every second or
    // two. True when other plugins can be asked than before: what waits because of one may be worth another
    // look.
    bool refresh();
    // `refresh`, and waits until nothing is loading, but not longer: for the start, before the first
    // decision.
    bool settle(Millis patience);

    engine::PlacementHook* find(std::string_view name) override;
    std::vector<Row> rows() const;  // by name

  private:
    struct Entry;
    void look_at_folder();
    void load(Entry& entry);
    void take_over(Entry& entry);
    void leave(std::unique_ptr<Loaded>& version);
    std::string standing() const;

    Options options_;
    const Clock& clock_;
    Metrics* metrics_;
    std::map<std::string, Entry, std::less<>> entries_;
    std::vector<std::unique_ptr<Loaded>> leaving_;
    std::string standing_, folder_wrong_;  // as last seen
    int takeovers_ = 0;
};

}  // namespace crater::plugin
