// The answering half of Connection: whole answers in pieces, open answers as they come.
#include <array>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/write.hpp>
#include <cstdio>

#include "server/connection.h"
#include "server/head.h"

namespace crater::wire {
namespace {

constexpr std::size_t piece_bytes = 256 << 10;  // written within one request_timeout

}  // namespace

void Connection::answer(std::uint64_t request, HttpResponse response) {
    if (closed_) return;
    asio::dispatch(io_->executor(), [self = shared_from_this(), request, r = std::move(response)]() mutable {
        if (self->phase_ == Phase::handling && self->request_ == request) self->respond(std::move(r));
    });
}

void Connection::respond(HttpResponse response) {
    phase_ = Phase::writing;
    keep_alive_ = keep_alive_ && !core_->stopping;
    write_head(head_, response, Framing::length, keep_alive_);
    const bool bodyless = head_only_ || response.status == 204 || response.status == 304;
    body_ = bodyless ? std::string() : std::move(response.body);
    body_sent_ = 0;
    if (!write_pending_) write_piece();
}

// The head and a piece of the body; each piece has its time.
void Connection::write_piece() {
    expire_after(core_->options.request_timeout);
    const std::string_view piece = std::string_view(body_).substr(body_sent_, piece_bytes);
    const std::array<asio::const_buffer, 2> buffers{asio::buffer(head_),
                                                    asio::buffer(piece.data(), piece.size())};
    write_pending_ = true;
    asio::async_write(stream_, buffers,
                      [self = shared_from_this(), size = piece.size()](ErrorCode ec, std::size_t) {
                          self->write_pending_ = false;
                          if (self->phase_ == Phase::closed) return;
                          if (ec) return self->close();
                          self->head_.clear();
                          self->body_sent_ += size;
                          if (self->body_sent_ < self->body_.size()) return self->write_piece();
                          self->answered();
                      });
}

void Connection::answered() {
    body_.clear();
    if (!keep_alive_) return close_politely();
    next_request();
}

std::shared_ptr<HttpStream> Connection::open_answer(std::uint64_t request, HttpResponse head) {
    const std::weak_ptr<Connection> weak = shared_from_this();
    auto open = std::make_shared<OpenAnswer>(
        core_->options.stream_queue_bytes_max,
        [weak] {
            if (const auto self = weak.lock()) self->post([c = self.get()] { c->flush_open(); });
        },
        [io = io_, weak](std::function<void()> task) {
            // After the end of its server nothing runs on the IO thread any more.
            const auto self = weak.lock();
            if (self && !self->core_->stopping) return asio::post(io->executor(), std::move(task));
            task();
        });
    if (closed_) {
        open->closed();
    } else {
        asio::dispatch(io_->executor(),
                       [self = shared_from_this(), request, h = std::move(head), open]() mutable {
                           if (self->phase_ != Phase::handling || self->request_ != request)
                               return open->closed();
                           self->begin_open(std::move(h), std::move(open));
                       });
    }
    return std::make_shared<OpenAnswerHandle>(std::move(open));
}

void Connection::begin_open(HttpResponse head, std::shared_ptr<OpenAnswer> open) {
    phase_ = Phase::open;
    open_ = std::move(open);
    keep_alive_ = keep_alive_ && chunked_ && !core_->stopping;
    write_head(head_, head, chunked_ ? Framing::chunked : Framing::until_close, keep_alive_);
    body_.clear();
    last_chunk_sent_ = false;
    expire_after(core_->options.request_timeout);
    write_pending_ = true;
    asio::async_write(stream_, asio::buffer(head_), [self = shared_from_this()](ErrorCode ec, std::size_t) {
        self->write_pending_ = false;
        if (self->phase_ == Phase::closed) return;
        if (ec) return self->close();
        if (self->head_only_) return self->end_open();
        self->expire_never();
        self->flush_open();
    });
    if (core_->stopping) open_->close();
    read();  // notices when the peer leaves
}

void Connection::flush_open() {
    if (phase_ != Phase::open) return;
    if (open_->overflowed()) return close();
    if (write_pending_) return;
    OpenAnswer::Taken taken = open_->take();
    if (taken.bytes.empty() && !taken.end) return;
    if (taken.bytes.empty() && (!chunked_ || last_chunk_sent_)) return end_open();
    head_.clear();
    body_ = std::move(taken.bytes);
    if (chunked_ && !body_.empty()) {
        char size[32];
        head_.assign(size,
                     static_cast<std::size_t>(std::snprintf(size, sizeof size, "%zx\r\n", body_.size())));
        body_ += "\r\n";
    }
    if (chunked_ && taken.end) {
        body_ += "0\r\n\r\n";
        last_chunk_sent_ = true;
    }
    expire_after(core_->options.request_timeout);
    const std::array<asio::const_buffer, 2> buffers{asio::buffer(head_), asio::buffer(body_)};
    write_pending_ = true;
    asio::async_write(stream_, buffers, [self = shared_from_this()](ErrorCode ec, std::size_t) {
        self->write_pending_ = false;
        if (self->phase_ == Phase::closed) return;
        if (ec) return self->close();
        self->expire_never();
        self->open_->written();
        if (self->last_chunk_sent_) return self->end_open();
        self->flush_open();
    });
}

void Connection::end_open() {
    const auto open = std::exchange(open_, nullptr);
    answered();
    open->closed();
}

}  // namespace crater::wire
