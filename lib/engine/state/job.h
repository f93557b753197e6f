// A job as the engine keeps it, with what each of its tasks holds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "order/backlog.h"
#include "quota/tenants.h"
#include "state/ledger.h"

namespace crater::engine {

struct TaskSlot {
    enum class Life : std::uint8_t { waiting, held, ended } life = Life::waiting;
    Instant started;
    std::uint64_t fact = 0;      // its part of the state hash
    std::uint64_t decision = 0;  // that placed it here; 0: a fact did
    Slices slices;               // while held
};

struct JobSlot {
    // What every decision reads and writes comes first.
    Few<TaskSlot, 1> tasks;
    int position = -1, queue = -1, tenant = -1, shape = -1, crowd = -1;
    int waiting = 0, held = 0;
    bool stopping = false;  // told to make room; holds its slices until they are freed
    JobType type = JobType::batch;
    std::uint64_t fact = 0;  // its part of the state hash
    std::uint64_t id_hash = 0;
    Instant checkpointed;  // what ran before is kept
    Instant run_started;   // of the last run that ended

    WaitClass* in_class = nullptr;  // while it waits and is not blocked by a dependency
    Waiting place;                  // there
    Instant ages_at;                // when it will have waited too long, or had; 0 = never

    EngineJob info;
    std::uint64_t spec_hash = 0, profile_hash = 0;

    std::vector<int> victims;        // that stop for this job and still hold something
    std::vector<int> waited_for_by;  // jobs of whose victims it is one
    std::vector<Slices> pledge;      // slices kept free for it meanwhile: where it would go
    bool moving = false;             // it stops to go where its pledge is
    int pledge_priority = 0;         // who is above it may take them

    // Whether no task before this one holds anything: of all that holds something each job is seen once.
    bool first_held(int task) const {
        for (int t = 0; t < task; ++t)
            if (tasks[static_cast<std::size_t>(t)].life == TaskSlot::Life::held) return false;
        return true;
    }
};

}  // namespace crater::engine
