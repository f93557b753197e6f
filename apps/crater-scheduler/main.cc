// crater-scheduler: one loop with the scheduler on it, the API in front, the store behind.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "crater/api/routes.h"
#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "crater/daemon/daemon.h"
#include "crater/plugin/registry.h"
#include "crater/scheduler/config.h"
#include "crater/scheduler/http_api.h"
#include "crater/scheduler/scheduler.h"
#include "crater/scheduler/stored_json.h"
#include "crater/store/look.h"
#include "crater/store/store.h"
#include "crater/wire/callback.h"
#include "crater/wire/http.h"
#include "crater/wire/metrics.h"

namespace crater {
namespace {

constexpr const char* name = "crater-scheduler";

struct Overrides {
    std::string listen, store, console_dir, admin_token_file, join_token_file;
    bool print_openapi = false;
    std::optional<std::string> print_store;  // keys that begin so
};

Result<scheduler::Config> load(const daemon::Options& options, const Overrides& overrides) {
    CRATER_TRY(text, daemon::config_text(options));
    CRATER_TRY(config, scheduler::read_config(text));
    if (!overrides.listen.empty()) config.listen = overrides.listen;
    if (!overrides.store.empty()) config.store.sqlite = overrides.store;
    if (!overrides.console_dir.empty()) config.console_dir = overrides.console_dir;
    return config;
}

// One line of JSON for each object. Works while a scheduler uses the store.
Result<int> print_store(const daemon::Options& options, const Overrides& overrides) {
    CRATER_TRY(config, load(options, overrides));
    const auto print = [](std::string_view key, std::string_view value) -> Result<void> {
        CRATER_TRY(json, scheduler::stored_json(key, value));
        std::string line = "{\"key\":";
        append_json_string(line, key);
        line += ",\"value\":";
        if (json.starts_with('{'))
            line += json;
        else
            append_json_string(line, json);
        std::cout << line << "}\n";
        return {};
    };
    CRATER_TRY_VOID(store::look_into_sqlite(config.store.sqlite, *overrides.print_store, print));
    return 0;
}

// "127.0.0.1:8080" -> address and port.
Result<wire::ServerOptions> server_options(const scheduler::Config& config) {
    wire::ServerOptions options;
    const auto colon = config.listen.rfind(':');
    if (colon == std::string::npos)
        return fail(Code::invalid, "\"" + config.listen + "\" is no address:port", "listen");
    options.address = config.listen.substr(0, colon);
    options.port = static_cast<std::uint16_t>(std::atoi(config.listen.c_str() + colon + 1));
    if (config.tls) options.tls = wire::TlsFiles{config.tls->certificate, config.tls->key};
    return options;
}

// Metrics and health on a port of their own, for a Prometheus that shall see nothing else. Without it they
// are still on the API's.
std::unique_ptr<wire::HttpServer> serve_metrics(const scheduler::Config& config,
                                                const wire::ServerOptions& api,
                                                wire::HttpServer::Handler handler) {
    const auto port = static_cast<std::uint16_t>(config.metrics.port);
    if (!config.metrics.enabled || port == api.port) return nullptr;
    wire::ServerOptions options;
    options.address = api.address;
    options.port = port;
    auto server = wire::HttpServer::listen(
        options, [handler = std::move(handler)](wire::HttpRequest request, wire::ResponderPtr responder) {
            for (const char* path : {"/metrics", "/healthz", "/health"})
                if (request.path == path) return handler(std::move(request), std::move(responder));
            responder->send(wire::error_response({Code::not_found, "there is nothing at " + request.path, "",
                                                  "this port serves /metrics and /healthz"}));
        });
    if (server) return std::move(*server);
    log::warning("metrics have no port of their own",
                 {{"port", config.metrics.port}, {"why", server.error().text()}});
    return nullptr;
}

// Their processes are started from the program beside this one.
plugin::Options plugin_options(const scheduler::Config& config) {
    plugin::Options options{.folder = config.plugin_dir, .host = {}, .budget = config.plugin_budget};
    options.host =
        std::filesystem::read_symlink("/proc/self/exe").replace_filename("crater-plugin-host").string();
    return options;
}

// The end of the process at a named point of a commit, for the tests that prove nothing acknowledged is lost.
store::CrashHook crash_hook() {
    const char* wanted = std::getenv("CRATER_CRASH_AT");
    if (!wanted) return {};
    std::string point = wanted;
    long left = 1;
    if (auto colon = point.find(':'); colon != std::string::npos) {
        left = std::atol(point.c_str() + colon + 1);
        point.resize(colon);
    }
    return [point, left](std::string_view reached) mutable {
        if (reached == point && --left <= 0) std::_Exit(99);
    };
}

// The tokens that shall exist, by role; `done` runs on the loop when all are durable, or with what is wrong.
Result<void> ensure_tokens(scheduler::Scheduler& service, const Overrides& overrides,
                           std::function<void(Result<void>)> done) {
    std::vector<std::tuple<std::string, Role, std::string>> wanted;
    for (const auto& [label, role, file] : {std::tuple{"admin", Role::admin, overrides.admin_token_file},
                                            {"agent-join", Role::agent_join, overrides.join_token_file}}) {
        if (file.empty()) continue;
        CRATER_TRY(secret, daemon::read_secret(file));
        wanted.emplace_back(label, role, secret);
    }
    auto left = std::make_shared<std::size_t>(wanted.size() + 1);
    const auto one_done = [left, done = std::move(done)](Result<void> made) {
        if (!made) return done(std::move(made));
        if (--*left == 0) done({});
    };
    for (const auto& [label, role, secret] : wanted)
        service.ensure_token(label, role, secret, [one_done](Result<api::TokenView> made) {
            if (!made) return one_done(fail(made.error()));
            one_done({});
        });
    one_done({});
    return {};
}

Result<int> serve(const daemon::Options& options, const Overrides& overrides) {
    CRATER_TRY(config, load(options, overrides));
    CRATER_TRY(api_options, server_options(config));
    if (options.check) {
        std::cout << options.config << ": ok\n";
        return 0;
    }

    ThreadLoop loop;
    int status = 0;
    if (!options.level_given) daemon::use_log_level(config.log_level);
    scheduler::Scheduler* running = nullptr;
    daemon::Signals signals(
        loop, [&] { loop.stop(); },
        [&] {
            auto changed = load(options, overrides);
            if (!changed)
                return log::error("the configuration is not taken over", {{"why", changed.error().text()}});
            daemon::use_log_level(changed->log_level);
            if (!running) return;
            const auto reloaded = running->reload(std::move(*changed));
            daemon::report_reload(reloaded.applied, reloaded.at_restart);
        });
    const auto clock = system_clock();
    const auto rng = system_rng();
    const auto metrics = wire::make_metrics();
    CRATER_TRY(store, store::open_sqlite({.path = config.store.sqlite, .crash_at = crash_hook()}, loop));
    const auto callbacks = wire::make_callback_sender(loop);
    plugin::Registry plugins(plugin_options(config), *clock, metrics.get());
    plugins.settle(Millis(2'000));  // so that the first decisions have them

    const scheduler::Env env{
        .clock = *clock,
        .loop = loop,
        .rng = *rng,
        .store = *store,
        .callbacks = callbacks.get(),
        .metrics = metrics.get(),
        .plugins = &plugins,
        .on_fatal = [&](const Error& error) {
            log::error("cannot go on: what was decided cannot be made durable", {{"why", error.text()}});
            status = 1;
            loop.stop();
        }};
    CRATER_TRY(service, scheduler::Scheduler::start(config, env));
    running = service.get();
    const bool has_tokens = !overrides.admin_token_file.empty() || !service->read().tokens().empty();
    CRATER_TRY_VOID(scheduler::check_listen(config, has_tokens));

    scheduler::HttpApi api(config, *service, loop, *clock, *metrics);
    std::unique_ptr<wire::HttpServer> server, metrics_server;
    Result<void> opened;
    // The door opens once the tokens are durable: whoever finds it open may enter.
    CRATER_TRY_VOID(ensure_tokens(*service, overrides, [&](Result<void> made) {
        auto listening =
            made ? wire::HttpServer::listen(api_options, api.handler(), api.upgrade()) : fail(made.error());
        if (!listening) {
            opened = fail(listening.error());
            return loop.stop();
        }
        server = std::move(*listening);
        metrics_server = serve_metrics(config, api_options, api.handler());
        log::info("listening", {{"address", api_options.address}, {"port", server->port()}});
    }));

    loop.run();

    CRATER_TRY_VOID(std::move(opened));
    log::info("stopping");
    service->stop();
    api.close_streams();
    if (metrics_server) metrics_server->stop(Millis(2'000));
    if (server) server->stop(Millis(2'000));
    return status;
}

}  // namespace
}  // namespace crater

int main(int argc, char** argv) {
    using namespace crater;
    Overrides overrides;
    const auto options = daemon::parse(
        argc, argv, name, "Crater's scheduler: decides, remembers, serves the API and the console.",
        [&](CLI::App& app) {
            app.add_option("--listen", overrides.listen,
                           "Address and port of the API, instead of the configuration's");
            app.add_option("--store", overrides.store,
                           "Path of the embedded store, instead of the configuration's");
            app.add_option("--console-dir", overrides.console_dir, "Folder of the built console");
            app.add_option("--admin-token-file", overrides.admin_token_file,
                           "A token of the role admin that shall exist");
            app.add_option("--join-token-file", overrides.join_token_file,
                           "A token of the role agent-join that shall exist");
            app.add_flag("--print-openapi", overrides.print_openapi, "Print openapi.json and end");
            app.add_option("--print-store", overrides.print_store,
                           "Print the stored objects whose keys begin so, such as job/, as JSON, and end");
        });
    if (overrides.print_openapi) {
        std::cout << api::openapi_document() << "\n";
        return 0;
    }
    auto status = overrides.print_store ? print_store(options, overrides) : serve(options, overrides);
    return status ? *status : daemon::report(name, status.error());
}
