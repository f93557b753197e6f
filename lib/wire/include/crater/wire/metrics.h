// The registry behind base/metric.h (prometheus-cpp). Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "crater/base/metric.h"

namespace crater::wire {

class MetricRegistry : public Metrics {
  public:
    virtual std::string exposition() const = 0;  // Prometheus text format
};
std::unique_ptr<MetricRegistry> make_metrics();

}  // namespace crater::wire
