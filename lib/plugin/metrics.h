// The plugins' metrics, one row each.
#pragma once

#include "crater/base/metric.h"

namespace crater::plugin::metric {

inline constexpr MetricDef calls{
    "crater_plugin_calls_total", MetricKind::counter,
    "Decisions a placement plugin was asked about, by outcome: answered, late, skipped, fault.",
    "plugin outcome"};
inline constexpr MetricDef call_time{"crater_plugin_call_seconds", MetricKind::histogram,
                                     "Time until a placement plugin had answered.", "plugin",
                                     "0.00003 0.0001 0.0003 0.001 0.003 0.01 0.03 0.1"};
inline constexpr MetricDef active{"crater_plugin_active", MetricKind::gauge,
                                  "1 while the placement plugin is asked, 0 while it is disabled.", "plugin"};

}  // namespace crater::plugin::metric
