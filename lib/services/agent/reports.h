// Reports that the scheduler has not made durable yet, in order. They are repeated on every new link.
#pragma once

#include <deque>
#include <optional>

#include "crater/proto/agent.pb.h"
#include "crater/run/runtime.h"

namespace crater::agent {

class Reports {
  public:
    // Numbers it and keeps it until `acknowledged`.
    const proto::TaskReport& add(const run::TaskEvent& event);
    // The acknowledged report, when it was waiting.
    std::optional<proto::TaskReport> acknowledged(std::uint64_t number);
    const std::deque<proto::TaskReport>& waiting() const { return waiting_; }
    const proto::TaskReport* last_of(const run::TaskId& id) const;

  private:
    std::deque<proto::TaskReport> waiting_;
    std::uint64_t next_ = 1;
};

run::TaskId id_of(const proto::TaskReport& report);

}  // namespace crater::agent
