// The face of the API as a caller meets it, without a socket: requests in, answers out.
#include <nlohmann/json.hpp>

#include "crater/scheduler/http_api.h"
#include "crater/wire/metrics.h"
#include "test_world.h"

namespace crater::scheduler {
namespace {

using Json = nlohmann::json;

class KeptAnswer final : public wire::Responder {
  public:
    explicit KeptAnswer(std::optional<wire::HttpResponse>& answer) : answer_(answer) {}
    void send(wire::HttpResponse response) override { answer_ = std::move(response); }
    void on_io_thread(std::function<void()> work) override { work(); }
    std::shared_ptr<wire::HttpStream> stream(wire::HttpResponse head) override {
        answer_ = std::move(head);
        return nullptr;
    }

  private:
    std::optional<wire::HttpResponse>& answer_;
};

struct ApiWorld : TestWorld {
    explicit ApiWorld(Config wanted = {})
        : TestWorld(std::move(wanted)),
          metrics(wire::make_metrics()),
          api(config, *scheduler, *loop, time, *metrics) {}

    wire::HttpResponse call(const std::string& method, const std::string& target,
                            const std::string& body = {}, const std::string& token = {}) {
        wire::HttpRequest request;
        request.method = method;
        request.path = request.raw_path = target.substr(0, target.find('?'));
        for (std::size_t at = target.find('?'); at != std::string::npos; at = target.find('&', at + 1)) {
            const std::string part = target.substr(at + 1, target.find('&', at + 1) - at - 1);
            request.query[part.substr(0, part.find('='))] = part.substr(part.find('=') + 1);
        }
        request.body = body;
        request.loopback = true;
        if (!token.empty()) request.headers["authorization"] = "Bearer " + token;
        std::optional<wire::HttpResponse> answer;
        api.handler()(std::move(request), std::make_shared<KeptAnswer>(answer));
        run();
        EXPECT_TRUE(answer.has_value()) << method << " " << target;
        return answer.value_or(wire::HttpResponse{.status = 0, .body = {}, .headers = {}});
    }
    static std::string header(const wire::HttpResponse& answer, const std::string& name) {
        for (const auto& [key, value] : answer.headers)
            if (key == name) return value;
        return {};
    }

    std::unique_ptr<wire::MetricRegistry> metrics;
    HttpApi api;
};

TEST(HttpApi, another_method_on_a_known_path_is_405_and_names_those_it_has) {
    ApiWorld world;
    for (const auto& [method, path, allow] : {std::tuple{"DELETE", "/api/v1/jobs", "GET, HEAD, POST"},
                                              {"POST", "/api/v1/cluster", "GET, HEAD"},
                                              {"OPTIONS", "/api/v1/queues/training", "GET, HEAD, PUT"},
                                              {"GET", "/api/v1/schedule", "POST"},
                                              {"HEAD", "/api/v1/schedule", "POST"},
                                              {"PUT", "/healthz", "GET, HEAD"},
                                              {"POST", "/", "GET, HEAD"},
                                              {"DELETE", "/dashboard", "GET, HEAD"}}) {
        const auto answer = world.call(method, path);
        EXPECT_EQ(answer.status, 405) << method << " " << path << ": " << answer.body;
        EXPECT_EQ(ApiWorld::header(answer, "Allow"), allow) << method << " " << path;
        EXPECT_EQ(Json::parse(answer.body)["error"]["code"], "invalid");
    }
    const auto alldata = world.call("GET", "/alldata/v1/apply");
    EXPECT_EQ(alldata.status, 405);
    EXPECT_EQ(ApiWorld::header(alldata, "Allow"), "POST");
    EXPECT_EQ(Json::parse(alldata.body)["code"], 405) << alldata.body;
    EXPECT_EQ(Json::parse(alldata.body)["success"], false);

    EXPECT_EQ(world.call("HEAD", "/api/v1/cluster").status, 200);
    EXPECT_EQ(world.call("DELETE", "/api/v1/nothing").status, 404);
}

TEST(HttpApi, what_is_kept_without_effect_is_said_to_alldata_too) {
    ApiWorld world;
    world.add_agent("n1");
    const auto answer = world.call("POST", "/api/v1/schedule",
                                   R"({"task_id": "t-1", "task_type": "batch", "command": ["true"],
                                       "resources": {"cpu": {"cores": 1}, "memory": {"size": "1Gi"}, "disk": {"io_weight": 100}}})");
    ASSERT_EQ(answer.status, 201) << answer.body;
    EXPECT_NE(answer.body.find("io_weight is kept"), std::string::npos) << answer.body;
    EXPECT_NE(world.call("GET", "/api/v1/tasks/t-1").body.find("io_weight is kept"), std::string::npos);
}

TEST(HttpApi, the_cluster_tells_who_asks_and_a_tenant_sees_totals) {
    ApiWorld world;
    world.add_agent("n1");
    std::string secret;
    for (const auto& [name, role, tenant] :
         {std::tuple{"boss", Role::admin, ""}, {"ann", Role::tenant, "research"}})
        world.scheduler->create_token({.name = name, .role = role, .tenant = tenant}, {},
                                      [&](Result<api::TokenView> made) { secret = made->secret; });
    world.run();
    const auto answer = world.call("GET", "/api/v1/cluster", {}, secret);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Json view = Json::parse(answer.body);
    EXPECT_EQ(view["you"], (Json{{"name", "ann"}, {"role", "tenant"}, {"tenant", "research"}}))
        << view["you"];
    EXPECT_EQ(view["resources"]["gpu"]["total"], 4);
    EXPECT_EQ(Json::parse(world.call("GET", "/alldata/v1/cluster", {}, secret).body)["data"]["you"]["name"],
              "ann");
    EXPECT_EQ(world.call("GET", "/api/v1/nodes", {}, secret).status, 403);
}

TEST(HttpApi, a_queue_takes_weights_where_its_policy_adds_terms_up) {
    ApiWorld world;
    const auto put = [&](const char* body) { return world.call("PUT", "/api/v1/queues/batch", body); };
    const auto good = put(R"({"name": "batch", "policy": "binpack", "weights": {"fit": 4, "w_gpu": 0}})");
    ASSERT_EQ(good.status, 200) << good.body;
    const Json weights = Json::parse(world.call("GET", "/api/v1/queues/batch").body)["spec"]["weights"];
    EXPECT_EQ(weights["fit"], 4);
    EXPECT_EQ(weights["w_gpu"], 0) << "none is not the same as not given";
    for (const auto& [body, field] :
         {std::pair{R"({"name": "batch", "policy": "price", "weights": {"fit": 4}})", "weights"},
          {R"({"name": "batch", "policy": "spread", "weights": {"fit": 101}})", "weights.fit"},
          {R"({"name": "batch", "policy": "spread", "weights": {"load": "much"}})", "weights.load"}}) {
        const auto answer = put(body);
        EXPECT_EQ(answer.status, 400) << answer.body;
        EXPECT_EQ(Json::parse(answer.body)["error"]["field"], field) << answer.body;
    }
}

TEST(HttpApi, who_asks_for_an_array_is_told_a_job_of_it) {
    ApiWorld world;
    world.add_agent("n1");
    const auto made = world.call(
        "POST", "/api/v1/jobs",
        R"({"type": "batch", "command": ["true"], "array": 2, "resources": {"cpu": {"cores": 1}}})");
    ASSERT_EQ(made.status, 201) << made.body;
    const std::string first = Json::parse(made.body)["job"]["id"], array = first.substr(0, first.rfind('.'));
    for (const std::string what : {"", "/why", "/events"}) {
        const auto answer = world.call("GET", "/api/v1/jobs/" + array + what);
        EXPECT_EQ(answer.status, 404) << what;
        EXPECT_NE(answer.body.find("such as " + first), std::string::npos) << answer.body;
    }
}

TEST(HttpApi, lists_are_filtered_sorted_and_paged_or_say_what_they_cannot) {
    ApiWorld world;
    for (const char* name : {"gpu-1", "gpu-2", "cpu-1", "gpu-3"}) world.add_agent(name);
    const auto names = [&](const std::string& target) {
        const Json page = Json::parse(world.call("GET", target).body);
        std::string out;
        for (const Json& item : page["items"]) out += item["name"].get<std::string>() + " ";
        return out;
    };
    EXPECT_EQ(names("/api/v1/nodes?name=gpu"), "gpu-1 gpu-2 gpu-3 ");
    EXPECT_EQ(names("/api/v1/nodes?name=gpu&sort=-name&limit=2"), "gpu-3 gpu-2 ");
    const Json page = Json::parse(world.call("GET", "/api/v1/nodes?name=gpu&sort=-name&limit=2").body);
    EXPECT_EQ(page["total"], 3);
    EXPECT_EQ(names("/api/v1/nodes?name=gpu&sort=-name&limit=2&cursor=" + page["next"].get<std::string>()),
              "gpu-1 ");
    EXPECT_EQ(names("/api/v1/nodes?name=none"), "");
    EXPECT_EQ(Json::parse(world.call("GET", "/api/v1/nodes?sort=cards").body)["error"]["field"], "sort");

    const Json queues = Json::parse(world.call("GET", "/api/v1/queues?limit=2").body);
    EXPECT_EQ(queues["items"].size(), 2u);
    EXPECT_EQ(queues["total"], 3);
    EXPECT_EQ(
        Json::parse(
            world.call("GET", "/api/v1/queues?cursor=" + queues["next"].get<std::string>()).body)["items"]
            .size(),
        1u);
    EXPECT_EQ(world.call("GET", "/api/v1/tenants?sort=-path").status, 200);
    EXPECT_EQ(world.call("GET", "/api/v1/tokens?sort=secret").status, 400);

    const std::string job = world.submit(gpu_job());
    EXPECT_EQ(world.call("GET", "/api/v1/jobs/" + job + "/metrics?metric=gpu-memory").status, 200);
    EXPECT_EQ(
        Json::parse(world.call("GET", "/api/v1/jobs/" + job + "/metrics?metric=heat").body)["error"]["field"],
        "metric");
}

TEST(HttpApi, labels_of_a_topology_are_for_people) {
    ApiWorld world;
    NodeInventory odd = test_inventory("n1");
    odd.numa[0].memory = Bytes(67'420'549'120);
    world.agents["n1"] = std::make_unique<FakeAgent>(world.time, odd);
    world.agents["n1"]->dial(*world.scheduler, *world.loop);
    world.run();
    const std::string body = world.call("GET", "/api/v1/nodes/n1/topology").body;
    EXPECT_NE(body.find("NUMA 0, 16 CPUs, 62.8 GiB"), std::string::npos) << body;
    EXPECT_NE(body.find("nvme0n1 931 GiB"), std::string::npos) << body;
}

TEST(HttpApi, the_console_is_where_its_relative_assets_are_found) {
    Config config;
    config.path_prefix = "/portal/crater";
    ApiWorld world(config);
    const auto location = [&](const std::string& path) {
        return ApiWorld::header(world.call("GET", path), "Location");
    };
    EXPECT_EQ(location("/portal/crater"), "crater/");
    EXPECT_EQ(location("/portal/crater/dashboard/"), "../dashboard");
    EXPECT_EQ(location("/dashboard/"), "../dashboard");
    EXPECT_EQ(world.call("GET", "/portal/crater").status, 308);
    for (const char* path : {"/", "/dashboard", "/portal/crater/", "/portal/crater/dashboard",
                             "/portal/crater/api/v1/cluster", "/api/v1/cluster"})
        EXPECT_EQ(world.call("GET", path).status, 200) << path;
    EXPECT_EQ(world.call("GET", "/portal/crater2/api/v1/cluster").status, 404);
    EXPECT_EQ(world.call("GET", "/portal/craterapi/v1/cluster").status, 404);
}

TEST(HttpApi, plans_answer_alter_nothing_and_name_what_is_wrong_with_the_question) {
    ApiWorld world;
    world.add_agent("n1");
    const std::string job = world.submit(gpu_job(2));
    const auto state =
        Json::parse(world.call("POST", "/api/v1/plans/drain", R"({"node": "n1"})").body)["state"];
    for (const auto& [plan, body] :
         {std::pair<std::string, std::string>{"preempt", R"({"job": ")" + job + R"("})"},
          {"defrag", "{}"},
          {"drain", R"({"node": "n1", "evict": true})"},
          {"node_loss", R"({"node": "n1"})"},
          {"quota", R"({"tenant": "default", "hard": {"gpu": 1}})"}}) {
        const auto answer = world.call("POST", "/api/v1/plans/" + plan, body);
        EXPECT_EQ(answer.status, 200) << plan << ": " << answer.body;
        EXPECT_EQ(Json::parse(answer.body)["state"], state) << plan;
    }
    EXPECT_EQ(world.state(job), State::running);
    for (const auto& [plan, body, field] : {std::tuple{"preempt", "{}", "job"},
                                            {"preempt", R"({"job": "nobody"})", "job"},
                                            {"drain", "{}", "node"},
                                            {"drain", R"({"node": "n2"})", "node"},
                                            {"node_loss", R"({"nod": "n1"})", "nod"},
                                            {"quota", "{}", "tenant"},
                                            {"defrag", R"({"max_moves": 0})", "max_moves"},
                                            {"defrag", R"({"job": "nobody"})", "job"}}) {
        const auto answer = world.call("POST", std::string("/api/v1/plans/") + plan, body);
        EXPECT_TRUE(answer.status == 400 || answer.status == 404)
            << plan << " " << body << ": " << answer.body;
        EXPECT_EQ(Json::parse(answer.body)["error"]["field"], field)
            << plan << " " << body << ": " << answer.body;
    }
    const auto why = world.call("GET", "/api/v1/jobs/" + job + "/why?nodes=perhaps");
    EXPECT_EQ(why.status, 400);
    EXPECT_EQ(Json::parse(why.body)["error"]["field"], "nodes");
}

}  // namespace
}  // namespace crater::scheduler
