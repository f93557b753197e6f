// A scenario as a document. What is as usual is left out, so that what is left is what matters.
#include <nlohmann/json.hpp>

#include "crater/codec/codec.h"
#include "crater/sim/scenario.h"

namespace crater::sim {

std::span<const EnumName<Fault>> enum_names(Fault) {
    static const std::vector<EnumName<Fault>> names = [] {
        std::vector<EnumName<Fault>> out;
        for (const FaultRow& row : fault_table()) out.push_back({row.fault, row.name});
        return out;
    }();
    return names;
}

template <class V>
void describe(V& v, Weather& w) {
    v.field("message_loss", w.message_loss, "Part of the messages that is lost, each with its link.",
            {.minimum = 0, .maximum = 1});
    v.field("delay_max", w.delay_max, "Longest way of a message.");
    v.field("commit_latency_max", w.commit_latency_max, "Longest commit.");
    v.field("restart_delay_max", w.restart_delay_max, "Longest time until a dead process is started again.");
    v.field("clock_skew_max", w.clock_skew_max, "Of each process from the true time.");
    v.field("callback_failures_percent", w.callback_failures_percent, "Callbacks that fail.",
            {.minimum = 0, .maximum = 99});
    v.field("task_failures_percent", w.task_failures_percent, "Tasks that fail.",
            {.minimum = 0, .maximum = 100});
}

template <class V>
void describe(V& v, Settings& s) {
    v.field("heartbeat_interval", s.heartbeat_interval, "How often agents report.");
    v.field("heartbeat_timeout", s.heartbeat_timeout, "Silence after which a node is lost.");
    v.field("lost_grace", s.lost_grace, "How much longer a settled task of a lost node is waited for.");
    v.field("defragment_every", s.defragment_every, "How often jobs are moved; 0 is never.");
    v.field("min_run_time", s.min_run_time, "How long a job runs before it has to make room.");
    v.field("queues", s.queues, "Queues; the shipped ones when absent.");
}

template <class V>
void describe(V& v, WorldOptions& o) {
    v.field("seed", o.seed, "Of everything that is drawn while it is played.");
    v.field("nodes", o.nodes, "Nodes.", {.required = true});
    v.field("weather", o.weather, "What is always so.");
    v.field("settings", o.settings, "How the cluster is set.");
}

template <class V>
void describe(V& v, Injection& i) {
    v.field("fault", i.fault, "What goes wrong.", {.required = true});
    v.field("at", i.at, "When.");
    v.field("steps", i.steps, "And so many steps of the world later.");
    v.field("node", i.node, "Which node, from 0.", {.minimum = 0, .maximum = 1e6});
    v.field("span", i.span, "For how long, or how far a clock jumps.");
}

template <class V>
void describe(V& v, Step& s) {
    v.field("at", s.at, "When.");
    v.field("act", s.act, "What is asked.");
    v.field("job", s.job, "Which job.");
    v.field("spec", s.spec, "What is submitted.");
    v.field("node", s.node, "Which node, from 0.", {.minimum = 0, .maximum = 1e6});
    v.field("after", s.after, "How far ahead a maintenance is said.");
    v.field("span", s.span, "For how long.");
    v.field("tenant", s.tenant, "Whose quota.");
    v.field("quota", s.quota, "Which.");
}

template <class V>
void describe(V& v, Scenario& s) {
    v.field("options", s.options, "The cluster.", {.required = true});
    v.field("length", s.length, "Until the faults end.");
    v.field("steps", s.steps, "What is asked.");
    v.field("faults", s.faults, "What goes wrong.");
}

namespace {

// Leaves out of `tree` what `usual` has as well. Elements of lists are compared with what one is that says
// nothing.
void leave_out(codec::Json& tree, const codec::Json& usual) {
    for (auto it = tree.begin(); it != tree.end();) {
        const auto same = usual.find(it.key());
        if (same != usual.end() && it->is_object()) leave_out(*it, *same);
        const bool nothing = it->is_object() && it->empty();
        it = nothing || (same != usual.end() && *it == *same) ? tree.erase(it) : std::next(it);
    }
}

template <class T>
void leave_out_of_each(codec::Json& list, const T& usual) {
    const codec::Json tree = codec::to_json(usual);
    for (codec::Json& element : list) leave_out(element, tree);
}

}  // namespace

std::string write_scenario(const Scenario& scenario) {
    codec::Json tree = codec::to_json(scenario);
    const auto each = [](codec::Json& in, const char* list, const auto& usual) {
        if (in.contains(list)) leave_out_of_each(in[list], usual);
    };
    each(tree, "steps", Step{});
    each(tree, "faults", Injection{});
    each(tree["options"], "nodes", hw::SimulatedNode{});
    if (tree["options"].contains("settings")) each(tree["options"]["settings"], "queues", QueueSpec{});
    leave_out(tree, codec::to_json(Scenario{}));
    return codec::to_yaml(tree);
}

Result<Scenario> read_scenario(std::string_view yaml) {
    CRATER_TRY(scenario, codec::read_yaml<Scenario>(yaml));
    const auto nodes = static_cast<std::int64_t>(scenario.options.nodes.size());
    if (nodes == 0) return fail(Code::invalid, "a cluster has at least one node", "options.nodes");
    const auto check_node = [&](std::int64_t node, const std::string& list, std::size_t at) -> Result<void> {
        if (node < nodes) return {};
        return fail(Code::invalid, "there is no node " + std::to_string(node),
                    list + "[" + std::to_string(at) + "].node",
                    "0 to " + std::to_string(nodes - 1) + ", in the order of options.nodes");
    };
    for (std::size_t i = 0; i < scenario.steps.size(); ++i)
        CRATER_TRY_VOID(check_node(scenario.steps[i].node, "steps", i));
    for (std::size_t i = 0; i < scenario.faults.size(); ++i)
        CRATER_TRY_VOID(check_node(scenario.faults[i].node, "faults", i));
    return scenario;
}

}  // namespace crater::sim
