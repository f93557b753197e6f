#include <nlohmann/json.hpp>

#include "api_impl.h"

namespace crater::scheduler {
namespace {

constexpr std::size_t history_max = 10'000;

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

// States by the names people see ("Running"), in any case.
Result<std::vector<State>> states_of(const std::string& text) {
    std::vector<State> states;
    for (std::size_t from = 0; from <= text.size() && !text.empty();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        const std::string name = text.substr(from, comma - from);
        std::string known;
        bool found = false;
        for (const auto& row : enum_names(State{})) {
            if (lower(row.name) == lower(name)) states.push_back(row.value), found = true;
            if (row.name == name_of(row.value)) known += (known.empty() ? "" : ", ") + std::string(row.name);
        }
        if (!found) return fail(Code::invalid, "\"" + name + "\" is no state", "status", "one of " + known);
        from = comma + 1;
    }
    return states;
}

// The fields of a point that a metric's name means.
Result<std::vector<std::string>> fields_of_metric(const std::string& metric) {
    static const std::map<std::string, std::vector<std::string>> rows = {
        {"cpu", {"cpu_cores"}},
        {"memory", {"memory_bytes"}},
        {"io", {"read_bytes", "write_bytes"}},
        {"gpu", {"gpu_percent"}},
        {"gpu-memory", {"gpu_memory_mib"}}};
    if (const auto row = rows.find(metric); row != rows.end()) return row->second;
    std::string known;
    for (const auto& [name, fields] : rows) known += (known.empty() ? "" : ", ") + name;
    return fail(Code::invalid, "\"" + metric + "\" is no metric", "metric", "one of " + known);
}

}  // namespace

void HttpApi::Impl::submit_job(CallPtr call) {
    auto tree = codec::parse_json(call->request.body);
    if (!tree) return call->fail(tree.error());
    auto spec = api::read_job(*tree);
    if (!spec) return call->fail(spec.error());
    Submit command{.spec = std::move(*spec),
                   .actor = call->actor,
                   .idempotency_key = call->header("idempotency-key"),
                   .document = codec::canonical(*tree),
                   .task_id = {}};
    on_loop([self = shared_from_this(), call, command = std::move(command)]() mutable {
        self->scheduler_.submit(std::move(command), [self, call](Result<Submitted> submitted) {
            if (!submitted) return call->fail(submitted.error());
            // The job as it stands is read and written down without keeping the scheduler from its decisions.
            call->responder->on_io_thread(
                [self, call, job = submitted->job, status = submitted->created ? 201 : 200] {
                    call->answer(self->job_view(*job), status);
                });
        });
    });
}

void HttpApi::Impl::list_jobs(CallPtr call) {
    auto limit = number_of(*call, "limit", 100, 1, 1000);
    auto states = states_of(call->query("status"));
    auto since = since_of(*call, "since", clock_.now());
    if (!limit) return call->fail(limit.error());
    if (!states) return call->fail(states.error());
    if (!since) return call->fail(since.error());
    std::optional<JobType> type;
    if (const std::string wanted = call->query("type"); !wanted.empty()) {
        for (const auto& row : enum_names(JobType{}))
            if (row.name == wanted) type = row.value;
        if (!type)
            return call->fail({Code::invalid,
                               "\"" + wanted + "\" is none of training, inference, batch, interactive",
                               "type", ""});
    }
    JobFilter filter{.states = std::move(*states),
                     .queue = call->query("queue"),
                     .tenant = call->query("tenant"),
                     .name = call->query("name"),
                     .user = call->query("user"),
                     .node = call->query("node"),
                     .label = call->query("label"),
                     .type = type,
                     .since = *since};
    if (call->actor.role == Role::tenant && !may_see(call->actor, filter.tenant)) {
        if (!filter.tenant.empty())
            return call->fail(
                {Code::forbidden, "the tenant " + filter.tenant + " is not yours", "tenant", ""});
        filter.tenant = call->actor.tenant;
    }
    auto page = scheduler_.read().jobs(filter, call->query("sort", "-submitted"),
                                       static_cast<std::size_t>(*limit), call->query("cursor"));
    if (!page || call->query("estimates") != "true") return call->answer(std::move(page));
    on_loop([self = shared_from_this(), call, page = std::move(*page)]() mutable {
        std::vector<std::string> waiting;
        for (const api::JobRow& row : page.items)
            if (row.state == State::pending) waiting.push_back(row.id);
        self->scheduler_.estimates(waiting,
                                   [call, page = std::move(page)](
                                       Result<std::vector<Result<engine::StartEstimate>>> answers) mutable {
                                       if (!answers) return call->fail(answers.error());
                                       auto answer = answers->begin();
                                       for (api::JobRow& row : page.items)
                                           if (row.state == State::pending && *answer++)
                                               row.estimate = **std::prev(answer);
                                       call->answer(page);
                                   });
    });
}

Result<api::JobView> HttpApi::Impl::job_view(const JobRecord& job) const {
    CRATER_TRY(spec, job.spec());
    api::JobView view{.job = job.row(),
                      .spec = api::masked(std::move(spec)),
                      .tasks = job.status().tasks,
                      .timeline = {},
                      .decision = {},
                      .notes = job.notes()};
    CRATER_TRY(changes, scheduler_.history({.kind = "job_state", .subject = job.id(), .limit = history_max}));
    for (const store::HistoryRow& row : changes)
        if (auto change = codec::read_json<StateChange>(row.body, {.allow_unknown = true}))
            view.timeline.push_back(std::move(*change));
    CRATER_TRY(decisions, scheduler_.history(
                              {.kind = "decision", .subject = job.id(), .newest_first = true, .limit = 1}));
    if (!decisions.empty())
        if (auto trace =
                codec::read_json<engine::DecisionTrace>(decisions.front().body, {.allow_unknown = true}))
            view.decision = std::move(*trace);
    return view;
}

void HttpApi::Impl::get_job(CallPtr call) {
    auto job = visible_job(*call, call->parameter("id"));
    if (!job) return call->fail(job.error());
    auto view = job_view(**job);
    if (!view || view->job.state != State::pending) return call->answer(std::move(view));
    on_loop([self = shared_from_this(), call, view = std::move(*view)]() mutable {
        const std::vector<std::string> id{view.job.id};
        self->scheduler_.estimates(
            id, [call,
                 view = std::move(view)](Result<std::vector<Result<engine::StartEstimate>>> answers) mutable {
                if (!answers) return call->fail(answers.error());
                if (auto& answer = answers->front())
                    view.job.estimate = std::move(*answer);
                else
                    view.no_estimate = answer.error().message;
                call->answer(view);
            });
    });
}

void HttpApi::Impl::get_job_why(CallPtr call) {
    auto job = visible_job(*call, call->parameter("id"));
    if (!job) return call->fail(job.error());
    const auto nodes = flag_of(*call, "nodes"), thorough = flag_of(*call, "thorough");
    if (!nodes) return call->fail(nodes.error());
    if (!thorough) return call->fail(thorough.error());
    const engine::WhyQuestion question{.nodes = *nodes, .thorough = *thorough};
    on_loop([self = shared_from_this(), call, question, id = (*job)->id()] {
        self->scheduler_.why(id, question, [call](Result<engine::Why> why) { call->answer(why); });
    });
}

void HttpApi::Impl::get_job_events(CallPtr call) {
    auto job = visible_job(*call, call->parameter("id"));
    auto limit = number_of(*call, "limit", 100, 1, 1000);
    auto after = number_of(*call, "cursor", 0, 0, std::int64_t{1} << 52);
    if (!job) return call->fail(job.error());
    if (!limit) return call->fail(limit.error());
    if (!after) return call->fail(after.error());
    auto rows = scheduler_.history({.kind = "job_state",
                                    .subject = (*job)->id(),
                                    .after = static_cast<std::uint64_t>(*after),
                                    .limit = static_cast<std::size_t>(*limit) + 1});
    if (!rows) return call->fail(rows.error());
    api::Page<api::EventView> page;
    for (const store::HistoryRow& row : *rows) {
        if (page.items.size() == static_cast<std::size_t>(*limit)) {
            page.next = std::to_string(page.items.back().sequence);
            break;
        }
        auto change = codec::read_json<StateChange>(row.body, {.allow_unknown = true});
        if (!change) continue;
        page.items.push_back({.sequence = row.sequence,
                              .at = row.at,
                              .kind = "job",
                              .subject = row.subject,
                              .state = std::string(name_of(change->state)),
                              .reason = std::string(name_of(change->reason)),
                              .detail = change->detail});
    }
    page.total = static_cast<std::int64_t>(page.items.size());
    call->answer(page);
}

void HttpApi::Impl::get_job_metrics(CallPtr call) {
    auto job = visible_job(*call, call->parameter("id"));
    auto since = since_of(*call, "range", clock_.now());
    if (!job) return call->fail(job.error());
    if (!since) return call->fail(since.error());
    api::JobMetrics metrics = scheduler_.job_metrics((*job)->id());
    for (api::TaskSeries& series : metrics.series)
        std::erase_if(series.points, [&](const api::MetricPoint& point) { return point.at < *since; });
    const std::string wanted = call->query("metric");
    if (wanted.empty()) return call->answer(metrics);
    const auto fields = fields_of_metric(wanted);
    if (!fields) return call->fail(fields.error());
    codec::Json tree = codec::to_json(metrics);
    if (auto all = tree.find("series"); all != tree.end())
        for (auto& series : *all)
            for (auto& point : series["points"])
                for (auto it = point.begin(); it != point.end();)
                    it = it.key() == "at" ||
                                 std::find(fields->begin(), fields->end(), it.key()) != fields->end()
                             ? std::next(it)
                             : point.erase(it);
    call->responder->send(wire::json_response(tree.dump()));
}

void HttpApi::Impl::act(CallPtr call, Action action) {
    // The id of an array names no job; the first of it stands for all.
    const std::string named = call->parameter("id");
    auto job = visible_job(*call, named);
    const bool array = !job && action == Action::cancel && visible_job(*call, named + ".0");
    if (!job && !array) return call->fail(job.error());
    auto body = body_of<api::ReasonBody>(*call);
    if (!body) return call->fail(body.error());
    Act command{.job = array ? named : (*job)->id(),
                .action = action,
                .body = std::move(*body),
                .actor = call->actor};
    on_loop([self = shared_from_this(), call, command = std::move(command)]() mutable {
        self->scheduler_.act(std::move(command), [self, call](Result<JobRecordPtr> changed) {
            if (!changed) return call->fail(changed.error());
            call->answer(self->job_view(**changed));
        });
    });
}

}  // namespace crater::scheduler
