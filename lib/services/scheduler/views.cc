// What was touched, as objects to store and as rows for readers.
#include <set>

#include "crater/base/log.h"
#include "impl.h"
#include "metrics.h"

namespace crater::scheduler {

void Scheduler::Impl::touch(Job& job) {
    if (!job.touched) {
        job.touched = true;
        touched_jobs_.push_back(&job);
    }
    wake();
}
void Scheduler::Impl::touch(Node& node) {
    node.row_touched = true;
    if (!node.touched) {
        node.touched = true;
        touched_nodes_.push_back(&node);
    }
    wake();
}
void Scheduler::Impl::touch_queue(const std::string& name) {
    Queue& queue = queues_.at(name);
    if (!queue.touched) {
        queue.touched = true;
        touched_queues_.push_back(&queue);
    }
    wake();
}
void Scheduler::Impl::touch_tenant(const std::string& path) {
    for_each_ancestor(path, [&](const std::string& p) {
        TenantEntry& entry = tenants_.at(p);
        if (entry.touched) return;
        entry.touched = true;
        touched_tenants_.push_back(&entry);
    });
    wake();
}

Job::~Job() {
    edited_ = false;
    rest();
}

const StoredStatus& Job::s() const {
    if (!open_) {
        open_ = std::make_unique<StoredStatus>();
        if (kept_) {
            const auto read = read_stored(*kept_, *open_);
            CRATER_CHECK(read.has_value(), "what is kept of a job was read before");
        }
        place_awake_ = awake_.size();
        awake_.push_back(const_cast<Job*>(this));
    }
    return *open_;
}

StoredStatus& Job::edit() {
    s();
    edited_ = true;
    return *open_;
}

void Job::keep(std::shared_ptr<const std::string> value) {
    kept_ = std::move(value);
    edited_ = false;
}

void Job::rest() {
    if (!open_ || edited_) return;
    open_.reset();
    awake_[place_awake_] = awake_.back();
    awake_[place_awake_]->place_awake_ = place_awake_;
    awake_.pop_back();
}

void Scheduler::Impl::rest() {
    for (std::size_t i = awake_.size(); i-- > 0;) awake_[i]->rest();
}

// Its bytes are those of its status.
JobRecordPtr Scheduler::Impl::record_of(Job& job) const {
    auto record = std::make_shared<JobRecord>();
    record->fixed_ = job.fixed;
    record->kept_ = job.kept();
    record->state_ = job.status().state;
    record->submitted_ = job.status().submitted;
    record->advisory_ = job.s().advisory;
    std::set<std::string_view> listed;
    const bool alone = job.status().tasks.size() == 1;
    for (const TaskStatus& task : job.status().tasks) {
        if (!task.allocation) continue;
        if (state_row(task.state).holds && (alone || listed.insert(task.allocation->node).second))
            record->held_on_ += (record->held_on_.empty() ? "" : "\n") + task.allocation->node;
        if (const auto node = nodes_.find(task.allocation->node);
            node != nodes_.end() && node->second.inventory->simulated)
            record->simulated_ = true;
    }
    return record;
}

void Scheduler::Impl::fill_row(Node& node) {
    api::NodeRow& row = node.edit_row();
    row.state = node.state.shown();
    row.taints = node.state.taints;
    row.maintenance = node.state.maintenance;
    row.detail = node.state.detail;
    row.since = node.state.since;
    row.last_heartbeat = node.last_heartbeat;
    row.tasks = static_cast<std::int64_t>(node.tasks.size());
    const auto book = engine_.book(node.name);
    CRATER_CHECK(book.has_value());
    api::ResourceBars& bars = row.resources;
    bars = {};
    const auto number = [](std::int64_t v) { return static_cast<double>(v); };
    bars.cpu = {number(book->cpu_used.value) / 1000, 0, number(book->cpu_total.value) / 1000};
    bars.memory_bytes = {number(book->memory_used.value), 0, number(book->memory_total.value)};
    bars.disk_bytes = {number(book->disk_used.value), 0, number(book->disk_total.value)};
    bars.iops = {number(book->iops_used.value), 0, number(book->iops_total.value)};
    for (std::size_t i = 0; i < row.cards.size(); ++i) {
        api::CardView& card = row.cards[i];
        if (i < book->cards.size()) {
            card.compute_allocated = book->cards[i].compute_used;
            card.memory_allocated = book->cards[i].memory_used;
        }
        bars.gpu.total += 1;
        bars.gpu.allocated += number(card.compute_allocated.value) / 1000;
        bars.gpu_memory_mib.total += number(card.memory_total.value);
        bars.gpu_memory_mib.allocated += number(card.memory_allocated.value);
    }
    if (!node.sample) return;
    const NodeSample& s = *node.sample;
    bars.cpu.used = s.cpu_percent / 100 * bars.cpu.total;
    bars.memory_bytes.used = number(s.memory_used.value);
    if (s.disk_free.value > 0)
        bars.disk_bytes.used = std::max(0.0, bars.disk_bytes.total - number(s.disk_free.value));
    bars.iops.used = s.disk_read_iops + s.disk_write_iops;
    for (const GpuSample& g : s.gpus) {
        const auto card = std::find_if(row.cards.begin(), row.cards.end(),
                                       [&](const api::CardView& c) { return c.index == g.index; });
        if (card == row.cards.end()) continue;
        card->memory_used = g.memory_used;
        card->utilization_percent = g.utilization_percent;
        card->temperature_celsius = g.temperature_celsius;
        card->power_watts = g.power_watts;
        bars.gpu.used += g.utilization_percent / 100;
        bars.gpu_memory_mib.used += number(g.memory_used.value);
    }
}

api::QueueView Scheduler::Impl::queue_view(const Queue& queue) const {
    api::QueueView view;
    view.spec = queue.stored.spec;
    view.waiting = static_cast<std::int64_t>(queue.waiting.size());
    view.running = queue.running;
    if (!queue.waiting.empty()) view.oldest = Instant{queue.waiting.begin()->at};
    view.wait_p50_seconds = queue.p50;
    view.wait_p95_seconds = queue.p95;
    return view;
}

api::QuotaView Scheduler::Impl::quota_view(const TenantEntry& entry) const {
    return {.tenant = entry.tenant.path,
            .hard = entry.tenant.hard,
            .used = engine_.usage(entry.tenant.path),
            .max_priority = entry.tenant.max_priority,
            .max_pending = entry.tenant.max_pending,
            .pending = entry.pending};
}

void Scheduler::Impl::gather() {
    for (Job* job : touched_jobs_) {
        job->touched = false;
        if (job->fresh) {
            job->fresh = false;
            write("job/" + job->id() + "/spec", stored_job(*job->fixed));
        }
        std::string value = stored_value(job->s());
        job->keep(std::make_shared<const std::string>(value));
        write("job/" + job->id(), std::move(value));
        open_.update.jobs.push_back(record_of(*job));
        if (job->retired) open_.retired.push_back(job->id());
    }
    touched_jobs_.clear();
    if (!touched_nodes_.empty()) free_changed_ = true;
    for (Node* node : touched_nodes_) {
        node->touched = false;
        if (node->inventory_touched) write("node/" + node->name, stored_value(*node->inventory));
        if (node->state_touched) write("node/" + node->name + "/state", stored_value(node->state));
        node->inventory_touched = node->state_touched = false;
        if (!node->row_touched) continue;
        node->row_touched = false;
        fill_row(*node);
        open_.update.nodes.push_back({node->show_row(), node->inventory, node->sample});
    }
    touched_nodes_.clear();
    for (Queue* queue : touched_queues_) {
        queue->touched = false;
        open_.update.queues.push_back(queue_view(*queue));
        if (env_.metrics)
            env_.metrics->set(metric::queue_length, static_cast<double>(queue->waiting.size()),
                              {queue->stored.spec.name});
    }
    touched_queues_.clear();
    for (TenantEntry* tenant : touched_tenants_) {
        tenant->touched = false;
        open_.update.tenants.emplace_back(tenant->tenant, quota_view(*tenant));
    }
    touched_tenants_.clear();
    if (problems_changed_) {
        problems_changed_ = false;
        open_.update.problems = problems();
    }
}

std::vector<api::Problem> Scheduler::Impl::problems() const {
    std::vector<api::Problem> out;
    for (const auto& [name, node] : nodes_) {
        if (node.state.lost)
            out.push_back(
                {"node_lost", name, "Node " + name + " is lost: " + node.state.detail, node.state.since});
        if (node.state.clearing)
            out.push_back({"node_clearing", name, "Node " + name + " still ends tasks that were given up",
                           node.state.since});
        for (const Gpu& gpu : node.inventory->gpus)
            if (!gpu.healthy)
                out.push_back({"card_unhealthy", name + "/" + std::to_string(gpu.index),
                               "Card " + std::to_string(gpu.index) + " of " + name +
                                   " is unhealthy: " + gpu.health_detail,
                               node.state.since});
    }
    if (const auto failing = outbox_.failing(); failing.tasks)
        out.push_back({"callback_failing", failing.task_id,
                       "Status callbacks of " + std::to_string(failing.tasks) +
                           (failing.tasks == 1 ? " task fail: " : " tasks fail: ") + failing.why,
                       failing.since});
    if (outbox_.dead)
        out.push_back(
            {"callback_dead",
             "",
             std::to_string(outbox_.dead) + " status callbacks were given up after 24 hours of failures",
             {}});
    if (slow_commit_us_)
        out.push_back({"store_slow", "store",
                       "Making changes durable took " + std::to_string(slow_commit_us_ / 1000) + " ms",
                       slow_since_});
    add_plugin_problems(out);
    if (!verified_)
        out.push_back({"state_hash",
                       "scheduler",
                       "The state rebuilt at the last start differs from what was stored",
                       {}});
    return out;
}

void Scheduler::Impl::export_metrics(const Node& node) {
    Metrics* m = env_.metrics;
    if (!m || !node.sample) return;
    const NodeSample& s = *node.sample;
    const NodeInventory& inventory = *node.inventory;
    const std::vector<std::string> name{node.name};
    m->set(metric::node_info, 1,
           {node.name, inventory.cpu_model, inventory.os, inventory.simulated ? "true" : "false"});
    m->set(metric::cpu_utilization, s.cpu_percent, {node.name, "all"});
    m->set(metric::cpu_load1, s.load1, name);
    m->set(metric::memory_total, static_cast<double>(s.memory_total.value), name);
    m->set(metric::memory_used, static_cast<double>(s.memory_used.value), name);
    m->set(metric::swap_used, static_cast<double>(s.swap_used.value), name);
    m->set(metric::disk_free, static_cast<double>(s.disk_free.value), name);
    m->set(metric::ssd_read_iops, s.disk_read_iops, name);
    m->set(metric::ssd_write_iops, s.disk_write_iops, name);
    m->set(metric::ssd_read_bytes, static_cast<double>(s.disk_read.value), name);
    m->set(metric::ssd_write_bytes, static_cast<double>(s.disk_write.value), name);
    m->set(metric::network_receive, static_cast<double>(s.network_receive.value), name);
    m->set(metric::network_transmit, static_cast<double>(s.network_transmit.value), name);
    for (const NumaDomain& domain : inventory.numa)
        if (domain.memory_bandwidth)
            m->set(metric::numa_bandwidth, static_cast<double>(domain.memory_bandwidth.value) / 1e9,
                   {node.name, std::to_string(domain.id)});
    for (const Disk& disk : inventory.disks) {
        if (disk.latency)
            m->set(metric::ssd_latency, static_cast<double>(disk.latency.value), {node.name, disk.name});
        if (disk.iops_stability_ratio > 0)
            m->set(metric::ssd_stability, disk.iops_stability_ratio, {node.name, disk.name});
    }
    constexpr double mib = 1 << 20;
    for (std::size_t i = 0; i < node.row().cards.size(); ++i) {
        const api::CardView& card = node.row().cards[i];
        const std::vector<std::string> labels{std::to_string(card.index), card.model, card.uuid, node.name};
        if (i < inventory.gpus.size())
            m->set(metric::gpu_sm_count, static_cast<double>(inventory.gpus[i].sm_count), labels);
        m->set(metric::gpu_memory_total, static_cast<double>(card.memory_total.value) * mib, labels);
        m->set(metric::gpu_memory_used, static_cast<double>(card.memory_used.value) * mib, labels);
        m->set(metric::gpu_memory_allocated, static_cast<double>(card.memory_allocated.value) * mib, labels);
        m->set(metric::gpu_utilization, card.utilization_percent, labels);
        m->set(metric::gpu_temperature, card.temperature_celsius, labels);
        m->set(metric::gpu_power, card.power_watts, labels);
        m->set(metric::gpu_slices, static_cast<double>(card.slices.size()), labels);
    }
}

}  // namespace crater::scheduler
