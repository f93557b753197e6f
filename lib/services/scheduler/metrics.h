// The scheduler's metrics, one row each. SPEC 2.
#pragma once

#include "crater/base/metric.h"

namespace crater::scheduler::metric {

using enum MetricKind;

inline constexpr std::string_view wait_buckets =
    "0.1 0.5 1 2 5 10 30 60 120 300 600 1800 3600 10800 43200 86400";
inline constexpr std::string_view per_card = "gpu model uuid node";

inline constexpr MetricDef queue_wait{"crater_queue_wait_seconds", histogram,
                                      "Time from submit to the first placement.", "queue", wait_buckets};
inline constexpr MetricDef job_run{"crater_job_run_seconds", histogram,
                                   "Time from the first start to the end.", "queue state", wait_buckets};
inline constexpr MetricDef decision{"crater_decision_seconds",
                                    histogram,
                                    "Time of one pass over the waiting jobs.",
                                    {},
                                    "0.00001 0.00003 0.0001 0.0003 0.001 0.003 0.01 0.03 0.1 0.2 0.5 1"};
inline constexpr MetricDef commit{"crater_commit_seconds",
                                  histogram,
                                  "Time until a batch was durable.",
                                  {},
                                  "0.0003 0.001 0.003 0.01 0.03 0.1 0.3 1 3"};
inline constexpr MetricDef queue_length{"crater_queue_length", gauge, "Jobs waiting.", "queue"};
inline constexpr MetricDef jobs_submitted{"crater_jobs_submitted_total", counter, "Jobs accepted.", "queue"};
inline constexpr MetricDef preemptions{"crater_preemptions_total", counter, "Jobs told to stop for others."};
inline constexpr MetricDef callbacks_sent{"crater_callbacks_total", counter, "Status callbacks, by outcome.",
                                          "outcome"};
inline constexpr MetricDef callbacks_waiting{"crater_callbacks_waiting", gauge,
                                             "Status callbacks that wait for delivery."};

inline constexpr MetricDef node_info{"crater_node_info", gauge, "Always 1.", "node cpu_model os simulated"};
inline constexpr MetricDef node_up{"crater_node_up", gauge, "1 while the node's agent is heard.", "node"};
inline constexpr MetricDef gpu_sm_count{"crater_gpu_sm_count", gauge, "Streaming multiprocessors.", per_card};
inline constexpr MetricDef gpu_memory_total{"crater_gpu_memory_total_bytes", gauge, "Memory of the card.",
                                            per_card};
inline constexpr MetricDef gpu_memory_used{"crater_gpu_memory_used_bytes", gauge, "Memory really used.",
                                           per_card};
inline constexpr MetricDef gpu_memory_allocated{"crater_gpu_memory_allocated_bytes", gauge,
                                                "Memory given to tasks.", per_card};
inline constexpr MetricDef gpu_utilization{"crater_gpu_utilization_percent", gauge, "Compute use.", per_card};
inline constexpr MetricDef gpu_temperature{"crater_gpu_temperature_celsius", gauge, "Temperature.", per_card};
inline constexpr MetricDef gpu_power{"crater_gpu_power_watts", gauge, "Power.", per_card};
inline constexpr MetricDef gpu_slices{"crater_gpu_slices", gauge, "Tasks on the card.", per_card};
inline constexpr MetricDef cpu_utilization{"crater_cpu_utilization_percent", gauge,
                                           "CPU use; numa is all or a domain.", "node numa"};
inline constexpr MetricDef cpu_load1{"crater_cpu_load1", gauge, "Load average of one minute.", "node"};
inline constexpr MetricDef numa_bandwidth{"crater_cpu_numa_memory_bandwidth_gbps", gauge,
                                          "Memory bandwidth of a domain.", "node numa"};
inline constexpr MetricDef memory_total{"crater_memory_total_bytes", gauge, "Memory.", "node"};
inline constexpr MetricDef memory_used{"crater_memory_used_bytes", gauge, "Memory used.", "node"};
inline constexpr MetricDef swap_used{"crater_memory_swap_used_bytes", gauge, "Swap used.", "node"};
inline constexpr MetricDef disk_free{"crater_disk_free_bytes", gauge, "Free disk space.", "node"};
inline constexpr MetricDef ssd_read_iops{"crater_ssd_read_iops", gauge, "Reads per second.", "node"};
inline constexpr MetricDef ssd_write_iops{"crater_ssd_write_iops", gauge, "Writes per second.", "node"};
inline constexpr MetricDef ssd_read_bytes{"crater_ssd_read_bytes_per_second", gauge, "Read bytes per second.",
                                          "node"};
inline constexpr MetricDef ssd_write_bytes{"crater_ssd_write_bytes_per_second", gauge,
                                           "Written bytes per second.", "node"};
inline constexpr MetricDef ssd_latency{"crater_ssd_latency_us", gauge, "Calibrated mean random-read latency.",
                                       "node device"};
inline constexpr MetricDef ssd_stability{"crater_ssd_iops_stability_ratio", gauge, "Calibrated min/max IOPS.",
                                         "node device"};
inline constexpr MetricDef network_receive{"crater_network_receive_bytes_per_second", gauge,
                                           "Received bytes per second.", "node"};
inline constexpr MetricDef network_transmit{"crater_network_transmit_bytes_per_second", gauge,
                                            "Sent bytes per second.", "node"};

}  // namespace crater::scheduler::metric
