// What operators say of nodes beside draining: taints, and maintenance known before.
#include "crater/api/documents.h"
#include "crater/base/ids.h"
#include "impl.h"

namespace crater::scheduler {
namespace {

constexpr std::size_t entries_max = 64;  // taints of a node, windows of a node

std::string words(const Taint& taint) {
    return taint.key + "=" + taint.value + ":" + std::string(name_of(taint.effect));
}

}  // namespace

Node* Scheduler::Impl::find_node_or_say(const std::string& name, const Reply<api::NodeRow>& reply) {
    if (Node* node = find_node(name)) return node;
    std::vector<std::string> names;
    for (const auto& [known, entry] : nodes_) names.push_back(known);
    const std::string near = nearest(name, names);
    reply(fail(Code::not_found, "there is no node " + shown(name), "node",
               near.empty() ? "" : "did you mean \"" + near + "\"?"));
    return nullptr;
}

void Scheduler::Impl::reply_row(const std::string& name, Reply<api::NodeRow> reply) {
    reply_when_durable<api::NodeRow>(std::move(reply), [this, name]() -> Result<api::NodeRow> {
        const auto view = read_.node(name);
        if (view) return view->node;
        return crater::fail(Code::not_found, "the node is gone");
    });
}

void Scheduler::Impl::set_taint(const std::string& name, const Taint& taint, bool off, const Actor& actor,
                                Reply<api::NodeRow> reply) {
    if (refuse_when_stopped(reply)) return;
    Node* node = find_node_or_say(name, reply);
    if (!node) return;
    if (auto good = api::validate(taint); !good) return reply(fail(std::move(good.error())));
    StoredNodeState state = node->state;
    std::erase_if(state.taints, [&](const Taint& old) {
        return old.key == taint.key && old.effect == taint.effect &&
               (!off || taint.value.empty() || old.value == taint.value);
    });
    if (!off) state.taints.push_back(taint);
    if (state.taints.size() > entries_max)
        return reply(
            fail(Code::invalid, "a node has at most " + std::to_string(entries_max) + " taints", "key"));
    if (state.taints != node->state.taints) engine_.apply(engine::NodeTaints{name, state.taints});
    set_node_state(*node, state);
    audit(actor, off ? "untaint_node" : "taint_node", name, words(taint));
    touch(*node);
    reply_row(name, std::move(reply));
}

void Scheduler::Impl::plan_maintenance(const std::string& name, std::optional<Maintenance> window,
                                       const Actor& actor, Reply<api::NodeRow> reply) {
    if (refuse_when_stopped(reply)) return;
    Node* node = find_node_or_say(name, reply);
    if (!node) return;
    std::vector<Maintenance> windows;
    if (window) {
        if (auto good = api::validate(*window, now()); !good) return reply(fail(std::move(good.error())));
        windows = node->state.maintenance;
        if (std::find(windows.begin(), windows.end(), *window) == windows.end()) windows.push_back(*window);
        if (windows.size() > entries_max)
            return reply(
                fail(Code::invalid,
                     "a node has at most " + std::to_string(entries_max) + " times of maintenance ahead",
                     "start"));
        std::sort(windows.begin(), windows.end(),
                  [](const Maintenance& a, const Maintenance& b) { return a.start < b.start; });
    }
    set_windows(*node, std::move(windows));
    audit(actor, window ? "plan_maintenance" : "cancel_maintenance", name,
          window ? format(window->start) + " to " + format(window->end) : "");
    touch(*node);
    reply_row(name, std::move(reply));
}

// The engine keeps to the windows by itself; here is what people see of them.
void Scheduler::Impl::set_windows(Node& node, std::vector<Maintenance> windows) {
    StoredNodeState state = node.state;
    std::erase_if(windows, [&](const Maintenance& window) { return window.end <= now(); });
    if (windows != state.maintenance) engine_.apply(engine::NodeMaintenance{node.name, windows});
    state.maintenance = std::move(windows);
    const auto begun = std::find_if(state.maintenance.begin(), state.maintenance.end(),
                                    [&](const Maintenance& window) { return window.start <= now(); });
    state.in_maintenance = begun != state.maintenance.end();
    if (!state.lost && !state.draining && !state.clearing)
        state.detail = state.in_maintenance        ? "maintenance until " + format(begun->end)
                       : node.state.in_maintenance ? ""
                                                   : state.detail;
    set_node_state(node, state);
}

void Scheduler::Impl::check_maintenance() {
    for (auto& [name, node] : nodes_)
        if (!node.state.maintenance.empty()) set_windows(node, node.state.maintenance);
}

}  // namespace crater::scheduler
