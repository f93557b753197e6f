// Streams task logs to the scheduler, a piece at a time, following while the task lives.
#pragma once

#include <functional>
#include <map>

#include "crater/base/clock.h"
#include "crater/proto/agent.pb.h"
#include "crater/run/runtime.h"

namespace crater::agent {

class LogStreams {
  public:
    using Send = std::function<void(const proto::LogChunk&)>;
    LogStreams(Loop& loop, run::Runtime& runtime, std::function<bool(const run::TaskId&)> alive, Send send);
    ~LogStreams();
    void open(const proto::LogRequest& request);
    void cancel(std::uint64_t request);
    void cancel_all();

  private:
    struct Stream {
        run::TaskId id;
        std::int64_t offset = 0;
        bool follow = false;
        TimerId timer = 0;
    };
    void pump(std::uint64_t request);
    std::int64_t tail_offset(const run::TaskId& id, std::int64_t tail_bytes);

    Loop& loop_;
    run::Runtime& runtime_;
    std::function<bool(const run::TaskId&)> alive_;
    Send send_;
    std::map<std::uint64_t, Stream> streams_;
};

}  // namespace crater::agent
