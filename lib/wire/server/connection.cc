#include "server/connection.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/write.hpp>

#include "crater/base/log.h"
#include "net/websocket.h"

namespace crater::wire {
namespace {

constexpr std::size_t read_bytes = 4096;  // of a small request
constexpr std::size_t read_bytes_body = 64 << 10;
constexpr std::size_t read_ahead_max = 64 << 10;  // while an open answer is written
constexpr Millis drain_time{5000};

std::string endpoint_text(const Tcp::endpoint& endpoint) {
    const std::string address = endpoint.address().to_string();
    const std::string port = ":" + std::to_string(endpoint.port());
    return endpoint.address().is_v6() ? "[" + address + "]" + port : address + port;
}

bool is_loopback(const asio::ip::address& address) {
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
    return address.is_loopback();
}

// Carries the one answer to its connection.
class Answerer final : public Responder {
  public:
    Answerer(std::shared_ptr<Connection> connection, std::uint64_t request)
        : connection_(std::move(connection)), request_(request) {}
    ~Answerer() override {
        if (answered_ || connection_->is_closed()) return;
        log::error("a request was dropped without an answer");
        connection_->answer(request_,
                            error_response(Error{Code::internal, "the request was not answered", {}, {}}));
    }
    void send(HttpResponse response) override {
        CRATER_CHECK(!answered_.exchange(true), "a request is answered once");
        connection_->answer(request_, std::move(response));
    }
    void on_io_thread(std::function<void()> work) override { connection_->run_here(std::move(work)); }
    std::shared_ptr<HttpStream> stream(HttpResponse head) override {
        CRATER_CHECK(!answered_.exchange(true), "a request is answered once");
        return connection_->open_answer(request_, std::move(head));
    }

  private:
    const std::shared_ptr<Connection> connection_;
    const std::uint64_t request_;
    std::atomic<bool> answered_ = false;
};

}  // namespace

void serve(std::shared_ptr<ServerCore> core, std::shared_ptr<IoThread> io, Socket socket, bool refuse) {
    auto connection = std::make_shared<Connection>(std::move(core), io, std::move(socket), refuse);
    asio::dispatch(io->executor(), [connection] { connection->start(); });
}

Connection::Connection(std::shared_ptr<ServerCore> core, std::shared_ptr<IoThread> io, Socket socket,
                       bool refuse)
    : io_(std::move(io)),
      core_(std::move(core)),
      stream_(core_->tls ? Stream(std::move(socket), *core_->tls) : Stream(std::move(socket))),
      timer_(io_->executor()),
      refuse_(refuse),
      parser_(core_->options.header_bytes_max, core_->options.body_bytes_max) {
    ErrorCode ignored;
    stream_.socket().set_option(Tcp::no_delay(true), ignored);
    stream_.socket().set_option(asio::socket_base::keep_alive(true), ignored);
    if (const auto endpoint = stream_.socket().remote_endpoint(ignored); !ignored) {
        remote_ = endpoint_text(endpoint);
        loopback_ = is_loopback(endpoint.address());
    }
}

void Connection::start() {
    core_->sessions->add(shared_from_this());
    if (core_->stopping) return close();  // whoever stops may have counted the sessions already
    watch_time();
    if (stream_.is_tls())
        shake_hands();
    else
        next_request();
}

void Connection::shake_hands() {
    phase_ = Phase::handshake;
    expire_after(core_->options.request_timeout);
    stream_.async_handshake(asio::ssl::stream_base::server, [self = shared_from_this()](ErrorCode ec) {
        if (self->phase_ == Phase::closed) return;
        if (ec) return self->close();
        self->next_request();
    });
}

void Connection::finish() {
    post([this] {
        keep_alive_ = false;
        if (phase_ == Phase::idle || phase_ == Phase::handshake) return close();
        if (phase_ == Phase::open) open_->close();
    });
}

void Connection::abort() {
    post([this] { close(); });
}

// ---- reading

void Connection::next_request() {
    phase_ = Phase::idle;
    expire_after(core_->options.idle_timeout);
    parser_.reset();
    if (!read_pending_) in_.shrink(read_bytes);
    use_input();
}

void Connection::use_input() {
    while (phase_ == Phase::idle || phase_ == Phase::reading) {
        if (phase_ == Phase::idle) {  // empty lines before a request are allowed
            while (!in_.empty() && (in_.view().front() == '\r' || in_.view().front() == '\n')) in_.consume(1);
        }
        if (in_.empty()) return read();
        if (phase_ == Phase::idle) {
            phase_ = Phase::reading;
            expire_after(core_->options.request_timeout);
        }
        std::size_t used = 0;
        const Step step = parser_.feed(in_.view(), used);
        in_.consume(used);
        switch (step) {
            case Step::more: return read();
            case Step::head:
                if (parser_.expects_continue() && in_.empty()) return send_continue();
                break;
            case Step::done: return handle();
            case Step::failed: return refuse(parser_.refusal());
        }
    }
}

void Connection::read() {
    if (std::exchange(read_pending_, true)) return;
    const std::size_t room = in_.size() > 0 || phase_ == Phase::reading || phase_ == Phase::draining
                                 ? read_bytes_body
                                 : read_bytes;
    stream_.async_read_some(
        asio::buffer(in_.prepare(room), room),
        [self = shared_from_this()](ErrorCode ec, std::size_t n) { self->on_read(ec, n); });
}

void Connection::on_read(ErrorCode ec, std::size_t n) {
    read_pending_ = false;
    in_.commit(n);
    if (phase_ == Phase::closed) return;
    if (ec) {
        // While an answer of known length is written the peer may have closed its side only.
        if (phase_ != Phase::writing && phase_ != Phase::handling) close();
        return;
    }
    if (phase_ == Phase::draining) {
        in_.consume(in_.size());
        read();
    } else if (phase_ == Phase::open) {
        if (in_.size() < read_ahead_max) read();
    } else {
        use_input();
    }
}

// The peer waits for this before it sends the body. Nothing else is being written.
void Connection::send_continue() {
    static constexpr std::string_view text = "HTTP/1.1 100 Continue\r\n\r\n";
    write_pending_ = true;
    asio::async_write(stream_, asio::buffer(text), [self = shared_from_this()](ErrorCode ec, std::size_t) {
        self->write_pending_ = false;
        if (self->phase_ == Phase::closed) return;
        if (ec) return self->close();
        if (self->phase_ == Phase::writing) return self->write_piece();  // it came too late meanwhile
        self->use_input();
    });
}

void Connection::handle() {
    expire_never();
    phase_ = Phase::handling;
    keep_alive_ = keep_alive_ && parser_.keep_alive() && !refuse_;
    const std::uint64_t number = ++request_;
    auto request = parser_.take();
    head_only_ = request && request->method == "HEAD";
    chunked_ = !parser_.http10();
    if (!request) return respond(error_response(request.error()));
    if (refuse_)
        return respond(error_response(
            Error{Code::unavailable, "the server has too many connections", {}, "try again later"}));
    request->remote = remote_;
    request->loopback = loopback_;
    if (parser_.wants_websocket()) return upgrade(std::move(*request));
    const auto answerer = std::make_shared<Answerer>(shared_from_this(), number);
    try {
        core_->handler(std::move(*request), answerer);
    } catch (const std::exception& e) {
        log::error("a request's handler failed", {{"error", e.what()}});
    }
}

void Connection::upgrade(HttpRequest request) {
    if (!core_->upgrade)
        return respond(error_response(Error{Code::not_found, "there is no WebSocket here", {}, {}}));
    auto accepted = core_->upgrade(request);
    if (!accepted) return respond(error_response(accepted.error()));
    if (read_pending_ || !in_.empty())
        return refuse(error_response(
            Error{Code::invalid, "a WebSocket client waits for the answer to its upgrade", {}, {}}));
    phase_ = Phase::closed;
    closed_ = true;
    timer_.cancel();
    accept_websocket({io_, core_->sessions, core_->options.websocket, remote_}, std::move(stream_), request,
                     [core = core_, on_open = std::move(*accepted)](const WebSocketPtr& socket) {
                         on_open(socket);
                         if (core->stopping) socket->close();
                     });
    core_->sessions->remove(this);
}

// Answers what is no whole request and closes.
void Connection::refuse(HttpResponse response) {
    keep_alive_ = false;
    head_only_ = false;
    unread_ = true;
    phase_ = Phase::handling;
    respond(std::move(response));
}

// ---- closing

void Connection::close_politely() {
    phase_ = Phase::draining;
    expire_after(drain_time);
    if (stream_.is_tls() && !unread_) {
        stream_.async_shutdown([self = shared_from_this()](ErrorCode) {
            if (self->phase_ != Phase::closed) self->close();
        });
        return;
    }
    ErrorCode ec;
    if (!stream_.is_tls()) stream_.socket().shutdown(Socket::shutdown_send, ec);
    if (ec || core_->stopping) return close();
    in_.consume(in_.size());
    read();
}

void Connection::close() {
    if (std::exchange(phase_, Phase::closed) == Phase::closed) return;
    closed_ = true;
    timer_.cancel();
    stream_.close();
    const auto self = shared_from_this();  // the registry or the callback may hold the last pointer
    if (const auto open = std::exchange(open_, nullptr)) open->closed();
    core_->sessions->remove(this);
}

// One timer looks at the deadline now and then, so that moving the deadline costs nothing.
void Connection::watch_time() {
    const Millis shorter = std::min(core_->options.request_timeout, core_->options.idle_timeout);
    timer_.expires_after(std::clamp(shorter / 4, Millis(5), Millis(5000)));
    timer_.async_wait([weak = weak_from_this()](ErrorCode ec) {
        const auto self = weak.lock();
        if (ec || !self || self->phase_ == Phase::closed) return;
        if (std::chrono::steady_clock::now() >= self->deadline_) self->on_deadline();
        if (self->phase_ != Phase::closed) self->watch_time();
    });
}

void Connection::on_deadline() {
    if (phase_ != Phase::reading) return close();
    HttpResponse late = error_response(Error{Code::timeout, "the request did not arrive in time", {}, {}});
    late.status = 408;
    refuse(std::move(late));
}

}  // namespace crater::wire
