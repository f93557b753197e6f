// One connection of the server: reads a request, hands it to the handler, writes the answer, reads the next.
// Everything runs on its IO thread; other threads reach it through Answerer and OpenAnswer, which post.
#pragma once

#include <atomic>
#include <boost/asio/post.hpp>
#include <memory>
#include <string>

#include "net/message.h"
#include "net/read_buffer.h"
#include "net/stream.h"
#include "server/core.h"
#include "server/open_answer.h"

namespace crater::wire {

class Connection final : public Session, public std::enable_shared_from_this<Connection> {
  public:
    Connection(std::shared_ptr<ServerCore> core, std::shared_ptr<IoThread> io, Socket socket, bool refuse);

    void start();
    void finish() override;
    void abort() override;

    bool is_closed() const { return closed_; }

    // From any thread; `request` is the number that the answer belongs to.
    void answer(std::uint64_t request, HttpResponse response);
    std::shared_ptr<HttpStream> open_answer(std::uint64_t request, HttpResponse head);
    // on its IO thread, unless it is closed by then
    void run_here(std::function<void()> work) { post(std::move(work)); }

  private:
    enum class Phase {
        handshake,
        idle,      // between requests
        reading,   // a request has begun
        handling,  // the handler has it
        writing,   // an answer of known length
        open,      // an answer without end
        draining,  // answered; reads away what still comes, so that the peer gets the answer
        closed,
    };

    // Runs it on the IO thread unless we are closed by then.
    template <class F>
    void post(F task) {
        if (closed_) return;
        asio::post(io_->executor(), [self = shared_from_this(), task = std::move(task)]() mutable {
            if (self->phase_ != Phase::closed) task();
        });
    }

    void shake_hands();
    void next_request();
    void use_input();
    void read();
    void on_read(ErrorCode ec, std::size_t n);
    void send_continue();
    void handle();
    void upgrade(HttpRequest request);
    void refuse(HttpResponse response);

    void respond(HttpResponse response);
    void write_piece();
    void begin_open(HttpResponse head, std::shared_ptr<OpenAnswer> open);
    void flush_open();
    void end_open();
    void answered();

    void close_politely();
    void close();
    void watch_time();
    void on_deadline();
    void expire_after(Millis span) { deadline_ = std::chrono::steady_clock::now() + span; }
    void expire_never() { deadline_ = SteadyTime::max(); }

    const std::shared_ptr<IoThread> io_;  // first: outlives the socket and the timer
    const std::shared_ptr<ServerCore> core_;
    Stream stream_;
    Timer timer_;
    SteadyTime deadline_ = SteadyTime::max();
    std::atomic<bool> closed_ = false;
    std::string remote_;
    bool loopback_ = false;
    const bool refuse_;

    Phase phase_ = Phase::idle;
    bool read_pending_ = false;
    bool write_pending_ = false;
    bool keep_alive_ = true;
    bool head_only_ = false;  // HEAD
    bool chunked_ = false;
    bool unread_ = false;  // answered before the request was read
    bool last_chunk_sent_ = false;
    std::uint64_t request_ = 0;
    ReadBuffer in_;
    RequestParser parser_;
    std::string head_, body_;
    std::size_t body_sent_ = 0;
    std::shared_ptr<OpenAnswer> open_;
};

}  // namespace crater::wire
