#include "crater/plugin/registry.h"

#include <algorithm>

#include "crater/base/log.h"
#include "folder.h"
#include "loaded.h"
#include "metrics.h"

namespace crater::plugin {

// One file: the version that is asked, and the one that is about to take over.
struct Registry::Entry {
    Found found;
    std::unique_ptr<Loaded> current, next;
    int takeover = 0;     // which one made `current`
    std::string refusal;  // why the file as it is now is not the current version
    Instant refused_at;
};

Registry::Registry(Options options, const Clock& clock, Metrics* metrics)
    : options_(std::move(options)), clock_(clock), metrics_(metrics) {}

// All at once, so that together they take no longer than one.
Registry::~Registry() {
    for (auto& [name, entry] : entries_) leave(entry.current);
    for (const auto& old : leaving_) old->wait_gone(Millis(100));
}

bool Registry::refresh() {
    if (options_.folder.empty()) return false;
    look_at_folder();
    for (auto& [name, entry] : entries_) {
        if (entry.current) entry.current->look();
        take_over(entry);
    }
    std::erase_if(leaving_, [](const auto& old) { return old->gone(); });
    std::string now = standing();
    std::swap(now, standing_);
    return now != standing_;
}

bool Registry::settle(Millis patience) {
    const std::int64_t deadline = clock_.ticks_us() + patience.count() * 1000;
    bool changed = refresh();
    for (auto& [name, entry] : entries_)
        if (entry.next) entry.next->wait(std::max<std::int64_t>(0, deadline - clock_.ticks_us()));
    return refresh() || changed;
}

void Registry::look_at_folder() {
    const auto files = plugins_in(options_.folder);
    const std::string wrong = files ? "" : files.error().text();
    if (wrong != folder_wrong_ && !files) log::warning("the plugins' folder", {{"why", wrong}});
    folder_wrong_ = wrong;
    if (!files) return;
    for (const auto& [name, found] : *files) {
        Entry& entry = entries_[name];
        if (entry.found.stamp == found.stamp && entry.found.wrong == found.wrong) continue;
        entry.found = found;
        load(entry);
    }
    for (auto it = entries_.begin(); it != entries_.end();) {
        if (files->contains(it->first)) {
            ++it;
            continue;
        }
        log::info("a placement plugin is gone with its file", {{"plugin", it->first}});
        if (metrics_) metrics_->remove(metric::active, {it->first});
        leave(it->second.current), leave(it->second.next);
        it = entries_.erase(it);
    }
}

// Its last words are waited for elsewhere.
void Registry::leave(std::unique_ptr<Loaded>& version) {
    if (!version) return;
    version->retire();
    leaving_.push_back(std::move(version));
}

void Registry::load(Entry& entry) {
    entry.next.reset();
    entry.refusal = entry.found.wrong;
    entry.refused_at = clock_.now();
    if (!entry.refusal.empty()) return;
    const auto slash = entry.found.file.rfind('/') + 1;
    const std::string name = entry.found.file.substr(slash, entry.found.file.size() - slash - 3);
    entry.next = std::make_unique<Loaded>(
        HostProcess::Command{options_.host, name, entry.found.file, entry.found.config}, options_, clock_,
        metrics_);
}

void Registry::take_over(Entry& entry) {
    if (!entry.next) return;
    entry.next->look();
    if (entry.next->state() == State::loading) return;
    if (entry.next->state() == State::refused) {
        entry.refusal = entry.next->reason();
        entry.refused_at = clock_.now();
        entry.next.reset();
        return;
    }
    leave(entry.current);
    entry.current = std::move(entry.next);
    entry.takeover = ++takeovers_;
}

engine::PlacementHook* Registry::find(std::string_view name) {
    const auto it = entries_.find(name);
    if (it == entries_.end() || !it->second.current) return nullptr;
    Loaded& plugin = *it->second.current;
    return plugin.state() == State::active ? &plugin : nullptr;
}

// Which versions can be asked, and what is wrong: differs when another answer could come, or people should
// know.
std::string Registry::standing() const {
    std::string out;
    for (const auto& [name, entry] : entries_) {
        const bool asked = entry.current && entry.current->state() == State::active;
        out += name + " " + std::to_string(asked ? entry.takeover : 0) + " " + entry.refusal + "\n";
    }
    return out;
}

std::vector<Row> Registry::rows() const {
    std::vector<Row> out;
    for (const auto& [name, entry] : entries_) {
        Row row{.name = name, .file = entry.found.file, .since = entry.refused_at};
        if (entry.current)
            entry.current->fill(row);
        else if (entry.next)
            entry.next->fill(row);
        else
            row.state = State::refused;
        if (!entry.refusal.empty())
            row.reason += entry.current ? (row.reason.empty() ? "" : "; ") +
                                              ("its new file is refused: " + entry.refusal)
                                        : entry.refusal;
        out.push_back(std::move(row));
    }
    return out;
}

}  // namespace crater::plugin
