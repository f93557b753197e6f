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
    std::shared_ptr<wire::HttpStream> stream(wire::HttpResponse head) override {
        answer_ = std::move(head);
        return nullptr;
    }

  private:
    std::optional<wire::HttpResponse>& answer_;
};

struct ApiWorld : TestWorld {
    explicit ApiWorld(Config wanted = {}) : TestWorld(std::move(wanted)), metrics(wire::make_metrics()), api(config, *scheduler, *loop, time, *metrics) {}

    wire::HttpResponse call(const std::string& method, const std::string& target, const std::string& body = {}, const std::string& token = {}) {
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

}  // namespace
}  // namespace crater::scheduler
