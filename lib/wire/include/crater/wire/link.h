// A message-oriented connection between two services, so that they can be driven over a WebSocket or over the
// simulator's network. Messages arrive whole and in order, or the link closes. All calls and callbacks are on
// the owner's loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "crater/base/clock.h"
#include "crater/base/error.h"
#include "crater/wire/http.h"

namespace crater::wire {

// What agents and schedulers speak over links: another name with each change of the framing or of the
// messages that an older one would misread.
inline constexpr std::string_view agent_protocol = "crater-agent-2";

// Dropping the last pointer closes it.
class Link {
  public:
    virtual ~Link() = default;
    virtual void send(std::string message) = 0;  // ignored once closed
    virtual void close() = 0;                    // on_closed of the peer runs; ours does not
    virtual std::string peer() const = 0;
};

struct LinkCallbacks {
    std::function<void(std::string)> on_message;
    std::function<void(std::string why)> on_closed;
};

// The dialling side: one attempt. `done` gets the open link or why there is none. The callbacks may run as
// soon as `done` returned.
class Connector {
  public:
    virtual ~Connector() = default;
    virtual void connect(LinkCallbacks callbacks,
                         std::function<void(Result<std::shared_ptr<Link>>)> done) = 0;
};

// Over WebSockets, posted to `loop`: what is sent within one turn of it travels as one WebSocket message, so
// both ends must be links.
// `endpoints` (http, https, ws or wss URLs) are tried in turn, one per attempt; one without a path of
// its own gets `path`. `token` goes into Authorization. Destroying the connector closes its links; nothing
// more is called then.
std::unique_ptr<Connector> websocket_connector(Loop& loop, std::vector<std::string> endpoints,
                                               std::string token, Millis timeout,
                                               std::string path = "/api/v1/agent",
                                               ClientOptions options = {});
// The accepting side: wraps an accepted WebSocket; callbacks are posted to `loop`.
std::shared_ptr<Link> websocket_link(Loop& loop, WebSocketPtr socket, LinkCallbacks callbacks);

}  // namespace crater::wire
