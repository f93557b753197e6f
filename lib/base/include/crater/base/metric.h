// Metrics: a definition is one constexpr row in its owner's metrics.h and serves /metrics, the docs and the
// console's legends. The registry behind it lives in wire (prometheus-cpp); services see only this interface.
// Thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace crater {

enum class MetricKind { counter, gauge, histogram };

struct MetricDef {
    std::string_view name;  // crater_..., the unit last
    MetricKind kind;
    std::string_view help;
    std::string_view labels = {};   // names separated by spaces
    std::string_view buckets = {};  // histograms: upper bounds separated by spaces
};

class Metrics {
  public:
    virtual ~Metrics() = default;
    // Label values in the order of the definition.
    virtual void add(const MetricDef& def, double amount, const std::vector<std::string>& labels = {}) = 0;
    virtual void set(const MetricDef& def, double value, const std::vector<std::string>& labels = {}) = 0;
    virtual void observe(const MetricDef& def, double value, const std::vector<std::string>& labels = {}) = 0;
    // Drops the series of these label values: a node that left.
    virtual void remove(const MetricDef& def, const std::vector<std::string>& labels) = 0;
};

}  // namespace crater
