#include <nlohmann/json.hpp>

#include "api_impl.h"

namespace crater::scheduler {

const std::map<std::string_view, HttpApi::Impl::Handler>& HttpApi::Impl::handlers() {
    static const std::map<std::string_view, Handler> table = {
        {"submit_job", &Impl::submit_job},
        {"list_jobs", &Impl::list_jobs},
        {"get_job", &Impl::get_job},
        {"get_job_why", &Impl::get_job_why},
        {"get_job_events", &Impl::get_job_events},
        {"get_job_metrics", &Impl::get_job_metrics},
        {"get_job_logs", &Impl::get_job_logs},
        {"cancel_job", &Impl::cancel_job},
        {"evict_job", &Impl::evict_job},
        {"resume_job", &Impl::resume_job},
        {"plan_submit", &Impl::plan_submit},
        {"plan_preempt", &Impl::plan_preempt},
        {"plan_defrag", &Impl::plan_defrag},
        {"plan_drain", &Impl::plan_drain},
        {"plan_node_loss", &Impl::plan_node_loss},
        {"plan_quota", &Impl::plan_quota},
        {"defrag", &Impl::defrag},
        {"list_nodes", &Impl::list_nodes},
        {"get_node", &Impl::get_node},
        {"get_node_topology", &Impl::get_node_topology},
        {"drain_node", &Impl::drain_node},
        {"resume_node", &Impl::resume_node},
        {"taint_node", &Impl::taint_node},
        {"untaint_node", &Impl::untaint_node},
        {"plan_maintenance", &Impl::plan_maintenance},
        {"cancel_maintenance", &Impl::cancel_maintenance},
        {"list_queues", &Impl::list_queues},
        {"get_queue", &Impl::get_queue},
        {"put_queue", &Impl::put_queue},
        {"list_tenants", &Impl::list_tenants},
        {"get_tenant", &Impl::get_tenant},
        {"put_tenant", &Impl::put_tenant},
        {"get_quota", &Impl::get_quota},
        {"put_quota", &Impl::put_quota},
        {"get_holdings", &Impl::get_holdings},
        {"get_cluster", &Impl::get_cluster},
        {"stream_events", &Impl::stream_events},
        {"list_plugins", &Impl::list_plugins},
        {"list_tokens", &Impl::list_tokens},
        {"create_token", &Impl::create_token},
        {"revoke_token", &Impl::revoke_token},
        {"join_agent", &Impl::join_agent},
        {"schedule", &Impl::schedule},
        {"get_task", &Impl::get_task},
        {"release_task", &Impl::release_task},
        {"get_changes", &Impl::get_changes},
        {"alldata_apply", &Impl::alldata_apply},
        {"alldata_release", &Impl::alldata_release},
        {"alldata_task", &Impl::alldata_task},
        {"alldata_tasks", &Impl::alldata_tasks},
        {"alldata_usage", &Impl::alldata_usage},
        {"alldata_quota", &Impl::alldata_quota},
        {"alldata_cluster", &Impl::alldata_cluster},
        {"healthz", &Impl::healthz},
        {"health", &Impl::healthz},
        {"readyz", &Impl::readyz},
        {"metrics", &Impl::metrics},
        {"openapi", &Impl::openapi},
    };
    return table;
}

std::string HttpApi::unserved_routes() {
    std::string missing;
    for (const wire::Route& route : api::routes())
        if (!Impl::handlers().contains(route.operation)) missing += std::string(route.operation) + " ";
    return missing;
}

namespace {

api::Templates templates_of(const Config& config) {
    api::Templates templates;
    for (const auto& [type, configured] : config.alldata.templates)
        templates[type] = {configured.image, configured.command, configured.env};
    return templates;
}

// An answer below /alldata/v1 has AllData's envelope, errors too.
bool alldata_path(const std::string& path) { return path.starts_with("/alldata/"); }

wire::HttpResponse alldata_error(const Error& error, int status, std::int64_t now_ms) {
    nlohmann::json body = {
        {"success", false}, {"code", status}, {"msg", error.text()}, {"timestamp", now_ms}};
    return wire::json_response(body.dump(), status);
}

// Wraps the responder of an AllData call so that errors made anywhere come in its envelope.
class EnvelopeResponder final : public wire::Responder {
  public:
    EnvelopeResponder(wire::ResponderPtr inner, std::int64_t now_ms)
        : inner_(std::move(inner)), now_ms_(now_ms) {}
    void send(wire::HttpResponse response) override {
        if (response.status < 400 || response.body.starts_with("{\"success\"") ||
            response.body.starts_with("{\"code\""))
            return inner_->send(std::move(response));
        wire::HttpResponse wrapped = alldata_error(wire::error_of(response), response.status, now_ms_);
        wrapped.headers = std::move(response.headers);
        inner_->send(std::move(wrapped));
    }
    void on_io_thread(std::function<void()> work) override { inner_->on_io_thread(std::move(work)); }
    std::shared_ptr<wire::HttpStream> stream(wire::HttpResponse head) override {
        return inner_->stream(std::move(head));
    }

  private:
    wire::ResponderPtr inner_;
    std::int64_t now_ms_;
};

}  // namespace

HttpApi::Impl::Impl(Config config, Scheduler& scheduler, Loop& loop, const Clock& clock,
                    wire::MetricRegistry& metrics)
    : config_(std::move(config)),
      scheduler_(scheduler),
      loop_(loop),
      clock_(clock),
      metrics_(metrics),
      router_(api::routes()),
      templates_(templates_of(config_)) {}

void HttpApi::Impl::strip_prefix(wire::HttpRequest& request) const {
    const std::string& prefix = config_.path_prefix;
    if (prefix.empty() || !request.path.starts_with(prefix) ||
        (request.path.size() > prefix.size() && request.path[prefix.size()] != '/'))
        return;
    request.path.erase(0, prefix.size());
    if (request.path.empty()) request.path = "/";
}

void HttpApi::Impl::handle(wire::HttpRequest request, wire::ResponderPtr responder) {
    // the page's assets are relative to it
    if (!config_.path_prefix.empty() && request.path == config_.path_prefix &&
        (request.method == "GET" || request.method == "HEAD"))
        return responder->send(
            {.status = 308,
             .body = {},
             .content_type = "text/plain",
             .headers = {
                 {"Location", config_.path_prefix.substr(config_.path_prefix.rfind('/') + 1) + "/"}}});
    strip_prefix(request);
    if (alldata_path(request.path))
        responder = std::make_shared<EnvelopeResponder>(std::move(responder), clock_.now().ms);
    if (closing_)
        return responder->send(
            wire::error_response({Code::unavailable, "the scheduler is stopping", "", "try again shortly"}));
    if (serve_console(request, responder)) return;

    auto match = router_.match(request);
    if (!match) return responder->send(router_.refusal(request, match.error()));
    const wire::Route& route = *match->route;
    auto call = std::make_shared<Call>(
        Call{std::move(request), std::move(match->parameters), &route, {}, std::move(responder)});
    if (route.roles != 0) {
        auto actor = authenticate(call->request);
        if (!actor) return call->fail(actor.error());
        if (auto allowed = authorise(route, *actor); !allowed) return call->fail(allowed.error());
        call->actor = std::move(*actor);
    }
    if (auto known = wire::Router::check_query(route, call->request); !known)
        return call->fail(known.error());
    (this->*handlers().at(route.operation))(std::move(call));
}

Result<std::int64_t> number_of(const Call& call, const std::string& name, std::int64_t otherwise,
                               std::int64_t minimum, std::int64_t maximum) {
    const std::string text = call.query(name);
    if (text.empty()) return otherwise;
    const std::string allowed =
        "a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum);
    auto number = parse_number(text);
    if (!number || *number != static_cast<double>(static_cast<std::int64_t>(*number)) ||
        *number < static_cast<double>(minimum) || *number > static_cast<double>(maximum))
        return fail(Code::invalid, "\"" + text + "\" is not " + allowed, name);
    return static_cast<std::int64_t>(*number);
}

Result<bool> flag_of(const Call& call, const std::string& name) {
    const std::string text = call.query(name);
    if (text.empty() || text == "false") return false;
    if (text == "true") return true;
    return fail(Code::invalid, "\"" + text + "\" is neither true nor false", name);
}

Result<bool> descending_of(const Call& call, std::string_view column) {
    const std::string text = call.query("sort");
    if (text.empty() || text == column) return false;
    if (text == "-" + std::string(column)) return true;
    return fail(Code::invalid, "\"" + text + "\" is no column to sort by", "sort",
                std::string(column) + " or -" + std::string(column));
}

Result<Instant> since_of(const Call& call, const std::string& name, Instant now) {
    const std::string text = call.query(name);
    if (text.empty()) return Instant{};
    if (auto at = parse_instant(text)) return *at;
    if (auto span = parse_duration(text)) return now - *span;
    return fail(Code::invalid,
                "\"" + text + "\" is neither a time such as 2024-05-20T10:00:00Z nor a span such as 24h",
                name);
}

HttpApi::HttpApi(Config config, Scheduler& scheduler, Loop& loop, const Clock& clock,
                 wire::MetricRegistry& metrics)
    : impl_(std::make_shared<Impl>(std::move(config), scheduler, loop, clock, metrics)) {}
HttpApi::~HttpApi() = default;

wire::HttpServer::Handler HttpApi::handler() {
    return [impl = impl_](wire::HttpRequest request, wire::ResponderPtr responder) {
        impl->handle(std::move(request), std::move(responder));
    };
}
wire::HttpServer::Upgrade HttpApi::upgrade() {
    return [impl = impl_](const wire::HttpRequest& request) { return impl->upgrade(request); };
}
void HttpApi::close_streams() { impl_->close_streams(); }

}  // namespace crater::scheduler
