#include "client/connect.h"

#include <openssl/x509v3.h>

#include <boost/asio/connect.hpp>
#include <cstdlib>
#include <optional>

namespace crater::wire {

Result<TlsContext> client_tls(const std::string& ca_file) {
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
    context->set_options(asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                         asio::ssl::context::no_tlsv1_1);
    const char* named = std::getenv("CRATER_CA_FILE");
    const std::string file = !ca_file.empty() ? ca_file : named != nullptr ? named : "";
    ErrorCode ec;
    if (file.empty())
        context->set_default_verify_paths(ec);
    else
        context->load_verify_file(file, ec);
    if (ec)
        return fail(Code::invalid, "cannot use the certificate authorities in " +
                                       (file.empty() ? "the system's store" : file) + ": " + ec.message());
    return context;
}

bool is_secure(const Url& url) { return url.scheme == "https" || url.scheme == "wss"; }

std::string authority(const Url& url) {
    const std::string host = url.host.find(':') != std::string::npos ? "[" + url.host + "]" : url.host;
    return url.port == (is_secure(url) ? 443 : 80) ? host : host + ":" + std::to_string(url.port);
}

class Connecting : public std::enable_shared_from_this<Connecting> {
  public:
    Connecting(Executor executor, const Url& url, TlsContext tls, std::function<void(Result<Stream>)> done)
        : url_(url), tls_(std::move(tls)), done_(std::move(done)), resolver_(executor), socket_(executor) {}

    void start() {
        ErrorCode ec;
        const auto address = asio::ip::make_address(url_.host, ec);
        if (!ec) {
            socket_.async_connect(Tcp::endpoint(address, url_.port),
                                  [self = shared_from_this()](ErrorCode failed) { self->connected(failed); });
            return;
        }
        resolver_.async_resolve(url_.host, std::to_string(url_.port),
                                [self = shared_from_this()](ErrorCode failed, const Results& found) {
                                    if (failed || self->given_up_)
                                        return self->fail_with("cannot find", failed);
                                    asio::async_connect(self->socket_, found,
                                                        [self](ErrorCode refused, const Tcp::endpoint&) {
                                                            self->connected(refused);
                                                        });
                                });
    }

    void give_up() {
        given_up_ = true;
        resolver_.cancel();
        ErrorCode ignored;
        socket_.close(ignored);
        if (stream_) stream_->close();
    }

  private:
    using Resolver = asio::ip::basic_resolver<Tcp, Executor>;
    using Results = Resolver::results_type;

    void connected(ErrorCode ec) {
        if (ec || given_up_) return fail_with("cannot reach", ec);
        ErrorCode ignored;
        socket_.set_option(Tcp::no_delay(true), ignored);
        socket_.set_option(asio::socket_base::keep_alive(true), ignored);
        if (!is_secure(url_)) return done_(Stream(std::move(socket_)));
        stream_.emplace(std::move(socket_), *tls_);
        check_certificate(stream_->ssl());
        stream_->async_handshake(asio::ssl::stream_base::client,
                                 [self = shared_from_this()](ErrorCode failed) {
                                     if (failed || self->given_up_) return self->handshake_failed(failed);
                                     self->done_(std::move(*self->stream_));
                                 });
    }

    // The certificate must be for the name or address that was asked for.
    void check_certificate(SSL* ssl) {
        SSL_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
        if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), url_.host.c_str()) == 1) return;
        SSL_set1_host(ssl, url_.host.c_str());
        SSL_set_tlsext_host_name(ssl, url_.host.c_str());
    }

    void handshake_failed(ErrorCode ec) {
        const long verdict = SSL_get_verify_result(stream_->ssl());
        if (verdict == X509_V_OK || given_up_) return fail_with("no TLS with", ec);
        done_(fail(Code::unavailable,
                   "the certificate of " + authority(url_) +
                       " is not trusted: " + X509_verify_cert_error_string(verdict),
                   {}, "name the authority's PEM file in CRATER_CA_FILE"));
    }

    void fail_with(const char* what, ErrorCode ec) {
        if (given_up_)
            return done_(fail(Code::cancelled, "connecting to " + authority(url_) + " was given up"));
        done_(fail(Code::unavailable, std::string(what) + " " + authority(url_) + ": " + ec.message()));
    }

    const Url url_;
    const TlsContext tls_;
    const std::function<void(Result<Stream>)> done_;
    Resolver resolver_;
    Socket socket_;
    std::optional<Stream> stream_;
    bool given_up_ = false;
};

std::shared_ptr<Connecting> connect(Executor executor, const Url& url, TlsContext tls,
                                    std::function<void(Result<Stream>)> done) {
    auto connecting = std::make_shared<Connecting>(executor, url, std::move(tls), std::move(done));
    connecting->start();
    return connecting;
}

void give_up(Connecting& connecting) { connecting.give_up(); }

}  // namespace crater::wire
