#include "crater/scheduler/read_model.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "crater/base/ids.h"
#include "read_model_update.h"

namespace crater::scheduler {
namespace {

// A job's place among the rows. Its record gives way to newer ones there: what it is found by stays.
struct Slot {
    mutable JobRecordPtr job;
};
// Rows by the time of their submission; searched by a time alone too.
struct ByTime {
    using is_transparent = void;
    bool operator()(const Slot& a, const Slot& b) const {
        const Instant at = a.job->submitted(), other = b.job->submitted();
        return at != other ? at < other : a.job->id() < b.job->id();
    }
    bool operator()(const Slot& a, Instant at) const { return a.job->submitted() < at; }
    bool operator()(Instant at, const Slot& b) const { return at < b.job->submitted(); }
};
// Where rows are, by id, which lies in the row only.
using Rows = std::set<Slot, ByTime>;
struct ById {
    using is_transparent = void;
    static std::string_view of(Rows::const_iterator row) { return row->job->id(); }
    static std::string_view of(std::string_view id) { return id; }
    std::size_t operator()(const auto& job) const { return std::hash<std::string_view>()(of(job)); }
    bool operator()(const auto& a, const auto& b) const { return of(a) == of(b); }
};

bool below(const std::string& tenant, const std::string& root) {
    return tenant == root ||
           (tenant.size() > root.size() && tenant[root.size()] == '/' && tenant.starts_with(root));
}

// `wanted`: key, or key=value.
bool has_label(const std::map<std::string, std::string>& labels, const std::string& wanted) {
    const auto equals = wanted.find('=');
    const auto it = labels.find(wanted.substr(0, equals));
    return it != labels.end() && (equals == std::string::npos || it->second == wanted.substr(equals + 1));
}

bool matches(const JobRecord& job, const JobFilter& f) {
    if (f.type && job.outline().type != *f.type) return false;
    if (!f.states.empty() && std::find(f.states.begin(), f.states.end(), job.state()) == f.states.end())
        return false;
    if (!f.queue.empty() && job.queue() != f.queue) return false;
    if (!f.tenant.empty() && !below(job.tenant(), f.tenant)) return false;
    if (!f.user.empty() && job.user() != f.user) return false;
    if (!f.name.empty() && job.name().find(f.name) == std::string::npos &&
        job.id().find(f.name) == std::string::npos)
        return false;
    if (!f.node.empty() && !job.runs_on(f.node)) return false;
    if (!f.label.empty() && !has_label(job.outline().labels, f.label)) return false;
    return !f.since || job.submitted() >= f.since;
}

// What a job is sorted by: a text that compares like the column, then the id, so that every position is
// unique and a cursor that names one stays valid when rows come and go.
std::string number_key(std::int64_t n) {
    std::string out(16, '0');
    auto bits = static_cast<std::uint64_t>(n) ^ (1ull << 63);
    for (int i = 15; i >= 0; --i, bits >>= 4)
        out[static_cast<std::size_t>(i)] = "0123456789abcdef"[bits & 15];
    return out;
}
using SortKey = std::string (*)(const JobRecord&);
SortKey sort_key(std::string_view column) {
    if (column == "submitted") return [](const JobRecord& j) { return number_key(j.submitted().ms); };
    if (column == "name") return [](const JobRecord& j) { return j.name(); };
    if (column == "state") return [](const JobRecord& j) { return std::string(name_of(j.state())); };
    if (column == "priority") return [](const JobRecord& j) { return number_key(j.priority()); };
    if (column == "id") return [](const JobRecord&) { return std::string(); };
    return nullptr;
}

// A cursor is "<key>\n<id>" in hexadecimal.
std::string to_cursor(const std::string& key, const std::string& id) {
    std::string out;
    for (const char c : key + '\n' + id) {
        out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
        out += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
    }
    return out;
}
Result<std::pair<std::string, std::string>> from_cursor(std::string_view cursor) {
    const auto digit = [](char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    std::string text;
    bool good = cursor.size() % 2 == 0;
    for (std::size_t i = 0; good && i < cursor.size(); i += 2) {
        const int high = digit(cursor[i]), low = digit(cursor[i + 1]);
        good = high >= 0 && low >= 0;
        text += static_cast<char>(high * 16 + low);
    }
    const auto line = text.rfind('\n');
    if (!good || line == std::string::npos)
        return fail(Code::invalid, "not a cursor of this list", "cursor", "use `next` of the page before");
    return std::pair(text.substr(0, line), text.substr(line + 1));
}

void add(api::ResourceBars& sum, const api::ResourceBars& part) {
    const auto each = [&](api::Amounts api::ResourceBars::*bar) {
        (sum.*bar).allocated += (part.*bar).allocated;
        (sum.*bar).used += (part.*bar).used;
        (sum.*bar).total += (part.*bar).total;
    };
    each(&api::ResourceBars::gpu);
    each(&api::ResourceBars::gpu_memory_mib);
    each(&api::ResourceBars::cpu);
    each(&api::ResourceBars::memory_bytes);
    each(&api::ResourceBars::disk_bytes);
    each(&api::ResourceBars::iops);
}

}  // namespace

struct ReadModel::State_ {
    struct HeldNode {
        NodeEntry entry;
        std::vector<std::string> jobs;  // in order
    };

    mutable std::shared_mutex mutex;
    Rows by_time;
    std::unordered_set<Rows::const_iterator, ById, ById> jobs;
    std::map<std::string, HeldNode> nodes;
    std::map<std::string, api::QueueView> queues;
    std::map<std::string, std::pair<Tenant, api::QuotaView>> tenants;
    std::map<std::string, Token> tokens;
    std::map<std::string, std::string> token_by_hash;
    std::map<State, std::int64_t> counts;
    api::ClusterView cluster;

    void take_job(JobRecordPtr job);
    void replace_job(const Slot& slot, JobRecordPtr job);
    void drop_job(const std::string& id);
    void list_on_nodes(const JobRecord& job);
    void unlist_on_nodes(const JobRecord& job);
    void take_node(const NodeEntry& entry);
    void drop_node(const std::string& name);
};

void ReadModel::State_::drop_job(const std::string& id) {
    const auto it = jobs.find(std::string_view(id));
    if (it == jobs.end()) return;
    const auto row = *it;
    unlist_on_nodes(*row->job);
    --counts[row->job->state()];
    jobs.erase(it);
    by_time.erase(row);
}

void ReadModel::State_::take_job(JobRecordPtr job) {
    if (const auto known = jobs.find(std::string_view(job->id())); known != jobs.end())
        return replace_job(**known, std::move(job));
    ++counts[job->state()];
    list_on_nodes(*job);
    jobs.insert(by_time.insert(Slot{std::move(job)}).first);
}

void ReadModel::State_::replace_job(const Slot& slot, JobRecordPtr job) {
    CRATER_CHECK(slot.job->submitted() == job->submitted(), "job " + job->id() + " was submitted once");
    const JobRecordPtr old = std::exchange(slot.job, std::move(job));
    --counts[old->state()];
    ++counts[slot.job->state()];
    if (slot.job->holds_as(*old)) return;
    unlist_on_nodes(*old);
    list_on_nodes(*slot.job);
}

void ReadModel::State_::list_on_nodes(const JobRecord& job) {
    job.for_each_held_node([&](const std::string& node) {
        auto& held = nodes[node].jobs;
        held.insert(std::lower_bound(held.begin(), held.end(), job.id()), job.id());
    });
}

void ReadModel::State_::unlist_on_nodes(const JobRecord& job) {
    job.for_each_held_node([&](const std::string& node) {
        const auto n = nodes.find(node);
        if (n == nodes.end()) return;
        auto& held = n->second.jobs;
        if (const auto at = std::lower_bound(held.begin(), held.end(), job.id());
            at != held.end() && *at == job.id())
            held.erase(at);
    });
}

void ReadModel::State_::drop_node(const std::string& name) {
    const auto it = nodes.find(name);
    if (it == nodes.end()) return;
    if (const auto& row = it->second.entry.row) {
        --(row->state == NodeState::up         ? cluster.nodes.up
           : row->state == NodeState::draining ? cluster.nodes.draining
                                               : cluster.nodes.lost);
        if (row->simulated) --cluster.nodes.simulated;
    }
    it->second.entry = {};
    if (it->second.jobs.empty()) nodes.erase(it);
}

void ReadModel::State_::take_node(const NodeEntry& entry) {
    drop_node(entry.row->name);
    nodes[entry.row->name].entry = entry;
    const auto& row = entry.row;
    ++(row->state == NodeState::up         ? cluster.nodes.up
       : row->state == NodeState::draining ? cluster.nodes.draining
                                           : cluster.nodes.lost);
    if (row->simulated) ++cluster.nodes.simulated;
}

ReadModel::ReadModel() : state_(std::make_shared<State_>()) {}
ReadModel::~ReadModel() = default;

void ReadModel::publish(Update update) {
    const std::unique_lock lock(state_->mutex);
    State_& s = *state_;
    for (const auto& id : update.removed_jobs) s.drop_job(id);
    if (s.jobs.empty()) s.jobs.reserve(update.jobs.size());  // all there are, at a start
    for (auto& job : update.jobs) s.take_job(std::move(job));
    for (const auto& name : update.removed_nodes) s.drop_node(name);
    for (const auto& node : update.nodes) s.take_node(node);
    for (auto& queue : update.queues) s.queues[queue.spec.name] = std::move(queue);
    for (auto& tenant : update.tenants) s.tenants[tenant.first.path] = std::move(tenant);
    for (const auto& id : update.removed_tokens) {
        if (const auto it = s.tokens.find(id); it != s.tokens.end()) {
            s.token_by_hash.erase(it->second.secret_sha256);
            s.tokens.erase(it);
        }
    }
    for (auto& token : update.tokens) {
        if (const auto it = s.tokens.find(token.id); it != s.tokens.end())
            s.token_by_hash.erase(it->second.secret_sha256);
        s.token_by_hash[token.secret_sha256] = token.id;
        s.tokens[token.id] = std::move(token);
    }
    if (update.problems) s.cluster.problems = std::move(*update.problems);
    if (update.free) s.cluster.free = std::move(*update.free);
    if (update.cluster_name) s.cluster.name = std::move(*update.cluster_name);
    if (update.verified) {
        s.cluster.state_hash_verified = *update.verified;
        s.cluster.recovered_revision = update.revision;
        s.cluster.recovered_state_hash = update.state_hash;
    }
    if (update.revision) s.cluster.revision = update.revision;
    if (!update.state_hash.empty()) s.cluster.state_hash = std::move(update.state_hash);
    if (update.now) s.cluster.now = update.now;
}

JobRecordPtr ReadModel::job(const std::string& id) const {
    const std::shared_lock lock(state_->mutex);
    const auto it = state_->jobs.find(std::string_view(id));
    return it == state_->jobs.end() ? nullptr : (*it)->job;
}

Result<api::Page<api::JobRow>> ReadModel::jobs(const JobFilter& filter, std::string_view sort,
                                               std::size_t limit, std::string_view cursor) const {
    if (sort.empty()) sort = "-submitted";
    const bool down = sort.starts_with('-');
    const SortKey key = sort_key(down ? sort.substr(1) : sort);
    if (!key)
        return fail(Code::invalid, "jobs cannot be sorted by " + shown(sort), "sort",
                    "submitted, name, state, priority or id, with a leading - for descending order");
    std::optional<std::pair<std::string, std::string>> from;
    if (!cursor.empty()) {
        CRATER_TRY(read, from_cursor(cursor));
        from = std::move(read);
    }

    api::Page<api::JobRow> page;
    using Row = std::pair<std::pair<std::string, std::string>, JobRecordPtr>;
    const auto before = [down](const auto& a, const auto& b) { return down ? b < a : a < b; };
    std::vector<Row> kept;  // a heap of the first `limit` + 1 after the cursor, the last one on top
    const auto worse = [&](const Row& a, const Row& b) { return before(a.first, b.first); };
    // the walk below meets the rows as they are wanted: later ones only count
    const bool in_order = key == sort_key("submitted");
    const auto consider = [&](const JobRecordPtr& job) {
        if (!matches(*job, filter)) return;
        ++page.total;
        if (in_order && kept.size() > limit) return;
        std::pair<std::string, std::string> at{key(*job), job->id()};
        if (from && !before(*from, at)) return;
        if (kept.size() > limit && !before(at, kept.front().first)) return;
        kept.emplace_back(std::move(at), job);
        std::push_heap(kept.begin(), kept.end(), worse);
        if (kept.size() > limit + 1) {
            std::pop_heap(kept.begin(), kept.end(), worse);
            kept.pop_back();
        }
    };
    {
        const std::shared_lock lock(state_->mutex);
        const auto begin = filter.since ? state_->by_time.lower_bound(filter.since) : state_->by_time.begin();
        if (in_order && down)
            for (auto it = state_->by_time.end(); it != begin;) consider((--it)->job);
        else
            for (auto it = begin; it != state_->by_time.end(); ++it) consider(it->job);
    }
    std::sort_heap(kept.begin(), kept.end(), worse);
    if (kept.size() > limit) {
        kept.resize(limit);
        if (limit) page.next = to_cursor(kept.back().first.first, kept.back().first.second);
    }
    for (const Row& row : kept) page.items.push_back(row.second->row());
    return page;
}

std::shared_ptr<const api::NodeView> ReadModel::node(const std::string& name) const {
    const std::shared_lock lock(state_->mutex);
    const auto it = state_->nodes.find(name);
    if (it == state_->nodes.end() || !it->second.entry.row) return nullptr;
    auto view = std::make_shared<api::NodeView>();
    view->node = *it->second.entry.row;
    view->inventory = *it->second.entry.inventory;
    view->sample = it->second.entry.sample;
    for (const std::string& id : it->second.jobs) {
        const auto job = state_->jobs.find(std::string_view(id));
        if (job == state_->jobs.end()) continue;
        const JobRecord& record = *(*job)->job;
        const JobStatus status = record.status();
        for (const TaskStatus& task : status.tasks)
            if (task.allocation && task.allocation->node == name && state_row(task.state).holds)
                view->held.push_back({id, record.name(), task});
    }
    return view;
}

api::Page<api::NodeRow> ReadModel::nodes(const NodeFilter& filter, bool descending, std::size_t limit,
                                         std::string_view cursor) const {
    const std::string& label = filter.label;
    api::Page<api::NodeRow> page;
    const std::shared_lock lock(state_->mutex);
    const auto look = [&](const std::string& name, const NodeRowPtr& row) {
        if (!row || (filter.state && row->state != *filter.state) ||
            name.find(filter.name) == std::string::npos)
            return;
        if (!label.empty() && !has_label(row->labels, label)) return;
        ++page.total;
        if (!cursor.empty() && (descending ? name >= cursor : name <= cursor)) return;
        if (page.items.size() < limit)
            page.items.push_back(*row);
        else if (page.next.empty() && !page.items.empty())
            page.next = page.items.back().name;
    };
    if (descending)
        for (auto it = state_->nodes.rbegin(); it != state_->nodes.rend(); ++it)
            look(it->first, it->second.entry.row);
    else
        for (const auto& [name, held] : state_->nodes) look(name, held.entry.row);
    return page;
}

std::vector<api::QueueView> ReadModel::queues() const {
    const std::shared_lock lock(state_->mutex);
    std::vector<api::QueueView> out;
    for (const auto& [name, view] : state_->queues) out.push_back(view);
    return out;
}
std::vector<Tenant> ReadModel::tenants() const {
    const std::shared_lock lock(state_->mutex);
    std::vector<Tenant> out;
    for (const auto& [path, pair] : state_->tenants) out.push_back(pair.first);
    return out;
}
std::optional<api::QuotaView> ReadModel::quota(const std::string& tenant) const {
    const std::shared_lock lock(state_->mutex);
    const auto it = state_->tenants.find(tenant);
    return it == state_->tenants.end() ? std::optional<api::QuotaView>() : it->second.second;
}
std::vector<Token> ReadModel::tokens() const {
    const std::shared_lock lock(state_->mutex);
    std::vector<Token> out;
    for (const auto& [id, token] : state_->tokens) out.push_back(token);
    return out;
}
std::optional<Token> ReadModel::token_by_hash(const std::string& sha256) const {
    const std::shared_lock lock(state_->mutex);
    const auto it = state_->token_by_hash.find(sha256);
    return it == state_->token_by_hash.end() ? std::optional<Token>() : state_->tokens.at(it->second);
}

api::ClusterView ReadModel::cluster() const {
    const std::shared_lock lock(state_->mutex);
    api::ClusterView view = state_->cluster;
    view.version = "0.1.0";
    view.capabilities = {"gpu-sharing", "cpu", "memory", "disk", "gang", "preemption", "quota", "alldata"};
    for (const StateRow& row : state_table()) view.jobs[std::string(row.name)] = 0;
    for (const auto& [state, count] : state_->counts) view.jobs[std::string(name_of(state))] = count;
    for (const auto& [name, queue] : state_->queues) view.queues.push_back(queue);
    std::set<std::string> pools;
    for (const auto& [name, held] : state_->nodes) {
        if (!held.entry.row) continue;
        pools.insert(held.entry.inventory->pools.begin(), held.entry.inventory->pools.end());
        if (held.entry.row->state != NodeState::lost) add(view.resources, held.entry.row->resources);
    }
    view.pools.assign(pools.begin(), pools.end());
    view.health = view.problems.empty() ? "ok" : "degraded";
    return view;
}

}  // namespace crater::scheduler
