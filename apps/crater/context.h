// What every command shares: how to reach the server, how to print, how to end.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "crater/base/error.h"
#include "crater/wire/http.h"

namespace crater::cli {

using Json = nlohmann::json;

enum class Output { table, wide, json, yaml };

struct Context {
    Output output = Output::table;
    // from flags; else environment, the configuration file, the data folder of `crater up`
    std::string server, token;
    int exit_status = 0;   // set by a command that did its work but has bad news (a job that failed)
    bool colours = false;  // stdout is a terminal

    // Resolves server and token once.
    Result<void> resolve();
};

// Calls of the REST API. Errors of the server keep its code, message, field and hint.
class Client {
  public:
    explicit Client(Context& context) : context_(context) {}
    Result<Json> get(const std::string& path);
    Result<Json> call(const std::string& method, const std::string& path, const std::string& body);
    // Passes a long answer on as it comes; until `on_data` returns false.
    Result<void> stream(const std::string& path, const std::function<bool(std::string_view)>& on_data);

  private:
    Result<wire::ClientRequest> request(const std::string& method, const std::string& path);
    Context& context_;
    wire::HttpClient http_;
};

std::string encoded(std::string_view text);  // for a path segment or a query value
// "/api/v1/jobs" + {"queue":"x"} -> "/api/v1/jobs?queue=x"; empty values are left out.
std::string with_query(std::string path, const std::vector<std::pair<std::string, std::string>>& query);

// 10.3: 4 refused by the server, 5 unreachable, 2 usage, 1 anything else.
int exit_status_of(const Error& error);
void print_error(const Context& context, const Error& error);

std::string config_path();  // $XDG_CONFIG_HOME/crater/config.yaml
std::string data_path();    // $XDG_STATE_HOME/crater, as root /var/lib/crater
struct ClientConfig {
    std::string server, token;
};
template <class V>
void describe(V& v, ClientConfig& c) {
    v.field("server", c.server, "URL of the scheduler.");
    v.field("token", c.token, "Bearer token.", {.secret = true});
}
Result<ClientConfig> load_client_config();
Result<void> save_client_config(const ClientConfig& config);

}  // namespace crater::cli
