#include "context.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "crater/codec/codec.h"
#include "crater/daemon/daemon.h"

namespace crater::cli {
namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}
std::string home_folder(const char* variable, const char* below_home) {
    if (auto folder = environment(variable); !folder.empty()) return folder;
    return environment("HOME") + below_home;
}

}  // namespace

std::string config_path() { return home_folder("XDG_CONFIG_HOME", "/.config") + "/crater/config.yaml"; }
std::string data_path() {
    return ::geteuid() == 0 ? "/var/lib/crater" : home_folder("XDG_STATE_HOME", "/.local/state") + "/crater";
}

Result<ClientConfig> load_client_config() {
    auto text = daemon::read_file(config_path());
    if (!text) {
        if (text.error().code == Code::not_found) return ClientConfig{};
        return fail(std::move(text.error()));
    }
    auto config = codec::read_yaml<ClientConfig>(*text);
    if (!config) config.error().message = config_path() + ": " + config.error().message;
    return config;
}

Result<void> save_client_config(const ClientConfig& config) {
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(config_path()).parent_path(), ignored);
    return daemon::write_file(config_path(), codec::to_yaml(codec::to_json(config, {.reveal = true})), 0600);
}

Result<void> Context::resolve() {
    CRATER_TRY(config, load_client_config());
    if (server.empty()) server = environment("CRATER_SERVER");
    if (server.empty()) server = config.server;
    if (token.empty()) token = environment("CRATER_TOKEN");
    if (token.empty()) token = config.token;
    // Beside a `crater up` on this machine nothing needs to be configured.
    if (token.empty())
        if (auto local = daemon::read_secret(data_path() + "/admin.token")) token = *local;
    if (server.empty())
        if (auto local = daemon::read_secret(data_path() + "/url")) server = *local;
    if (server.empty()) server = "http://127.0.0.1:8080";
    while (server.ends_with("/")) server.pop_back();
    return {};
}

Result<wire::ClientRequest> Client::request(const std::string& method, const std::string& path) {
    CRATER_TRY_VOID(context_.resolve());
    wire::ClientRequest request{.method = method, .url = context_.server + path, .headers = {}, .body = {}};
    if (!context_.token.empty()) request.headers.emplace_back("Authorization", "Bearer " + context_.token);
    return request;
}

Result<Json> Client::get(const std::string& path) { return call("GET", path, {}); }

Result<Json> Client::call(const std::string& method, const std::string& path, const std::string& body) {
    CRATER_TRY(request, this->request(method, path));
    request.body = body;
    if (!body.empty()) request.headers.emplace_back("Content-Type", "application/json");
    auto response = http_.send(request);
    if (!response) {
        Error error = std::move(response.error());
        if (error.hint.empty())
            error.hint =
                "is it running? crater up starts one here; crater config set --server URL points elsewhere";
        return fail(std::move(error));
    }
    if (response->status >= 400) return fail(wire::error_of(*response));
    Json tree = Json::parse(response->body, nullptr, false);
    if (tree.is_discarded())
        return fail(Code::internal, context_.server + " did not answer with JSON", "",
                    "is that a Crater scheduler?");
    return tree;
}

Result<void> Client::stream(const std::string& path, const std::function<bool(std::string_view)>& on_data) {
    CRATER_TRY(request, this->request("GET", path));
    request.timeout = Millis(24ll * 3600 * 1000);
    auto response = http_.stream(request, on_data);
    if (!response) return fail(std::move(response.error()));
    if (response->status >= 400) return fail(wire::error_of(*response));
    return {};
}

std::string encoded(std::string_view text) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string out;
    for (unsigned char c : text) {
        if (std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~')
            out += static_cast<char>(c);
        else
            (out += '%') += digits[c >> 4], out += digits[c & 15];
    }
    return out;
}

std::string with_query(std::string path, const std::vector<std::pair<std::string, std::string>>& query) {
    char separator = '?';
    for (const auto& [key, value] : query) {
        if (value.empty()) continue;
        path += separator + key + "=" + encoded(value);
        separator = '&';
    }
    return path;
}

int exit_status_of(const Error& error) {
    if (error.code == Code::unavailable || error.code == Code::timeout) return 5;
    return code_row(error.code).exit_status;
}

void print_error(const Context& context, const Error& error) {
    if (context.output == Output::json || context.output == Output::yaml) {
        Json body = {{"code", code_row(error.code).name}, {"message", error.message}};
        if (!error.field.empty()) body["field"] = error.field;
        if (!error.hint.empty()) body["hint"] = error.hint;
        std::cerr << Json{{"error", body}}.dump() << "\n";
        return;
    }
    std::cerr << "crater: " << (error.field.empty() ? "" : error.field + ": ") << error.message << "\n";
    if (!error.hint.empty()) std::cerr << "        " << error.hint << "\n";
}

}  // namespace crater::cli
