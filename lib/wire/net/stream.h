// A TCP connection with or without TLS behind one type, so that everything above is compiled once.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <memory>
#include <utility>

#include "net/io.h"

namespace crater::wire {

class Stream {
  public:
    using executor_type = Executor;

    explicit Stream(Socket socket) : plain_(std::make_unique<Socket>(std::move(socket))) {}
    Stream(Socket socket, asio::ssl::context& context)
        : tls_(std::make_unique<Tls>(std::move(socket), context)) {}

    executor_type get_executor() { return socket().get_executor(); }
    Socket& socket() { return tls_ ? tls_->next_layer() : *plain_; }
    bool is_tls() const { return tls_ != nullptr; }
    SSL* ssl() { return tls_->native_handle(); }

    template <class Buffers, class Handler>
    auto async_read_some(const Buffers& buffers, Handler&& handler) {
        return tls_ ? tls_->async_read_some(buffers, std::forward<Handler>(handler))
                    : plain_->async_read_some(buffers, std::forward<Handler>(handler));
    }
    template <class Buffers, class Handler>
    auto async_write_some(const Buffers& buffers, Handler&& handler) {
        return tls_ ? tls_->async_write_some(buffers, std::forward<Handler>(handler))
                    : plain_->async_write_some(buffers, std::forward<Handler>(handler));
    }
    // TLS only.
    template <class Handler>
    void async_handshake(asio::ssl::stream_base::handshake_type type, Handler&& handler) {
        tls_->async_handshake(type, std::forward<Handler>(handler));
    }
    template <class Handler>
    void async_shutdown(Handler&& handler) {
        tls_->async_shutdown(std::forward<Handler>(handler));
    }
    void close() {
        ErrorCode ignored;
        socket().close(ignored);
    }

  private:
    using Tls = asio::ssl::stream<Socket>;
    std::unique_ptr<Socket> plain_;
    std::unique_ptr<Tls> tls_;
};

}  // namespace crater::wire
