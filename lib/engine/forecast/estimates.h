// When waiting jobs will start: what a forward simulation said last, and how good such answers were. How what
// came compares with what was said first for a job is learned, by how long a wait was expected, and later
// answers are stretched by it so that they hold at least as often as they say.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crater/base/quantity.h"
#include "forecast/spread.h"

namespace crater::engine {

class Estimates {
  public:
    // As the simulation has it, from when it was asked on; p50 -1: it never starts.
    struct Wait {
        std::int64_t p50 = -1, p90 = -1;  // ms
    };
    Wait stretched(Wait raw) const;

    // Said for a job first; compared when it starts, forgotten when it goes.
    void said(int job, Instant now, Wait raw);
    void started(int job, Instant now);
    // What is expected now of a job that has waited for half of what was said counts as well, once: by the
    // time it starts much is over, and while waits grow only the short ones are.
    void revised(int job, Instant now, Wait raw);
    void forget(int job);

    // The answers of the last simulation, by position of the job.
    struct Answer {
        std::uint64_t round = 0;  // of the simulation
        Wait raw;
    };
    std::uint64_t round = 0;
    Instant simulated;      // when; 0: never
    std::int64_t work = 0;  // that it was, in jobs
    bool behind = false;    // some stood too far behind to be in it
    const Wait* of(int job) const;
    void answer(int job, Wait raw);

    bool empty() const { return errors_[0].late.count() == 0; }
    std::string save() const;
    bool load(std::string_view text);

  private:
    static constexpr std::size_t lengths = 6;  // of all, then by the wait that was expected
    struct Error {
        Spread middle, late;  // what came in thousandths of p50, of p90
    };
    static std::size_t length_of(const Wait& raw);
    int error_of(const Wait& raw) const;  // that answers are stretched by; -1: none yet

    struct Said {
        Instant at;
        Wait raw;
        bool revised = false;
    };
    void compare(std::int64_t came, const Wait& raw);
    std::array<Error, lengths> errors_;
    std::vector<Said> said_;
    std::vector<Answer> answers_;
};

}  // namespace crater::engine
