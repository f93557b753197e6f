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
    std::uint64_t fact = 0;  // its part of the state hash
    Slices slices;           // while held
};

struct JobSlot {
    EngineJob info;
    JobType type = JobType::batch;
    int position = -1, queue = -1, tenant = -1, shape = -1, crowd = -1;
    std::vector<TaskSlot> tasks;
    int waiting = 0, held = 0;
    std::uint64_t fact = 0;                     // its part of the state hash
    std::uint64_t id_hash = 0, spec_hash = 0, profile_hash = 0;  // what never changes of it

    Instant checkpointed;  // what ran before is kept
    Instant run_started;   // of the last run that ended

    WaitClass* in_class = nullptr;  // while it waits and is not blocked by a dependency
    Waiting place;                  // there
    Instant ages_at;                // when it will have waited too long; 0 = it has, or never will

    bool stopping = false;           // told to make room; holds its slices until they are freed
    std::vector<int> victims;        // that stop for this job and still hold something
    std::vector<int> waited_for_by;  // jobs of whose victims it is one
    std::vector<Slices> pledge;      // slices kept free for it meanwhile: where it would go
    int pledge_priority = 0;         // who is above it may take them

};

}  // namespace crater::engine
