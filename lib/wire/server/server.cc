// Listening and stopping.
#include <boost/asio/post.hpp>
#include <vector>

#include "crater/base/log.h"
#include "server/core.h"
#include "server/port_owner.h"

namespace crater::wire {
namespace {

using Acceptor = asio::basic_socket_acceptor<Tcp, Executor>;

constexpr std::size_t refusals_max = 64;  // connections beyond the limit that are still told 503

Result<asio::ssl::context> tls_context(const TlsFiles& files) {
    asio::ssl::context context(asio::ssl::context::tls_server);
    ErrorCode ec;
    context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv3 |
                        asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
    context.use_certificate_chain_file(files.certificate, ec);
    if (ec)
        return fail(Code::invalid, "cannot use the certificate " + files.certificate + ": " + ec.message(),
                    "tls.certificate");
    context.use_private_key_file(files.key, asio::ssl::context::pem, ec);
    if (ec)
        return fail(Code::invalid, "cannot use the private key " + files.key + ": " + ec.message(),
                    "tls.key");
    return context;
}

Result<asio::ip::address> address_of(const std::string& text) {
    if (text == "localhost") return asio::ip::address(asio::ip::address_v4::loopback());
    ErrorCode ec;
    const auto address = asio::ip::make_address(text, ec);
    if (ec)
        return fail(Code::invalid, "'" + text + "' is no IP address to listen on", {},
                    "for example 127.0.0.1, 0.0.0.0 or ::");
    return address;
}

// Accepts on the first IO thread and spreads connections over all.
class Listener final : public std::enable_shared_from_this<Listener> {
  public:
    Listener(std::shared_ptr<ServerCore> core, std::vector<std::shared_ptr<IoThread>> threads)
        : core_(std::move(core)),
          threads_(std::move(threads)),
          acceptor_(threads_[0]->executor()),
          pause_(threads_[0]->executor()) {}

    Result<void> bind(const Tcp::endpoint& endpoint) {
        ErrorCode ec;
        acceptor_.open(endpoint.protocol(), ec);
        if (!ec) acceptor_.set_option(asio::socket_base::reuse_address(true), ec);
        if (!ec) acceptor_.bind(endpoint, ec);
        if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
        if (!ec) return {};
        const std::string place = endpoint.address().to_string() + " port " + std::to_string(endpoint.port());
        std::string message = "cannot listen on " + place + ": " + ec.message();
        const std::string owner =
            ec == asio::error::address_in_use ? port_owner(endpoint.port()) : std::string();
        if (!owner.empty()) message += ", held by " + owner;
        return fail(Code::unavailable, std::move(message), {},
                    ec == asio::error::address_in_use ? "stop it, or choose another port" : "");
    }
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    void accept() {
        const auto& io = threads_[next_++ % threads_.size()];
        acceptor_.async_accept(io->executor(), [self = shared_from_this(), io](ErrorCode ec, Socket socket) {
            if (self->stopped_ || ec == asio::error::operation_aborted) return;
            if (ec) return self->accept_later(ec);
            const std::size_t open = self->core_->sessions->size();
            const auto most = static_cast<std::size_t>(std::max(1, self->core_->options.connections_max));
            if (open < most + refusals_max) serve(self->core_, io, std::move(socket), open >= most);
            self->accept();
        });
    }
    void stop() {
        asio::post(threads_[0]->executor(), [self = shared_from_this()] {
            self->stopped_ = true;
            ErrorCode ignored;
            self->acceptor_.close(ignored);
            self->pause_.cancel();
        });
    }

  private:
    // Out of file descriptors, most likely: let some close.
    void accept_later(ErrorCode why) {
        log::warning("cannot accept a connection", {{"error", why.message()}});
        pause_.expires_after(std::chrono::milliseconds(100));
        pause_.async_wait([self = shared_from_this()](ErrorCode ec) {
            if (!ec && !self->stopped_) self->accept();
        });
    }

    const std::shared_ptr<ServerCore> core_;
    const std::vector<std::shared_ptr<IoThread>> threads_;
    Acceptor acceptor_;
    Timer pause_;
    std::size_t next_ = 0;
    bool stopped_ = false;
};

class Server final : public HttpServer {
  public:
    Server(std::shared_ptr<ServerCore> core, std::vector<std::shared_ptr<IoThread>> threads,
           std::shared_ptr<Listener> listener)
        : core_(std::move(core)),
          threads_(std::move(threads)),
          listener_(std::move(listener)),
          port_(listener_->port()) {
        listener_->accept();
    }
    ~Server() override { stop(Millis(0)); }

    std::uint16_t port() const override { return port_; }
    void stop(Millis grace) override {
        if (!listener_) return;
        core_->stopping = true;
        listener_->stop();
        core_->sessions->end(grace);
        listener_.reset();
        for (const auto& thread : threads_) thread->finish();
        // Handlers may own whoever owns us; answerers that live on must not keep them.
        core_->handler = nullptr;
        core_->upgrade = nullptr;
    }

  private:
    const std::shared_ptr<ServerCore> core_;
    const std::vector<std::shared_ptr<IoThread>> threads_;
    std::shared_ptr<Listener> listener_;
    const std::uint16_t port_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::listen(ServerOptions options, Handler handler,
                                                       Upgrade upgrade) {
    CRATER_TRY(address, address_of(options.address));
    auto core = std::make_shared<ServerCore>();
    if (options.tls) {
        CRATER_TRY(context, tls_context(*options.tls));
        core->tls.emplace(std::move(context));
    }
    std::vector<std::shared_ptr<IoThread>> threads;
    for (int i = 0; i < std::max(1, options.threads); ++i) threads.push_back(std::make_shared<IoThread>());
    const Tcp::endpoint endpoint(address, options.port);
    core->options = std::move(options);
    core->handler = std::move(handler);
    core->upgrade = std::move(upgrade);
    auto listener = std::make_shared<Listener>(core, threads);
    CRATER_TRY_VOID(listener->bind(endpoint));
    return std::make_unique<Server>(std::move(core), std::move(threads), std::move(listener));
}

}  // namespace crater::wire
