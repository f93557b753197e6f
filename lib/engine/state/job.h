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

    WaitClass* in_class = nullptr;  // while it waits and is not blocked by a dependency

    bool stopping = false;           // told to make room; holds its slices until they are freed
    std::vector<int> victims;        // that stop for this job and still hold something
    std::vector<int> waited_for_by;  // jobs of whose victims it is one
    std::vector<Slices> pledge;      // slices kept free for it meanwhile: where it would go
    bool moving = false;             // it stops to go where its pledge is

    Waiting key() const { return {info.submitted, info.id, position}; }
    bool can_yield_to(const JobSlot& other) const {
        return info.preemptible && !stopping && held > 0 && info.priority < other.info.priority &&
               !(type == JobType::inference && other.type == JobType::training);
    }
};

}  // namespace crater::engine
