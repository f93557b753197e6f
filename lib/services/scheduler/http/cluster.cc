#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "api_impl.h"
#include "crater/api/views_alldata.h"
#include "crater/base/ids.h"

namespace crater::scheduler {
namespace {

// "62.8 GiB": exact amounts are in the inventory.
std::string in_words(Bytes amount) {
    const char* unit = "MiB";
    double shown = static_cast<double>(amount.value) / (1 << 20);
    for (const char* larger : {"GiB", "TiB"})
        if (shown >= 1024) shown /= 1024, unit = larger;
    char text[32];
    std::snprintf(text, sizeof text, shown < 100 && shown != std::floor(shown) ? "%.1f %s" : "%.0f %s", shown,
                  unit);
    return text;
}

std::string label_of(const Gpu& gpu) { return "GPU " + std::to_string(gpu.index) + " " + gpu.model; }

// NUMA domains with what hangs on them; cards joined by NVLink; domains joined with each other.
api::TopologyView topology_of(const NodeInventory& node) {
    api::TopologyView view;
    const auto add = [&](std::string id, std::string kind, std::string label, std::string parent) {
        if (!parent.empty()) view.edges.push_back({parent, id, "contains", {}});
        view.vertices.push_back({std::move(id), std::move(kind), std::move(label)});
    };
    const auto parent_of = [&](std::int64_t numa) {
        return numa >= 0 ? "numa" + std::to_string(numa) : node.name;
    };
    add(node.name, "node", node.name, {});
    for (const NumaDomain& domain : node.numa)
        add("numa" + std::to_string(domain.id), "numa",
            "NUMA " + std::to_string(domain.id) + ", " + std::to_string(domain.cpus.size()) + " CPUs, " +
                in_words(domain.memory),
            node.name);
    for (std::size_t i = 1; i < node.numa.size(); ++i)
        view.edges.push_back({"numa" + std::to_string(node.numa[i - 1].id),
                              "numa" + std::to_string(node.numa[i].id),
                              "numa",
                              {}});
    for (const Gpu& gpu : node.gpus)
        add("gpu" + std::to_string(gpu.index), "gpu", label_of(gpu), parent_of(gpu.numa_node));
    for (const Gpu& gpu : node.gpus)
        for (std::int64_t peer : gpu.nvlink_peers)
            if (gpu.index < peer)
                view.edges.push_back(
                    {"gpu" + std::to_string(gpu.index), "gpu" + std::to_string(peer), "nvlink", "NVLink"});
    for (const Disk& disk : node.disks)
        add("disk-" + disk.name, "disk", disk.name + " " + in_words(disk.capacity),
            parent_of(disk.numa_node));
    for (const NetworkInterface& nic : node.networks)
        add("nic-" + nic.name, "nic", nic.name + (nic.rdma_device.empty() ? "" : " RDMA"),
            parent_of(nic.numa_node));
    return view;
}

Error no_node(const std::string& name) {
    return {Code::not_found, "there is no node \"" + name + "\"", "name", "GET /api/v1/nodes lists them"};
}

}  // namespace

void HttpApi::Impl::list_nodes(CallPtr call) {
    auto limit = number_of(*call, "limit", 100, 1, 1000);
    if (!limit) return call->fail(limit.error());
    std::optional<NodeState> state;
    if (const std::string wanted = call->query("state"); !wanted.empty()) {
        for (const auto& row : enum_names(NodeState{}))
            if (row.name == wanted) state = row.value;
        if (!state)
            return call->fail(
                {Code::invalid, "\"" + wanted + "\" is none of up, draining, lost", "state", ""});
    }
    auto descending = descending_of(*call, "name");
    if (!descending) return call->fail(descending.error());
    call->answer(scheduler_.read().nodes({state, call->query("label"), call->query("name")}, *descending,
                                         static_cast<std::size_t>(*limit), call->query("cursor")));
}

void HttpApi::Impl::get_node(CallPtr call) {
    auto node = scheduler_.read().node(call->parameter("name"));
    if (!node) return call->fail(no_node(call->parameter("name")));
    call->answer(*node);
}

void HttpApi::Impl::get_node_topology(CallPtr call) {
    auto node = scheduler_.read().node(call->parameter("name"));
    if (!node) return call->fail(no_node(call->parameter("name")));
    call->answer(topology_of(node->inventory));
}

void HttpApi::Impl::set_drain(CallPtr call, bool draining) {
    auto body = body_of<api::ReasonBody>(*call);
    if (!body) return call->fail(body.error());
    on_loop([self = shared_from_this(), call, draining, body = std::move(*body)] {
        self->scheduler_.drain(call->parameter("name"), draining, body, call->actor,
                               [call](Result<api::NodeRow> row) { call->answer(row); });
    });
}

void HttpApi::Impl::set_taint(CallPtr call, bool off) {
    auto taint = body_of<Taint>(*call);
    if (!taint) return call->fail(taint.error());
    on_loop([self = shared_from_this(), call, off, taint = std::move(*taint)] {
        self->scheduler_.set_taint(call->parameter("name"), taint, off, call->actor,
                                   [call](Result<api::NodeRow> row) { call->answer(row); });
    });
}

void HttpApi::Impl::plan_maintenance(CallPtr call) {
    auto window = body_of<Maintenance>(*call);
    if (!window) return call->fail(window.error());
    on_loop([self = shared_from_this(), call, window = *window] {
        self->scheduler_.plan_maintenance(call->parameter("name"), window, call->actor,
                                          [call](Result<api::NodeRow> row) { call->answer(row); });
    });
}

void HttpApi::Impl::cancel_maintenance(CallPtr call) {
    on_loop([self = shared_from_this(), call] {
        self->scheduler_.plan_maintenance(call->parameter("name"), std::nullopt, call->actor,
                                          [call](Result<api::NodeRow> row) { call->answer(row); });
    });
}

void HttpApi::Impl::list_queues(CallPtr call) {
    answer_page(*call, scheduler_.read().queues(), "name",
                [](const api::QueueView& queue) { return queue.spec.name; });
}

void HttpApi::Impl::get_queue(CallPtr call) {
    std::vector<std::string> names;
    for (const api::QueueView& queue : scheduler_.read().queues()) {
        if (queue.spec.name == call->parameter("name")) return call->answer(queue);
        names.push_back(queue.spec.name);
    }
    call->fail({Code::not_found, "there is no queue \"" + call->parameter("name") + "\"", "name",
                nearest(call->parameter("name"), names)});
}

void HttpApi::Impl::put_queue(CallPtr call) {
    auto tree = codec::parse_json(call->request.body.empty() ? "{}" : call->request.body);
    if (!tree) return call->fail(tree.error());
    if (tree->is_object() && !tree->contains("name")) (*tree)["name"] = call->parameter("name");
    auto queue = codec::read<QueueSpec>(*tree);
    if (!queue) return call->fail(queue.error());
    if (queue->name != call->parameter("name"))
        return call->fail(
            {Code::invalid,
             "\"" + queue->name + "\" is not the queue of the path, \"" + call->parameter("name") + "\"",
             "name", ""});
    if (auto valid = check_queue(*queue); !valid) return call->fail(valid.error());
    on_loop([self = shared_from_this(), call, queue = std::move(*queue)] {
        self->scheduler_.set_queue(queue, call->actor,
                                   [call](Result<api::QueueView> view) { call->answer(view); });
    });
}

// Totals are for everybody; whose callbacks fail is not a tenant's business.
api::ClusterView HttpApi::Impl::cluster_view(const Actor& actor) const {
    api::ClusterView view = scheduler_.read().cluster();
    view.you = api::Identity{actor.name, actor.role, actor.tenant};
    if (actor.role == Role::tenant)
        std::erase_if(view.problems,
                      [](const api::Problem& problem) { return problem.kind.starts_with("callback_"); });
    return view;
}

void HttpApi::Impl::get_cluster(CallPtr call) { call->answer(cluster_view(call->actor)); }
void HttpApi::Impl::get_holdings(CallPtr call) {
    constexpr Millis patience{5'000};  // for agents that do not answer
    on_loop([self = shared_from_this(), call] {
        self->scheduler_.tables(patience, [call](Result<Scheduler::Tables> tables) {
            if (!tables) return call->fail(tables.error());
            call->answer(api::HoldingsView{static_cast<std::int64_t>(tables->rows.size()),
                                           std::move(tables->differences)});
        });
    });
}
void HttpApi::Impl::list_plugins(CallPtr call) {
    on_loop([self = shared_from_this(), call] {
        self->scheduler_.plugins([call](Result<std::vector<api::PluginView>> rows) {
            if (!rows) return call->fail(rows.error());
            answer_page(*call, std::move(*rows), "name", [](const api::PluginView& row) { return row.name; });
        });
    });
}
void HttpApi::Impl::healthz(CallPtr call) { call->answer(api::Health{}); }
void HttpApi::Impl::readyz(CallPtr call) {
    // Through the loop: an answer proves that the scheduler turns.
    on_loop([call] { call->answer(api::Health{}); });
}
void HttpApi::Impl::metrics(CallPtr call) {
    call->responder->send(
        {.body = metrics_.exposition(), .content_type = "text/plain; version=0.0.4", .headers = {}});
}
void HttpApi::Impl::openapi(CallPtr call) {
    static const std::string document = api::openapi_document();
    call->responder->send(wire::json_response(document));
}

}  // namespace crater::scheduler
