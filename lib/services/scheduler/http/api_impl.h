// The parts of HttpApi: a Call is one request on its way; handlers are small functions in one file per noun,
// bound by operation in api.cc.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "crater/api/routes.h"
#include "crater/base/log.h"
#include "crater/codec/codec.h"
#include "crater/scheduler/http_api.h"
#include "crater/wire/route.h"

namespace crater::scheduler {

struct Call {
    wire::HttpRequest request;
    std::map<std::string, std::string> path;  // parameters of the route
    const wire::Route* route = nullptr;
    Actor actor;
    wire::ResponderPtr responder;

    const std::string& parameter(const std::string& name) const { return path.at(name); }
    std::string query(const std::string& name, std::string otherwise = {}) const {
        auto found = request.query.find(name);
        return found == request.query.end() ? std::move(otherwise) : found->second;
    }
    std::string header(const std::string& name) const {
        auto found = request.headers.find(name);
        return found == request.headers.end() ? std::string() : found->second;
    }
    void fail(const Error& error) const { responder->send(wire::error_response(error)); }
    template <class T>
    void answer(const T& value, int status = 200) const {
        responder->send(wire::json_response(codec::write_json(value), status));
    }
    // Answers a Result: the value, or its error.
    template <class T>
    void answer(const Result<T>& result, int status = 200) const {
        if (result)
            answer(*result, status);
        else
            fail(result.error());
    }
};
using CallPtr = std::shared_ptr<const Call>;

// The body as a T; an empty body reads as {}.
template <class T>
Result<T> body_of(const Call& call) {
    return codec::read_json<T>(call.request.body.empty() ? "{}" : std::string_view(call.request.body));
}
// A whole number in [minimum, maximum] from the query.
Result<std::int64_t> number_of(const Call& call, const std::string& name, std::int64_t otherwise,
                               std::int64_t minimum, std::int64_t maximum);
// "true" or "false"; false when absent.
Result<bool> flag_of(const Call& call, const std::string& name);
// Whether `sort` asks for the column downwards: "name" or "-name"; any other column is an error.
Result<bool> descending_of(const Call& call, std::string_view column);
// A short list as a page of the asked size, sorted by `key_of`, whose column is named `column`.
template <class T, class F>
void answer_page(const Call& call, std::vector<T> items, std::string_view column, F key_of) {
    auto limit = number_of(call, "limit", 100, 1, 1000);
    auto descending = descending_of(call, column);
    if (!limit) return call.fail(limit.error());
    if (!descending) return call.fail(descending.error());
    const std::string cursor = call.query("cursor");
    std::sort(items.begin(), items.end(), [&](const T& a, const T& b) {
        return *descending ? key_of(a) > key_of(b) : key_of(a) < key_of(b);
    });
    api::Page<T> page;
    page.total = static_cast<std::int64_t>(items.size());
    for (T& item : items) {
        if (!cursor.empty() && (*descending ? key_of(item) >= cursor : key_of(item) <= cursor)) continue;
        if (page.items.size() == static_cast<std::size_t>(*limit)) {
            page.next = key_of(page.items.back());
            break;
        }
        page.items.push_back(std::move(item));
    }
    call.answer(page);
}
// "2024-05-20T10:00:00Z", or a span before now: "24h".
Result<Instant> since_of(const Call& call, const std::string& name, Instant now);

class HttpApi::Impl : public std::enable_shared_from_this<HttpApi::Impl> {
  public:
    Impl(Config config, Scheduler& scheduler, Loop& loop, const Clock& clock, wire::MetricRegistry& metrics);

    void handle(wire::HttpRequest request, wire::ResponderPtr responder);
    Result<std::function<void(wire::WebSocketPtr)>> upgrade(const wire::HttpRequest& request);
    void close_streams();

  private:
    using Handler = void (Impl::*)(CallPtr);
    static const std::map<std::string_view, Handler>& handlers();
    friend class HttpApi;

    // ---- auth.cc
    Result<Actor> authenticate(const wire::HttpRequest& request) const;
    static Result<void> authorise(const wire::Route& route, const Actor& actor);
    static bool may_see(const Actor& actor, const std::string& tenant);
    // The job, when the caller may see it; not_found otherwise, so that names of others' jobs do not leak.
    Result<JobRecordPtr> visible_job(const Call& call, const std::string& id) const;

    // ---- jobs.cc
    void submit_job(CallPtr call);
    void list_jobs(CallPtr call);
    void get_job(CallPtr call);
    void get_job_why(CallPtr call);
    void get_job_events(CallPtr call);
    void get_job_metrics(CallPtr call);
    void cancel_job(CallPtr call) { act(std::move(call), Action::cancel); }
    void evict_job(CallPtr call) { act(std::move(call), Action::evict); }
    void resume_job(CallPtr call) { act(std::move(call), Action::resume); }
    void act(CallPtr call, Action action);
    Result<api::JobView> job_view(const JobRecord& job) const;

    // ---- plans.cc
    void plan_submit(CallPtr call);
    void plan_preempt(CallPtr call);
    void plan_defrag(CallPtr call);
    void plan_drain(CallPtr call);
    void plan_node_loss(CallPtr call);
    void plan_quota(CallPtr call);
    void suppose(CallPtr call, engine::Supposed supposed);
    void defrag(CallPtr call);

    // ---- cluster.cc
    void list_nodes(CallPtr call);
    void get_node(CallPtr call);
    void get_node_topology(CallPtr call);
    void drain_node(CallPtr call) { set_drain(std::move(call), true); }
    void resume_node(CallPtr call) { set_drain(std::move(call), false); }
    void set_drain(CallPtr call, bool draining);
    void taint_node(CallPtr call) { set_taint(std::move(call), false); }
    void untaint_node(CallPtr call) { set_taint(std::move(call), true); }
    void set_taint(CallPtr call, bool off);
    void plan_maintenance(CallPtr call);
    void cancel_maintenance(CallPtr call);
    void list_queues(CallPtr call);
    void get_queue(CallPtr call);
    void put_queue(CallPtr call);
    void get_cluster(CallPtr call);
    api::ClusterView cluster_view(const Actor& actor) const;
    void get_holdings(CallPtr call);
    void list_plugins(CallPtr call);
    void healthz(CallPtr call);
    void readyz(CallPtr call);
    void metrics(CallPtr call);
    void openapi(CallPtr call);

    // ---- tenants.cc
    void list_tenants(CallPtr call);
    void get_tenant(CallPtr call);
    void put_tenant(CallPtr call);
    void get_quota(CallPtr call);
    void put_quota(CallPtr call);
    void list_tokens(CallPtr call);
    void create_token(CallPtr call);
    void revoke_token(CallPtr call);

    // ---- streams.cc
    void get_job_logs(CallPtr call);
    void stream_events(CallPtr call);
    void keep(std::shared_ptr<wire::HttpStream> stream);
    void join_agent(CallPtr call);

    // ---- alldata.cc
    void schedule(CallPtr call);
    void get_task(CallPtr call);
    void release_task(CallPtr call);
    void get_changes(CallPtr call);
    void alldata_apply(CallPtr call);
    void alldata_release(CallPtr call);
    void alldata_task(CallPtr call);
    void alldata_tasks(CallPtr call);
    void alldata_usage(CallPtr call);
    void alldata_quota(CallPtr call);
    void alldata_cluster(CallPtr call);
    void submit_document(const CallPtr& call, std::function<void(Result<api::TaskView>, bool created)> done);
    void release(const CallPtr& call, const std::string& task_id, const std::string& reason,
                 std::function<void(Result<api::TaskView>)> done);
    api::TaskView view_of(const JobRecord& job) const;
    template <class T>
    void envelope(const Call& call, const Result<T>& result) const;

    // Takes the configured prefix off the path, when it is below it.
    void strip_prefix(wire::HttpRequest& request) const;

    // ---- console.cc
    bool serve_console(const wire::HttpRequest& request, const wire::ResponderPtr& responder) const;

    // Runs on the scheduler's loop; a command that arrives while the service stops is dropped there, and its
    // responder answers 503.
    void on_loop(std::function<void()> command) { loop_.post(std::move(command)); }

    Config config_;
    Scheduler& scheduler_;
    Loop& loop_;
    const Clock& clock_;
    wire::MetricRegistry& metrics_;
    wire::Router router_;
    api::Templates templates_;

    std::mutex streams_mutex_;
    std::set<std::shared_ptr<wire::HttpStream>> streams_;
    std::atomic<bool> closing_ = false;
};

}  // namespace crater::scheduler
