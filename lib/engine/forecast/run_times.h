// How long jobs run: what users say, and what was learned from jobs that ended.
//
// In this order: what the job carries (EngineJob::run_time); what its document says (duration: half end by
// then, and nine in ten by so much later as this tenant's jobs, else all, were late before); what jobs of its
// tenant took that asked for the same; what jobs took that asked for the same; what all took. Else nothing is
// known. A time limit ends what runs longer. All times are of the whole job, what earlier starts kept
// included.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "crater/engine/engine.h"
#include "forecast/spread.h"

namespace crater::engine {

class RunTimes {
  public:
    enum class Basis : std::uint8_t { unknown, given, declared, tenant, alike, all, limit };
    struct Expected {
        RunTime time;  // whole milliseconds, p50 <= p90
        Basis basis = Basis::unknown;
        explicit operator bool() const { return basis != Basis::unknown; }
    };

    // A job ended after it ran for `total`.
    void ended(const EngineJob& job, Millis total);

    Expected expected(const EngineJob& job) const;
    // By when, counted from its begin, `part` (of Spread::one) of jobs like it are over that have run for
    // `age`; never below `age`. Zero: nothing is known.
    Millis over_by(const EngineJob& job, std::uint32_t part, Millis age) const;

    // What it takes to draw times of a job again and again: looked up once.
    struct Source {
        const Spread* spread = nullptr;  // of times in ms, or of ratios in thousandths when `scale` is set
        std::int64_t scale = 0;          // declared, ms
        RunTime given;
        std::int64_t limit = INT64_MAX;
        Basis basis = Basis::unknown;
        // In ms; not for a source of which nothing is known.
        std::int64_t at(std::uint32_t part, std::int64_t age) const;
    };
    Source source(const EngineJob& job) const;

    // All that was learned, and back. Errors: not what `save` wrote; nothing changes then.
    std::string save() const;
    bool load(std::string_view text);
    std::uint64_t ends_seen() const { return clock_; }
    bool empty() const { return spreads_.empty(); }
    // Enough was learned since it was last said to be worth keeping; says so once.
    bool worth_keeping();

  private:
    struct Key {
        std::uint64_t tenant = 0, kind = 0;  // 0: of any
        bool ratio = false;                  // of what was declared
        auto operator<=>(const Key&) const = default;
    };
    struct Entry {
        Spread spread;
        std::uint64_t touched = 0;
    };
    const Spread* known(const Key& key) const;
    void learn(const Key& key, std::int64_t value);

    std::map<Key, Entry> spreads_;
    std::uint64_t clock_ = 0, kept_at_ = 0;
};

}  // namespace crater::engine
