// A server on a port of the system's choice, and a client that says exactly what the test wants.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "crater/base/clock.h"
#include "crater/wire/http.h"

namespace crater::wire {

// A value that another thread brings.
template <class T>
class Awaited {
  public:
    void set(T value) {
        const std::scoped_lock lock(mutex_);
        value_ = std::move(value);
        arrived_.notify_all();  // under the lock: whoever waits may destroy us next
    }
    T get() {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [&] { return value_.has_value(); });
        return *value_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::optional<T> value_;
};

// A thread that runs a loop as a service's does.
class LoopThread {
  public:
    LoopThread() : thread_([this] { loop_.run(); }) {}
    ~LoopThread() {
        loop_.stop();
        thread_.join();
    }
    Loop& loop() { return loop_; }

  private:
    ThreadLoop loop_;
    std::thread thread_;
};

inline std::unique_ptr<HttpServer> must_listen(ServerOptions options, HttpServer::Handler handler,
                                               HttpServer::Upgrade upgrade = {}) {
    auto server = HttpServer::listen(std::move(options), std::move(handler), std::move(upgrade));
    EXPECT_TRUE(server) << server.error().text();
    return std::move(*server);
}

inline std::string url_of(const HttpServer& server, const std::string& target,
                          const std::string& scheme = "http") {
    return scheme + "://127.0.0.1:" + std::to_string(server.port()) + target;
}

// Raw bytes over TCP, blocking.
class RawClient {
  public:
    explicit RawClient(std::uint16_t port, int receive_buffer = 0)
        : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        if (receive_buffer > 0)
            ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        CRATER_CHECK(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    }
    RawClient(const RawClient&) = delete;
    ~RawClient() { close(); }

    void close() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }
    void say(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n <= 0) return;
            bytes.remove_prefix(static_cast<std::size_t>(n));
        }
    }
    // Everything up to and with `end`; what came before the connection closed when that is earlier.
    std::string read_until(std::string_view end) {
        for (;;) {
            if (const auto at = got_.find(end); at != std::string::npos) {
                std::string out = got_.substr(0, at + end.size());
                got_.erase(0, at + end.size());
                return out;
            }
            if (!read_some()) return std::exchange(got_, {});
        }
    }
    std::string read_to_end() {
        while (read_some()) {
        }
        return std::exchange(got_, {});
    }
    // One answer with a Content-Length.
    std::string read_answer() {
        std::string out = read_until("\r\n\r\n");
        const auto at = out.find("Content-Length: ");
        if (at == std::string::npos) return out;
        const std::size_t size = std::stoul(out.substr(at + 16));
        while (got_.size() < size && read_some()) {
        }
        out += got_.substr(0, size);
        got_.erase(0, size);
        return out;
    }
    std::string ask(std::string_view request) {
        say(request);
        return read_answer();
    }

  private:
    bool read_some() {
        char buffer[65536];
        const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
        if (n <= 0) return false;
        got_.append(buffer, static_cast<std::size_t>(n));
        return true;
    }

    int fd_;
    std::string got_;
};

inline std::string get(std::string_view target, std::string_view headers = {}) {
    return "GET " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n";
}

}  // namespace crater::wire
