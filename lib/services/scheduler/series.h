// Live use of tasks over the last hour, from the agents' samples. Thread-safe; bounded per task and in all.
#pragma once

#include <list>
#include <mutex>
#include <unordered_map>

#include "crater/api/views.h"

namespace crater::scheduler {

class SeriesBook {
  public:
    void add(const std::string& job, std::int64_t task, const api::MetricPoint& point);
    api::JobMetrics of(const std::string& job) const;

  private:
    struct Entry {
        std::map<std::int64_t, std::vector<api::MetricPoint>> tasks;
        std::list<std::string>::iterator order;
    };
    mutable std::mutex mutex_;
    std::unordered_map<std::string, Entry> jobs_;
    std::list<std::string> order_;  // least recently fed first
    std::size_t points_ = 0;
};

}  // namespace crater::scheduler
