#include "net/websocket.h"

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>
#include <mutex>

namespace crater::wire {

namespace beast = boost::beast;
namespace ws = beast::websocket;
namespace http = beast::http;

// How Beast ends a Stream of ours (found by argument).
template <class Handler>
void async_teardown(beast::role_type role, Stream& stream, Handler&& handler) {
    // TLS is cut without its farewell: the WebSocket close frames have been exchanged.
    ws::async_teardown(role, stream.socket(), std::forward<Handler>(handler));
}
inline void beast_close_socket(Stream& stream) { stream.close(); }

namespace {

class WebSocketSession final : public WebSocket,
                               public Session,
                               public std::enable_shared_from_this<WebSocketSession> {
  public:
    WebSocketSession(WebSocketPlace place, Stream stream) : place_(std::move(place)), ws_(std::move(stream)) {
        ws_.read_message_max(place_.limits.message_bytes_max);
        ws_.binary(true);
        ws_.auto_fragment(false);
        ws::stream_base::timeout timeout{};
        timeout.handshake_timeout = std::chrono::seconds(10);
        timeout.idle_timeout = place_.limits.idle_timeout;
        timeout.keep_alive_pings = true;
        ws_.set_option(timeout);
    }

    // ---- opening, on the IO thread

    void accept(const HttpRequest& request, std::function<void(WebSocketPtr)> on_open) {
        place_.sessions->add(shared_from_this());
        http::request<http::empty_body> head(http::verb::get, request.raw_path, 11);
        for (const auto& [name, value] : request.headers) head.set(name, value);
        ws_.async_accept(head,
                         [self = shared_from_this(), on_open = std::move(on_open)](beast::error_code ec) {
                             if (ec || self->closed_) return self->closed();
                             self->opened_ = true;
                             on_open(self);
                         });
    }

    void ask(UpgradeAsk ask, std::function<void(Result<WebSocketPtr>)> done) {
        place_.sessions->add(shared_from_this());
        ws_.set_option(ws::stream_base::decorator([headers = std::move(ask.headers)](ws::request_type& head) {
            head.set(http::field::user_agent, "crater");
            for (const auto& [name, value] : headers) head.set(name, value);
        }));
        auto answer = std::make_shared<ws::response_type>();
        ws_.async_handshake(
            *answer, ask.host, ask.target,
            [self = shared_from_this(), answer, done = std::move(done)](beast::error_code ec) {
                self->opened_ = !ec;
                if (!ec && !self->closed_) return done(WebSocketPtr(self));
                done(fail(self->refusal(ec, *answer)));
                self->closed();
            });
    }

    // ---- WebSocket, from any thread

    void start(std::function<void(std::string)> on_message, std::function<void()> on_closed) override {
        post([self = shared_from_this(), m = std::move(on_message), c = std::move(on_closed)]() mutable {
            if (self->closed_) {
                if (c) c();
                return;
            }
            self->on_message_ = std::move(m);
            self->on_closed_ = std::move(c);
            self->read();
        });
    }

    void send(std::string message) override {
        {
            const std::scoped_lock lock(mutex_);
            if (closed_ || closing_ || overflow_) return;
            if (queued_bytes_ > 0 && queued_bytes_ + message.size() > place_.limits.queue_bytes_max) {
                overflow_ = true;
            } else {
                queued_bytes_ += message.size();
                queue_.push_back(std::move(message));
            }
            if (std::exchange(woken_, true) && !overflow_) return;
        }
        post([self = shared_from_this()] { self->write(); });
    }

    void close() override { close_with(ws::close_code::normal); }
    std::string remote() const override { return place_.remote; }

    // ---- Session

    void finish() override { close_with(ws::close_code::going_away); }
    void abort() override {
        if (closed_) return;
        post([self = shared_from_this()] { self->cut(); });
    }

  private:
    template <class F>
    void post(F task) {
        // After the end of its owner nothing runs on the IO thread any more.
        if (closed_ && place_.io->context.stopped()) return task();
        asio::post(place_.io->executor(), std::move(task));
    }

    void read() {
        if (closed_ || reading_) return;
        reading_ = true;
        ws_.async_read(in_, [self = shared_from_this()](beast::error_code ec, std::size_t) {
            self->reading_ = false;
            if (ec) return self->closed();
            std::string message = beast::buffers_to_string(self->in_.data());
            self->in_.consume(self->in_.size());
            if (self->in_.capacity() > (64u << 10)) self->in_ = beast::flat_buffer();
            if (self->on_message_ && !self->close_asked_) self->on_message_(std::move(message));
            self->read();
        });
    }

    void write() {
        if (overflow_) return cut();
        if (closed_ || writing_) return;
        {
            const std::scoped_lock lock(mutex_);
            woken_ = writing_ = !queue_.empty();
            if (writing_) {
                out_ = std::move(queue_.front());
                queue_.pop_front();
            }
        }
        if (!writing_) {
            if (close_asked_) say_goodbye();
            return;
        }
        ws_.async_write(asio::buffer(out_), [self = shared_from_this()](beast::error_code ec, std::size_t) {
            self->writing_ = false;
            if (ec) return self->failed();
            {
                const std::scoped_lock lock(self->mutex_);
                self->queued_bytes_ -= self->out_.size();
            }
            self->write();
        });
    }

    void close_with(ws::close_code code) {
        {
            const std::scoped_lock lock(mutex_);
            if (closed_ || std::exchange(closing_, true)) return;
        }
        post([self = shared_from_this(), code] {
            if (!self->opened_) return self->cut();  // no farewell before the handshake
            self->close_asked_ = true;
            self->close_code_ = code;
            self->write();
        });
    }

    // The queue is sent. Waits for the peer's own goodbye; Beast bounds that.
    void say_goodbye() {
        if (std::exchange(goodbye_said_, true)) return;
        ws_.async_close(close_code_, [self = shared_from_this()](beast::error_code) { self->failed(); });
    }

    // A write or close ended the connection: a read under way will tell, and must be the last to run.
    void failed() {
        if (reading_)
            ws_.next_layer().close();
        else
            closed();
    }

    void cut() {
        if (closed_) return;
        ws_.next_layer().close();
        // Operations under way end now and report; without any there is nobody to do so.
        if (!reading_ && !writing_ && !goodbye_said_) closed();
    }

    void closed() {
        if (closed_.exchange(true)) return;
        ws_.next_layer().close();
        ws_.set_option(ws::stream_base::timeout{ws::stream_base::none(), ws::stream_base::none(),
                                                false});  // stops its timer
        {
            const std::scoped_lock lock(mutex_);
            queue_.clear();
        }
        on_message_ = nullptr;
        const auto callback = std::exchange(on_closed_, nullptr);
        if (callback) callback();
        place_.sessions->remove(this);
    }

    Error refusal(beast::error_code ec, const ws::response_type& answer) const {
        if (ec == ws::error::upgrade_declined) {
            HttpResponse response;
            response.status = static_cast<int>(answer.result_int());
            response.content_type = std::string(answer[http::field::content_type].data(),
                                                answer[http::field::content_type].size());
            response.body = answer.body();
            return error_of(response);
        }
        if (ec == asio::error::operation_aborted)
            return {Code::cancelled, "the WebSocket was given up", {}, {}};
        return {Code::unavailable, "no WebSocket to " + place_.remote + ": " + ec.message(), {}, {}};
    }

    const WebSocketPlace place_;
    ws::stream<Stream, false> ws_;
    beast::flat_buffer in_;
    std::string out_;
    std::function<void(std::string)> on_message_;
    std::function<void()> on_closed_;
    bool opened_ = false, reading_ = false, writing_ = false, close_asked_ = false, goodbye_said_ = false;
    ws::close_code close_code_ = ws::close_code::normal;
    std::atomic<bool> closed_ = false;

    std::mutex mutex_;
    std::deque<std::string> queue_;
    std::size_t queued_bytes_ = 0;
    bool woken_ = false, closing_ = false;
    std::atomic<bool> overflow_ = false;
};

}  // namespace

void accept_websocket(WebSocketPlace place, Stream stream, const HttpRequest& request,
                      std::function<void(WebSocketPtr)> on_open) {
    std::make_shared<WebSocketSession>(std::move(place), std::move(stream))
        ->accept(request, std::move(on_open));
}

std::shared_ptr<Session> ask_websocket(WebSocketPlace place, Stream stream, UpgradeAsk ask,
                                       std::function<void(Result<WebSocketPtr>)> done) {
    auto session = std::make_shared<WebSocketSession>(std::move(place), std::move(stream));
    session->ask(std::move(ask), std::move(done));
    return session;
}

}  // namespace crater::wire
