// What the connections of one server share.
#pragma once

#include <atomic>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <optional>

#include "crater/wire/http.h"
#include "net/io.h"
#include "net/session.h"

namespace crater::wire {

struct ServerCore {
    ServerOptions options;
    HttpServer::Handler handler;
    HttpServer::Upgrade upgrade;
    std::optional<asio::ssl::context> tls;
    std::shared_ptr<Sessions> sessions = std::make_shared<Sessions>();
    std::atomic<bool> stopping = false;
};

// Serves an accepted socket until it is closed. `refuse`: there are too many; answer 503 to the first
// request.
void serve(std::shared_ptr<ServerCore> core, std::shared_ptr<IoThread> io, Socket socket, bool refuse);

}  // namespace crater::wire
