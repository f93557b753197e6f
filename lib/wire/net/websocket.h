// WebSockets over a Stream, either side. No Beast here.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crater/wire/http.h"
#include "net/io.h"
#include "net/session.h"
#include "net/stream.h"

namespace crater::wire {

struct WebSocketPlace {
    std::shared_ptr<IoThread> io;
    std::shared_ptr<Sessions> sessions;
    WebSocketLimits limits;
    std::string remote;
};

// Answers an upgrade request; `on_open` runs on the IO thread, never when that fails.
void accept_websocket(WebSocketPlace place, Stream stream, const HttpRequest& request,
                      std::function<void(WebSocketPtr)> on_open);

// Asks for an upgrade. `done` runs on the IO thread.
struct UpgradeAsk {
    std::string host, target;
    std::vector<std::pair<std::string, std::string>> headers;
};
// The result can be aborted until `done` ran.
std::shared_ptr<Session> ask_websocket(WebSocketPlace place, Stream stream, UpgradeAsk ask,
                                       std::function<void(Result<WebSocketPtr>)> done);

}  // namespace crater::wire
