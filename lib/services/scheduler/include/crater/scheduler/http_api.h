// Binds the route table (api/routes.h) to a Scheduler: authentication, roles, tenant scope, decoding,
// answers, server-sent events, logs, the agents' WebSocket, the console's files. Called on the server's IO
// threads; commands are posted to the scheduler's loop.
#pragma once

#include <memory>

#include "crater/scheduler/scheduler.h"
#include "crater/wire/http.h"
#include "crater/wire/metrics.h"

namespace crater::scheduler {

class HttpApi {
  public:
    HttpApi(Config config, Scheduler& scheduler, Loop& loop, const Clock& clock,
            wire::MetricRegistry& metrics);
    ~HttpApi();
    wire::HttpServer::Handler handler();
    wire::HttpServer::Upgrade upgrade();
    // Ends every open stream; call before the server stops.
    void close_streams();
    // Operations of the route table that nothing serves; empty. For the test that says so.
    static std::string unserved_routes();
    class Impl;

  private:
    std::shared_ptr<Impl> impl_;
};

// Whether this configuration may listen on this address: without tokens and TLS only loopback. SPEC 10.4.
Result<void> check_listen(const Config& config, bool has_tokens);

}  // namespace crater::scheduler
