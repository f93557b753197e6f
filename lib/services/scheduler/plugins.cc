// Placement plugins: taken over between decisions, shown, and missed where a queue wants one that does not
// work.
#include "crater/plugin/registry.h"
#include "impl.h"

namespace crater::scheduler {

void Scheduler::Impl::plugins(Reply<std::vector<api::PluginView>> reply) {
    std::vector<api::PluginView> out;
    if (env_.plugins)
        for (plugin::Row& row : env_.plugins->rows())
            out.push_back({std::move(row.name), std::move(row.version), std::move(row.description),
                           std::move(row.file), std::string(name_of(row.state)), std::move(row.reason),
                           row.calls, row.late, row.p99, row.since});
    reply(std::move(out));
}

// What waits because of a plugin may be worth another look when the plugins are others.
void Scheduler::Impl::refresh_plugins() {
    if (!env_.plugins || !env_.plugins->refresh()) return;
    problems_changed_ = true;
    for (const auto& [name, queue] : queues_)
        if (!queue.stored.spec.plugins.empty()) engine_.apply(engine::QueueSet{queue.stored.spec});
    wake();
}

void Scheduler::Impl::add_plugin_problems(std::vector<api::Problem>& out) const {
    if (!env_.plugins) return;
    for (const plugin::Row& row : env_.plugins->rows())
        if (!row.reason.empty())
            out.push_back({"plugin_at_fault", row.name,
                           "The placement plugin " + row.name + " (" + std::string(name_of(row.state)) +
                               "): " + row.reason,
                           row.since});
    for (const auto& [name, queue] : queues_)
        for (const PluginUse& use : queue.stored.spec.plugins)
            if (!env_.plugins->find(use.name))
                out.push_back({"plugin_missing",
                               name,
                               "The queue " + name + " decides without the plugin " + use.name +
                                   ", which does not work",
                               {}});
}

}  // namespace crater::scheduler
