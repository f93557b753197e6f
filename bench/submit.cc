// Submits jobs over many HTTP connections as fast as they are answered, and says how fast that was. A client
// of its own, kept small so that it takes little of the machine from the server: non-blocking sockets, one
// thread, one outstanding request per connection.
//
//     bench-submit --port N --token-file F --jobs 10000 --connections 64 --body FILE   -> one JSON object on
//     stdout
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "crater/base/clock.h"

namespace {

struct Connection {
    int fd = -1;
    std::string out, in;
    std::int64_t began_us = 0;
};

std::string read_all(const std::string& path) {
    std::ifstream file(path);
    std::stringstream content;
    content << file.rdbuf();
    std::string text = content.str();
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

int dial(int port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        std::perror("connect");
        std::exit(1);
    }
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

// The length of the whole first answer in `in`, or 0 while it is incomplete.
std::size_t answer_length(const std::string& in) {
    const auto head = in.find("\r\n\r\n");
    if (head == std::string::npos) return 0;
    std::string lower = in.substr(0, head);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto at = lower.find("content-length:");
    const std::size_t body =
        at == std::string::npos ? 0 : static_cast<std::size_t>(std::atoll(lower.c_str() + at + 15));
    return in.size() >= head + 4 + body ? head + 4 + body : 0;
}

double percentile(std::vector<std::int64_t>& values, double p) {
    if (values.empty()) return 0;
    const auto index = static_cast<std::size_t>(p * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index), values.end());
    return static_cast<double>(values[index]) / 1000.0;
}

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> options = {{"--jobs", "10000"}, {"--connections", "64"}};
    for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    const long jobs = std::atol(options["--jobs"].c_str());
    const std::string body = read_all(options["--body"]), token = read_all(options["--token-file"]);
    const int port = std::atoi(options["--port"].c_str());
    const std::string request =
        "POST /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token +
        "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
        body;

    const auto clock = crater::system_clock();
    std::vector<Connection> connections(
        static_cast<std::size_t>(std::atol(options["--connections"].c_str())));
    std::vector<pollfd> polls(connections.size());
    long sent = 0, answered = 0;
    std::map<int, long> statuses;
    std::vector<std::int64_t> latencies;
    const auto ask = [&](Connection& connection) {
        if (sent >= jobs) return;
        ++sent;
        connection.out = request;
        connection.began_us = clock->ticks_us();
    };
    for (Connection& connection : connections) connection.fd = dial(port);
    const std::int64_t begin = clock->ticks_us();
    for (Connection& connection : connections) ask(connection);

    while (answered < jobs) {
        for (std::size_t i = 0; i < connections.size(); ++i)
            polls[i] = {connections[i].fd,
                        static_cast<short>(POLLIN | (connections[i].out.empty() ? 0 : POLLOUT)), 0};
        if (::poll(polls.data(), polls.size(), 10'000) <= 0) {
            std::fprintf(stderr, "bench-submit: no answer for 10 s after %ld of %ld\n", answered, jobs);
            return 1;
        }
        for (std::size_t i = 0; i < connections.size(); ++i) {
            Connection& connection = connections[i];
            if ((polls[i].revents & POLLOUT) && !connection.out.empty()) {
                const ssize_t wrote =
                    ::send(connection.fd, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
                if (wrote > 0) connection.out.erase(0, static_cast<std::size_t>(wrote));
            }
            if (!(polls[i].revents & (POLLIN | POLLHUP | POLLERR))) continue;
            char piece[65536];
            const ssize_t got = ::recv(connection.fd, piece, sizeof piece, 0);
            if (got == 0 || (got < 0 && errno != EAGAIN)) {
                std::fprintf(stderr, "bench-submit: the server closed a connection after %ld answers\n",
                             answered);
                return 1;
            }
            if (got > 0) connection.in.append(piece, static_cast<std::size_t>(got));
            while (const std::size_t length = answer_length(connection.in)) {
                ++answered;
                ++statuses[std::atoi(connection.in.c_str() + 9)];
                latencies.push_back(clock->ticks_us() - connection.began_us);
                connection.in.erase(0, length);
                ask(connection);
            }
        }
    }
    const double seconds = static_cast<double>(clock->ticks_us() - begin) / 1e6;
    const double p50 = percentile(latencies, 0.5), p99 = percentile(latencies, 0.99);
    std::printf(
        "{\"jobs\": %ld, \"accepted\": %ld, \"connections\": %zu, \"seconds\": %.3f, \"accepted_per_second\": %.0f, \"answer_ms_p50\": %.2f, \"answer_ms_p99\": %.2f}\n",
        jobs, statuses[201], connections.size(), seconds, static_cast<double>(statuses[201]) / seconds, p50,
        p99);
    return statuses[201] == jobs ? 0 : 1;
}
