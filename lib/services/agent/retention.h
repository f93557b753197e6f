// Owner of what ended tasks left on the node: records, logs and folders of attempts, checkpoints and outputs
// of jobs. Drops what is older than the configuration allows and, when the disk is short, logs and working
// folders of ended attempts before their time, oldest first. Checkpoints and outputs go by age only: a job
// that waits may still need them. An attempt whose exit the scheduler has not made durable is never touched.
// Whatever goes is said in the log. On the agent's loop; one thing per turn of it.
#pragma once

#include <deque>

#include "crater/agent/agent.h"

namespace crater::agent {

class Retention {
  public:
    Retention(RetentionConfig config, Loop& loop, const Clock& clock, run::Runtime& runtime);
    ~Retention();
    void start();
    void stop();
    void reload(RetentionConfig config);

  private:
    void look();  // every minute at the disk, every hour at ages
    void gather_old();
    void drop_next();  // of `old_`, then as long as the disk is short of what is kept
    bool disk_short() const;

    RetentionConfig config_;
    Loop& loop_;
    const Clock& clock_;
    run::Runtime& runtime_;
    TimerId timer_ = 0, step_ = 0;
    Instant next_ages_;
    std::deque<run::Kept> old_, spare_;  // spare: what may go while the disk is short
    std::deque<run::JobFolder> old_folders_;
    // dropped since the last line in the log
    std::size_t attempts_ = 0, spared_ = 0, checkpoints_ = 0, outputs_ = 0;
    bool short_said_ = false;
};

}  // namespace crater::agent
