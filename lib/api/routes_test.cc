#include "crater/api/routes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace crater::api {
namespace {

using Json = nlohmann::json;

const wire::Route* row(std::string_view operation) {
    for (const auto& route : routes())
        if (route.operation == operation) return &route;
    return nullptr;
}
bool may(Role role, std::string_view operation) {
    const auto* route = row(operation);
    return route != nullptr && (route->roles == 0 || (route->roles & role_bit(role)) != 0);
}

TEST(Routes, each_operation_is_declared_once_and_admin_may_call_all) {
    std::set<std::string_view> operations;
    for (const auto& route : routes()) {
        EXPECT_TRUE(operations.insert(route.operation).second) << route.operation;
        EXPECT_TRUE(may(Role::admin, route.operation)) << route.operation;
        EXPECT_FALSE(route.summary.empty()) << route.operation;
        EXPECT_EQ(route.takes_idempotency_key, route.method == "POST") << route.operation;
        EXPECT_EQ(route.request_schema != nullptr, route.method == "POST" || route.method == "PUT")
            << route.operation;
    }
}

TEST(Routes, roles_hold_what_the_contract_says) {
    for (const auto& route : routes()) {
        if (route.roles == 0) continue;
        const bool reads = route.method == "GET";
        EXPECT_TRUE(reads || !may(Role::read_only, route.operation)) << route.operation;
        EXPECT_EQ(may(Role::agent_join, route.operation), route.operation == "join_agent") << route.operation;
    }
    for (const char* operation : {"submit_job", "cancel_job", "get_quota", "get_cluster", "schedule",
                                  "release_task", "alldata_apply", "get_job_why"})
        EXPECT_TRUE(may(Role::tenant, operation)) << operation;
    for (const char* operation :
         {"list_nodes", "drain_node", "taint_node", "plan_maintenance", "evict_job", "put_queue", "put_quota",
          "put_tenant", "create_token", "join_agent", "alldata_quota"})
        EXPECT_FALSE(may(Role::tenant, operation)) << operation;
    for (const char* operation : {"drain_node", "taint_node", "untaint_node", "plan_maintenance",
                                  "cancel_maintenance", "put_queue", "put_quota", "evict_job", "submit_job"})
        EXPECT_TRUE(may(Role::op, operation)) << operation;
    for (const char* operation : {"create_token", "revoke_token", "list_tokens"})
        EXPECT_FALSE(may(Role::op, operation)) << operation;
    for (const auto& route : routes()) {
        const bool inside = route.path.starts_with("/api/v1/") || route.path.starts_with("/alldata/");
        EXPECT_EQ(route.roles != 0, inside) << route.path;
    }
}

TEST(Routes, paths_lead_to_their_operations) {
    const wire::Router router(routes());
    const struct {
        const char *method, *path, *operation;
    } calls[] = {
        {"POST", "/api/v1/jobs", "submit_job"},
        {"GET", "/api/v1/jobs/job-1/why", "get_job_why"},
        {"GET", "/api/v1/tenants/research/vision", "get_tenant"},
        {"GET", "/api/v1/tenants", "list_tenants"},
        {"PUT", "/api/v1/quotas/research/vision", "put_quota"},
        {"POST", "/api/v1/nodes/gpu-01/drain", "drain_node"},
        {"GET", "/alldata/v1/tasks", "alldata_tasks"},
        {"GET", "/alldata/v1/tasks/t-1", "alldata_task"},
        {"GET", "/healthz", "healthz"},
    };
    for (const auto& call : calls) {
        wire::HttpRequest request;
        request.method = call.method;
        request.path = call.path;
        const auto match = router.match(request);
        ASSERT_TRUE(match) << call.path << ": " << match.error().text();
        EXPECT_EQ(match->route->operation, call.operation);
    }
}

TEST(Openapi, describes_every_route_with_named_schemas) {
    const Json document = Json::parse(openapi_document());
    EXPECT_EQ(document["openapi"], "3.1.0");
    const Json& schemas = document["components"]["schemas"];
    for (const char* name :
         {"JobSpec", "JobView", "ScheduleDocument", "TaskView", "ClusterView", "Why", "AllDataTaskAnswer"})
        EXPECT_TRUE(schemas.contains(name)) << name;
    EXPECT_TRUE(document["paths"]["/api/v1/jobs/{id}/why"].contains("get"));
    EXPECT_TRUE(document["paths"]["/api/v1/quotas/{tenant}"].contains("put"));
    const Json& properties = schemas["ScheduleDocument"]["properties"];
    EXPECT_TRUE(properties.contains("resource_requirements"));
    EXPECT_TRUE(properties.contains("command")) << "the job file's keys stand at the top, too";
    EXPECT_TRUE(schemas["AllDataTaskAnswer"]["properties"].contains("timestamp"));
    // What is no JSON says so: a generated client must not parse a log or a stream of events as a document.
    const auto types_of = [&](const char* path) {
        std::string types;
        for (const auto& [type, content] :
             document["paths"][path]["get"]["responses"]["200"]["content"].items())
            types += type;
        return types;
    };
    EXPECT_EQ(types_of("/api/v1/events"), "text/event-stream");
    EXPECT_EQ(types_of("/api/v1/jobs/{id}/logs"), "text/plain");
    EXPECT_EQ(types_of("/metrics"), "text/plain");
    // A command may be a list or a text.
    EXPECT_NE(schemas["JobSpec"]["properties"]["command"].dump().find("array"), std::string::npos);
    EXPECT_NE(schemas["JobSpec"]["properties"]["command"].dump().find("string"), std::string::npos);
}

}  // namespace
}  // namespace crater::api
