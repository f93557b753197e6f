// What tasks of a kind use at their peak, learned from those that finished: the engine's prediction counts
// with it for the next ones of the kind. The scheduler's loop alone.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "crater/api/views.h"
#include "crater/engine/engine.h"

namespace crater::scheduler {

// Under "profile/<kind>".
struct StoredProfile {
    std::int64_t runs = 0;
    Instant at;                         // of the last one's end
    std::vector<engine::Profile> last;  // peaks of the last runs, oldest first
};
template <class V>
void describe(V& v, StoredProfile& p) {
    v.field("runs", p.runs, "Jobs of the kind that finished.");
    v.field("at", p.at, "When the last one did.");
    v.field("last", p.last, "Peaks of the last ones, oldest first.");
}

class Profiles {
  public:
    static constexpr std::size_t runs_kept = 8;
    static constexpr std::int64_t runs_to_fill = 3;  // from so many on requests are filled from what is known

    // Jobs of one tenant that run the same program on the same part of the same cards are of one kind; never
    // 0.
    static std::uint64_t kind_of(const std::string& tenant, const JobSpec& spec);
    static std::string key_of(std::uint64_t kind);

    void take(std::uint64_t kind, StoredProfile stored);
    // The most that any of the last runs used; null: nothing is known of the kind.
    std::shared_ptr<const engine::Profile> of(std::uint64_t kind) const;
    std::int64_t runs(std::uint64_t kind) const;

    // A task of the job uses so much now; of several cards each counts as the mean of them.
    void saw(const std::string& job, std::int64_t task, const api::MetricPoint& point, std::int64_t cards);
    // The job will not be seen again. Returns what is known of its kind now, null when it taught nothing: it
    // did not finish, or was never seen.
    const StoredProfile* ended(const std::string& job, std::uint64_t kind, bool finished, Instant at);
    // A run of the kind got less memory than it needed: what others used tells nothing. True if it was known.
    bool mistaken(std::uint64_t kind) { return kinds_.erase(kind) > 0; }
    // Kinds of which none ended since: they are known no more.
    std::vector<std::uint64_t> forget(Instant before);

  private:
    struct Known {
        StoredProfile stored;
        std::shared_ptr<const engine::Profile> most;
    };
    struct Seen {
        engine::Profile peak;
        std::unordered_map<std::int64_t, api::MetricPoint> last;  // by task
    };
    static void set(Known& known, StoredProfile stored);

    std::unordered_map<std::uint64_t, Known> kinds_;
    std::unordered_map<std::string, Seen> seen_;
};

}  // namespace crater::scheduler
