// The client's way to a peer: name, TCP, TLS with a checked certificate.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "crater/wire/http.h"
#include "net/io.h"
#include "net/stream.h"

namespace crater::wire {

using TlsContext = std::shared_ptr<asio::ssl::context>;
// Trusts what ClientOptions.ca_file says.
Result<TlsContext> client_tls(const std::string& ca_file);

class Connecting;
// `done` runs on the executor; after `give_up` it still does, with an error.
std::shared_ptr<Connecting> connect(Executor executor, const Url& url, TlsContext tls,
                                    std::function<void(Result<Stream>)> done);
void give_up(Connecting& connecting);  // on the executor

bool is_secure(const Url& url);
// "host:port" as in a Host header: without the scheme's own port, IPv6 in brackets.
std::string authority(const Url& url);

}  // namespace crater::wire
