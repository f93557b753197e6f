// HTTP/1.1 server and client (Boost.Beast), server-sent events and WebSockets on the same port. No Boost in
// this header.
//
// Server: one or more IO threads of its own. Handlers run on an IO thread and must not block; they answer
// through the Responder at any time, from any thread, exactly once (a Responder destroyed without an answer
// sends 500, and so does a handler that throws). Requests on one connection are handled one after the other,
// so that pipelined ones are answered in order. Limits answer for themselves: 413 body, 431 headers, 408 slow
// request, 503 too many connections (with Retry-After), 400 for what is not HTTP. To HEAD the handler answers
// as to GET; the body stays here and its length is told.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crater/base/error.h"
#include "crater/base/quantity.h"

namespace crater::wire {

struct HttpRequest {
    std::string method;    // GET, POST, ...
    std::string path;      // decoded, without query
    std::string raw_path;  // as received; tells the router a %2F from a slash
    // decoded; a key given twice is refused with 400 before the handler
    std::map<std::string, std::string> query;
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
    std::string remote;  // "127.0.0.1:41234"
    bool loopback = false;
};

struct HttpResponse {
    int status = 200;
    std::string body = {};
    std::string content_type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers = {};
};

// An open answer: server-sent events or a followed log. Thread-safe. Writes are queued up to
// `stream_queue_bytes_max`; a reader slower than that is closed. `on_closed` runs once, on an IO thread,
// whoever closed. Dropping the last pointer closes.
class HttpStream {
  public:
    virtual ~HttpStream() = default;
    virtual bool write(std::string chunk) = 0;  // false when closed
    virtual void close() = 0;
    virtual void on_closed(std::function<void()> callback) = 0;
};

class Responder {
  public:
    virtual ~Responder() = default;
    virtual void send(HttpResponse response) = 0;
    // Runs `work` on the IO thread of this request, soon: for making an answer that would keep the calling
    // thread from something better.
    virtual void on_io_thread(std::function<void()> work) = 0;
    // Sends the head of a chunked answer and keeps it open.
    virtual std::shared_ptr<HttpStream> stream(HttpResponse head) = 0;
};
using ResponderPtr = std::shared_ptr<Responder>;

// One connected WebSocket, binary messages. All calls are thread-safe. `send` is queued (bounded: a peer that
// does not read is closed; ignored once closed); `close` sends what is queued first. The callbacks given to
// `start` run one at a time on an IO thread; `on_closed` is the last, whoever closed, and then both are
// released. A peer that answers no ping for `idle_timeout` is closed. The socket stays open whether or not
// anyone holds the pointer.
class WebSocket {
  public:
    virtual ~WebSocket() = default;
    virtual void start(std::function<void(std::string)> on_message, std::function<void()> on_closed) = 0;
    virtual void send(std::string message) = 0;
    virtual void close() = 0;
    virtual std::string remote() const = 0;
};
using WebSocketPtr = std::shared_ptr<WebSocket>;

struct TlsFiles {
    std::string certificate, key;  // PEM
};

struct WebSocketLimits {
    std::size_t message_bytes_max = 4u << 20;  // a larger message closes the socket with 1009
    std::size_t queue_bytes_max = 16u << 20;   // waiting to be sent
    Millis idle_timeout{30'000};               // pings go out after half of it
};

struct ServerOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  // 0 = chosen by the system
    int threads = 1;
    std::size_t body_bytes_max = 4u << 20;
    std::size_t header_bytes_max = 32u << 10;
    int connections_max = 4096;
    // from the first byte to the whole request; also for a client to take a piece of an answer
    Millis request_timeout{30'000};
    Millis idle_timeout{120'000};  // between requests
    std::size_t stream_queue_bytes_max = 1u << 20;
    WebSocketLimits websocket = {};
    std::optional<TlsFiles> tls = {};
};

class HttpServer {
  public:
    using Handler = std::function<void(HttpRequest, ResponderPtr)>;
    // Decides on an upgrade request: an error is answered as HTTP.
    using Upgrade = std::function<Result<std::function<void(WebSocketPtr)>>(const HttpRequest&)>;

    // Binds; Code::unavailable with the address and what holds it when the port is taken.
    static Result<std::unique_ptr<HttpServer>> listen(ServerOptions options, Handler handler,
                                                      Upgrade upgrade = {});
    virtual ~HttpServer() = default;  // stops
    virtual std::uint16_t port() const = 0;
    // Takes no new connection, lets requests that run be answered for at most `grace`, then closes. Streams
    // and WebSockets, which have no end of their own, are ended at once. Not from a callback of this server.
    virtual void stop(Millis grace) = 0;
};

struct Url {
    std::string scheme, host, target;  // target: path and query
    std::uint16_t port = 0;
};
Result<Url> parse_url(std::string_view text);

struct ClientRequest {
    std::string method = "GET";
    std::string url = {};
    std::vector<std::pair<std::string, std::string>> headers = {};
    std::string body = {};
    Millis timeout{30'000};
};

// For https and wss the peer's certificate must be valid for its name: by `ca_file` (PEM), else by the file
// that the environment names in CRATER_CA_FILE, else by the system's authorities.
struct ClientOptions {
    std::string ca_file = {};
    std::size_t answer_bytes_max = 256u << 20;  // of `send`
    WebSocketLimits websocket = {};
};

// Blocking client, keeps one connection alive per (scheme, host, port). One thread at a time.
// Code::unavailable when the peer cannot be reached, Code::timeout when the deadline passed; an HTTP status
// of any kind is an answer. Redirects are not followed. A kept connection that turns out dead is replaced; a
// request that may have been received is repeated only when that is harmless (GET, PUT, DELETE, or with an
// Idempotency-Key).
class HttpClient {
  public:
    explicit HttpClient(ClientOptions options = {});
    ~HttpClient();
    Result<HttpResponse> send(const ClientRequest& request);
    // Calls `on_data` with each piece of a long answer until it returns false, the server ends it or nothing
    // came for request.timeout.
    Result<HttpResponse> stream(const ClientRequest& request,
                                const std::function<bool(std::string_view)>& on_data);
    // From any thread: the call that runs and all later ones answer Code::cancelled.
    void cancel();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// Dials a WebSocket from a background IO thread; callbacks run there. On failure `on_failed` runs once
// instead of `on_open`, with the peer's own error when it answered the upgrade with one. Destroying the
// dialer (not from a callback) closes its sockets and waits.
class WebSocketDialer {
  public:
    explicit WebSocketDialer(ClientOptions options = {});
    ~WebSocketDialer();
    void dial(const std::string& url, std::vector<std::pair<std::string, std::string>> headers,
              Millis timeout, std::function<void(WebSocketPtr)> on_open,
              std::function<void(Error)> on_failed);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// {error:{code,message,field,hint}} with the table's status; Retry-After with 429 and 503.
HttpResponse error_response(const Error& error);
HttpResponse json_response(std::string body, int status = 200);
// The Error in a server's answer, whatever shape it came in.
Error error_of(const HttpResponse& response);

}  // namespace crater::wire
