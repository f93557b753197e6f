// The scheduler's configuration file. SPEC 10.2, 10.7.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "crater/base/describe.h"
#include "crater/engine/engine.h"
#include "crater/model/tenant.h"

namespace crater::scheduler {

struct MetricsConfig {
    bool enabled = true;
    std::int64_t port = 9091;
};
template <class V>
void describe(V& v, MetricsConfig& m) {
    v.field("enabled", m.enabled, "Whether /metrics is served on a port of its own.");
    v.field("port", m.port, "That port.", {.minimum = 0, .maximum = 65535});
}
struct StoreConfig {
    std::string sqlite = "/var/lib/crater/crater.db";
};
template <class V>
void describe(V& v, StoreConfig& s) {
    v.field("sqlite", s.sqlite, "Path of the embedded store.");
}

struct TlsConfig {
    std::string certificate, key;
};
template <class V>
void describe(V& v, TlsConfig& t) {
    v.field("certificate", t.certificate, "PEM file.");
    v.field("key", t.key, "PEM file.");
}
struct CallbackConfig {
    std::string url, username, password_file;
    Millis timeout{30'000};
};
template <class V>
void describe(V& v, CallbackConfig& c) {
    v.field("url", c.url, "Where status changes are sent; {api_url}/crater/callback when absent.");
    v.field("username", c.username, "HTTP Basic.");
    v.field("password_file", c.password_file, "File with the password.");
    v.field("timeout", c.timeout, "Of one attempt.");
}
struct TemplateConfig {
    std::string image;
    Command command;
    std::map<std::string, std::string> env;
};
template <class V>
void describe(V& v, TemplateConfig& t) {
    v.field("image", t.image, "Image.");
    v.field("command", t.command, "Command, a list or a string for /bin/sh -c.");
    v.field("env", t.env, "Environment.");
}
struct AllDataConfig {
    std::string api_url;
    std::string token;
    std::optional<CallbackConfig> callback;
    std::map<std::string, TemplateConfig> templates;
};
template <class V>
void describe(V& v, AllDataConfig& a) {
    v.field("api_url", a.api_url, "AllData's API.");
    v.field("token", a.token, "Token for AllData's API.", {.secret = true});
    v.field("callback", a.callback, "Where and how status changes are told.");
    v.field("templates", a.templates, "What runs for a task type whose document brings no command.");
}

// Moving preemptible jobs so that what is free lies together.
struct DefragmentationConfig {
    bool enabled = true;
    Millis interval{3'600'000};
    std::int64_t max_moves = 10;
};
template <class V>
void describe(V& v, DefragmentationConfig& d) {
    v.field("enabled", d.enabled, "Whether it is done by itself; crater defrag does it in any case.");
    v.field("interval", d.interval, "How often it is looked whether a move is worth its cost.");
    v.field("max_moves", d.max_moves, "Most jobs moved at a time.", {.minimum = 1, .maximum = 1000});
}

struct Config {
    std::string cluster_name = "crater";
    std::string listen = "0.0.0.0:8080";  // loopback when there is no token and no TLS
    std::optional<TlsConfig> tls;
    MetricsConfig metrics;
    StoreConfig store;
    Policy scheduling_policy = Policy::price;  // of queues that name none
    Millis heartbeat_interval{10'000};
    Millis heartbeat_timeout{30'000};
    Millis sample_interval{5'000};
    // how much longer a task that ran for 10 minutes is waited for when its node is lost
    Millis lost_grace{60'000};
    Millis decision_retention{30ll * 24 * 3600 * 1000};
    AllDataConfig alldata;
    engine::Settings scheduling;
    DefragmentationConfig defragmentation;
    std::vector<QueueSpec> queues = default_queues();
    std::map<std::string, Quota> quota_policies;  // sets of caps that a job may be put under by name
    std::string plugin_dir;                       // folder of placement plugins; empty = none
    Millis plugin_budget{5};                      // of one plugin for one decision
    std::string console_dir;                      // the built console; empty = not served
    std::string path_prefix;                      // "/crater": serve everything below it too
    std::string log_level;                        // empty: --log-level's

    // training (best_fit, medium), inference (spread, high), offline (priority, low, preemptible).
    static std::vector<QueueSpec> default_queues();
};
template <class V>
void describe(V& v, Config& c) {
    v.field("cluster_name", c.cluster_name, "Name of the cluster.");
    v.field("listen", c.listen, "Address and port of the API.");
    v.field("tls", c.tls, "TLS of the API.");
    v.field("metrics", c.metrics, "Prometheus metrics.");
    v.field("store", c.store, "Where state is kept.");
    v.field("scheduling_policy", c.scheduling_policy, "Policy of queues that name none.");
    v.field("heartbeat_interval", c.heartbeat_interval, "How often agents report.");
    v.field("heartbeat_timeout", c.heartbeat_timeout, "Silence after which a node is lost.");
    v.field("sample_interval", c.sample_interval, "How often agents sample live use.");
    v.field("lost_grace", c.lost_grace,
            "How much longer a task that ran for 10 minutes is kept when its node is lost.");
    v.field("decision_retention", c.decision_retention, "How long decision traces are kept.");
    v.field("alldata", c.alldata, "The AllData platform.");
    v.field("scheduling", c.scheduling, "Thresholds and weights.");
    v.field("defragmentation", c.defragmentation,
            "Moving preemptible jobs so that what is free lies together.");
    v.field("queues", c.queues, "Queues.");
    v.field("quota_policies", c.quota_policies,
            "Named sets of caps; a job that names one in quota_policy may not ask for more.");
    v.field("plugin_dir", c.plugin_dir, "Folder of placement plugins; none when absent.");
    v.field("plugin_budget", c.plugin_budget,
            "How long a decision waits for one plugin; who is late three times is disabled.");
    v.field("console_dir", c.console_dir, "Folder of the built console.");
    v.field("path_prefix", c.path_prefix, "Serve everything below this path too.");
    v.field("log_level", c.log_level, "debug, info, warning or error; --log-level when absent.");
}

// Strict reading of YAML, with every spelling of SPEC 10.7 and checks across fields.
Result<Config> read_config(std::string_view yaml);

// The top-level settings in which two configurations differ, and whether a running scheduler takes over a new
// value. All others need a restart. SPEC 10.7.
std::vector<std::string> changed_settings(const Config& a, const Config& b);
bool reloadable(std::string_view setting);

}  // namespace crater::scheduler
