// Routes, the OpenAPI document, the error shape, metrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "crater/wire/metrics.h"
#include "crater/wire/route.h"
#include "net/text.h"

namespace crater::wire {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

Json job_schema() {
    return Json::parse(
        R"({"type":"object","properties":{"spec":{"$ref":"#/$defs/Spec"}},"$defs":{"Spec":{"type":"object",
        "properties":{"more":{"type":"array","items":{"$ref":"#/$defs/More"}}}},"More":{"type":"string"}}})");
}

const std::vector<Route>& routes() {
    static const std::vector<Route> rows{
        {.method = "GET",
         .path = "/api/v1/jobs",
         .roles = 3,
         .operation = "list_jobs",
         .summary = "Jobs.",
         .query = {{"limit", "Rows."}, {"cursor", "Where."}},
         .response_schema = job_schema,
         .tag = "jobs"},
        {.method = "POST",
         .path = "/api/v1/jobs",
         .roles = 1,
         .operation = "submit_job",
         .summary = "Submit.",
         .request_schema = job_schema,
         .response_schema = job_schema,
         .tag = "jobs",
         .takes_idempotency_key = true},
        {.method = "GET",
         .path = "/api/v1/jobs/{id}",
         .roles = 1,
         .operation = "get_job",
         .summary = "A job."},
        {.method = "GET", .path = "/api/v1/jobs/{id}/why", .roles = 1, .operation = "why", .summary = "Why."},
        {.method = "GET",
         .path = "/api/v1/jobs/counts",
         .roles = 1,
         .operation = "counts",
         .summary = "Counts."},
        {.method = "GET",
         .path = "/api/v1/tenants/{path*}",
         .roles = 1,
         .operation = "get_tenant",
         .summary = "A tenant."},
        {.method = "PUT",
         .path = "/api/v1/tenants/{path*}",
         .roles = 1,
         .operation = "put_tenant",
         .summary = "Set one.",
         .request_schema = job_schema},
        {.method = "GET",
         .path = "/api/v1/events",
         .roles = 1,
         .operation = "events",
         .summary = "Events.",
         .response_type = "text/event-stream"},
        {.method = "GET", .path = "/healthz", .operation = "health", .summary = "Alive."},
        {.method = "GET", .path = "/", .operation = "console", .summary = "The console."}};
    return rows;
}

HttpRequest request(std::string method, std::string_view target) {
    HttpRequest out;
    out.method = std::move(method);
    EXPECT_TRUE(read_target(target, out));
    return out;
}

std::string operation(const Router& router, std::string method, std::string_view target) {
    const auto match = router.match(request(std::move(method), target));
    return match ? std::string(match->route->operation) : "error: " + match.error().text();
}

TEST(Router, finds_the_most_particular_route) {
    const Router router(routes());
    EXPECT_EQ(operation(router, "GET", "/api/v1/jobs"), "list_jobs");
    EXPECT_EQ(operation(router, "GET", "/api/v1/jobs/"), "list_jobs");
    EXPECT_EQ(operation(router, "POST", "/api/v1/jobs"), "submit_job");
    EXPECT_EQ(operation(router, "GET", "/api/v1/jobs/job-1"), "get_job");
    EXPECT_EQ(operation(router, "GET", "/api/v1/jobs/counts"), "counts");
    EXPECT_EQ(operation(router, "GET", "/api/v1/j%6fbs/counts"), "counts");
    EXPECT_EQ(operation(router, "GET", "/api/v1/jobs/job-1/why"), "why");
    EXPECT_EQ(operation(router, "HEAD", "/healthz"), "health");
    EXPECT_EQ(operation(router, "GET", "/"), "console");
}

TEST(Router, decodes_parameters_and_keeps_an_encoded_slash_in_its_segment) {
    const Router router(routes());
    EXPECT_EQ(router.match(request("GET", "/api/v1/jobs/a%2Fb%20c"))->parameters.at("id"), "a/b c");
    EXPECT_EQ(router.match(request("GET", "/api/v1/tenants/org/team"))->parameters.at("path"), "org/team");
    EXPECT_EQ(router.match(request("GET", "/api/v1/tenants/org%2Fteam"))->parameters.at("path"), "org/team");
    HttpRequest by_hand;
    by_hand.method = "GET";
    by_hand.path = "/api/v1/jobs/x";
    EXPECT_EQ(router.match(by_hand)->parameters.at("id"), "x");
    by_hand.path = "/api/v1/jobs/100%25";  // decoded already
    EXPECT_EQ(router.match(by_hand)->parameters.at("id"), "100%25");
}

TEST(Router, follows_a_handler_that_took_a_prefix_off) {
    const Router router(routes());
    HttpRequest r = request("GET", "/crater/api/v1/jobs/a%2Fb");
    EXPECT_FALSE(router.match(r));
    r.path.erase(0, 7);
    ASSERT_TRUE(router.match(r));
    EXPECT_EQ(router.match(r)->parameters.at("id"), "a/b");
    r.path = "/healthz";
    EXPECT_EQ(router.match(r)->route->operation, "health");
}

TEST(Router, names_the_nearest_path) {
    const Router router(routes());
    const auto missing = router.match(request("GET", "/api/v1/job"));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Code::not_found);
    EXPECT_THAT(missing.error().hint, HasSubstr("/api/v1/jobs"));
    EXPECT_FALSE(router.match(request("GET", "/api/v1/tenants/")));
    EXPECT_FALSE(router.match(request("GET", "/api/v1/jobs//why")));
    EXPECT_FALSE(router.match(request("GET", "/api/v1/jobs/a/b/c")));
    EXPECT_EQ(router.refusal(request("GET", "/nothing"), missing.error()).status, 404);
}

TEST(Router, another_method_is_405_with_allow) {
    const Router router(routes());
    const HttpRequest deletion = request("DELETE", "/api/v1/jobs");
    const auto refused = router.match(deletion);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    const HttpResponse answer = router.refusal(deletion, refused.error());
    EXPECT_EQ(answer.status, 405);
    EXPECT_THAT(answer.headers,
                testing::Contains(std::pair<std::string, std::string>("Allow", "GET, HEAD, POST")));
    EXPECT_EQ(router.allowed(request("GET", "/nothing")), "");
}

TEST(Router, unknown_query_parameters_are_errors_that_name_the_known) {
    const Router router(routes());
    const auto check = [&](std::string_view target) {
        const HttpRequest r = request("GET", target);
        return Router::check_query(*router.match(r)->route, r);
    };
    EXPECT_TRUE(check("/api/v1/jobs?limit=1"));
    const auto slip = check("/api/v1/jobs?limt=1");
    ASSERT_FALSE(slip);
    EXPECT_EQ(slip.error().field, "limt");
    EXPECT_THAT(slip.error().hint, HasSubstr("did you mean limit?"));
    EXPECT_THAT(slip.error().hint, HasSubstr("limit, cursor"));
    EXPECT_THAT(check("/healthz?x=1").error().hint, HasSubstr("none"));
}

void collect_refs(const Json& node, std::set<std::string>& out) {
    if (node.is_object() && node.contains("$ref")) out.insert(node["$ref"].get<std::string>());
    if (node.is_structured())
        for (const auto& child : node) collect_refs(child, out);
}

TEST(OpenApi, is_complete_and_every_reference_resolves) {
    const std::vector<std::string_view> roles{"admin", "tenant"};
    const Json document = Json::parse(openapi(routes(), "Crater", "1.0", roles));
    EXPECT_EQ(document["openapi"], "3.1.0");
    EXPECT_EQ(document["info"]["version"], "1.0");
    std::set<std::string> refs, ids;
    collect_refs(document, refs);
    EXPECT_GT(refs.size(), 5u);
    for (const auto& ref : refs) EXPECT_TRUE(document.contains(Json::json_pointer(ref.substr(1)))) << ref;
    std::size_t operations = 0;
    for (const auto& [path, methods] : document["paths"].items()) {
        for (const auto& [method, operation] : methods.items()) {
            ++operations;
            EXPECT_TRUE(ids.insert(operation["operationId"]).second);
            EXPECT_TRUE(operation["responses"].contains("200"));
            EXPECT_TRUE(operation["responses"].contains("503"));
            // Every {name} of the path is a required parameter, and no other is.
            std::set<std::string> declared;
            for (const auto& p : operation.value("parameters", Json::array()))
                if (p["in"] == "path") declared.insert("{" + p["name"].get<std::string>() + "}");
            for (const auto segment : path_segments(path)) {
                if (!segment.starts_with('{')) continue;
                EXPECT_EQ(declared.erase(std::string(segment)), 1u) << path;
            }
            EXPECT_TRUE(declared.empty()) << path;
        }
    }
    EXPECT_EQ(operations, routes().size());
    const Json& list = document["paths"]["/api/v1/jobs"]["get"];
    EXPECT_EQ(list["x-roles"], Json({"admin", "tenant"}));
    EXPECT_EQ(list["parameters"][0]["name"], "limit");
    EXPECT_EQ(document["paths"]["/api/v1/jobs"]["post"]["parameters"][0]["name"], "Idempotency-Key");
    EXPECT_TRUE(document["paths"]["/api/v1/jobs"]["post"]["responses"].contains("201"));
    EXPECT_TRUE(document["paths"].contains("/api/v1/tenants/{path}"));
    EXPECT_TRUE(document["paths"].contains("/"));
    EXPECT_TRUE(document["paths"]["/api/v1/events"]["get"]["responses"]["200"]["content"].contains(
        "text/event-stream"));
    EXPECT_EQ(document["paths"]["/healthz"]["get"]["security"], Json::array());
    EXPECT_EQ(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
    EXPECT_TRUE(document["components"]["schemas"].contains("More"));
}

TEST(Answers, the_error_shape_goes_there_and_back) {
    const Error error{Code::unsatisfiable, "needs 9 cards, \"the\" largest node has 8", "resources.gpu",
                      "ask for less"};
    const HttpResponse response = error_response(error);
    EXPECT_EQ(response.status, 422);
    EXPECT_EQ(Json::parse(response.body), (Json{{"error",
                                                 {{"code", "unsatisfiable"},
                                                  {"message", error.message},
                                                  {"field", error.field},
                                                  {"hint", error.hint}}}}));
    const Error back = error_of(response);
    EXPECT_EQ(back.code, error.code);
    EXPECT_EQ(back.text(), error.text());
    EXPECT_FALSE(Json::parse(error_response({Code::internal, {}, {}, {}}).body)["error"].contains("field"));
}

TEST(Answers, retry_after_comes_with_429_and_503) {
    const auto has_retry = [](Code code) {
        for (const auto& [name, value] : error_response({code, "x", {}, {}}).headers)
            if (name == "Retry-After") return true;
        return false;
    };
    EXPECT_TRUE(has_retry(Code::limited));
    EXPECT_TRUE(has_retry(Code::unavailable));
    EXPECT_FALSE(has_retry(Code::not_found));
}

TEST(Answers, errors_of_other_servers_are_understood) {
    const auto text_of = [](int status, std::string body, std::string type = "application/json") {
        const Error e =
            error_of({.status = status, .body = std::move(body), .content_type = std::move(type)});
        return std::string(code_row(e.code).name) + ": " + e.message;
    };
    EXPECT_EQ(text_of(404, R"({"detail":"no"})"), "not_found: no");
    EXPECT_EQ(text_of(500, R"({"code":500,"msg":"boom"})"), "internal: boom");
    EXPECT_EQ(text_of(401, R"({"error":"unauthorized"})"), "unauthenticated: unauthorized");
    EXPECT_EQ(text_of(502, "<html>bad gateway</html>", "text/html"), "unavailable: the server answered 502");
    EXPECT_EQ(text_of(418, "teapot\nmore", "text/plain; charset=utf-8"),
              "invalid: the server answered 418: teapot");
    EXPECT_EQ(text_of(400, R"({"error":{"code":"conflict"}})"), "conflict: the server answered 400");
    EXPECT_EQ(text_of(503, ""), "unavailable: the server answered 503");
}

constexpr MetricDef jobs_total{"crater_jobs_total", MetricKind::counter, "Jobs.", "queue state"};
constexpr MetricDef nodes{"crater_nodes", MetricKind::gauge, "Nodes.", {}};
constexpr MetricDef wait_seconds{"crater_wait_seconds", MetricKind::histogram, "Wait.", {}, "0.1 1 10"};

TEST(Metrics, come_out_in_prometheus_text) {
    const auto metrics = make_metrics();
    metrics->add(jobs_total, 2, {"default", "done"});
    metrics->add(jobs_total, 1, {"default", "done"});
    metrics->add(jobs_total, 1, {"other", "failed"});
    metrics->set(nodes, 7);
    metrics->add(nodes, -2);
    metrics->observe(wait_seconds, 0.5);
    const std::string text = metrics->exposition();
    EXPECT_THAT(text, HasSubstr("# TYPE crater_jobs_total counter\n"));
    EXPECT_THAT(text, HasSubstr("crater_jobs_total{queue=\"default\",state=\"done\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("crater_nodes 5\n"));
    EXPECT_THAT(text, HasSubstr("crater_wait_seconds_bucket{le=\"1\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("crater_wait_seconds_count 1\n"));
    metrics->remove(jobs_total, {"other", "failed"});
    metrics->remove(jobs_total, {"never", "was"});
    EXPECT_THAT(metrics->exposition(), Not(HasSubstr("other")));
    metrics->add(jobs_total, 1, {"other", "failed"});
    EXPECT_THAT(metrics->exposition(), HasSubstr("crater_jobs_total{queue=\"other\",state=\"failed\"} 1\n"));
}

}  // namespace
}  // namespace crater::wire
