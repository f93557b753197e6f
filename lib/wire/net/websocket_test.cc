#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "crater/wire/link.h"
#include "test_certificate.h"
#include "test_support.h"

namespace crater::wire {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

void no_pages(HttpRequest, ResponderPtr responder) { responder->send({.status = 404}); }

Result<std::function<void(WebSocketPtr)>> echo(const HttpRequest& request) {
    if (request.path == "/forbidden")
        return fail(Code::forbidden, "not with this token", {}, "ask for another");
    return std::function<void(WebSocketPtr)>([](WebSocketPtr socket) {
        const std::weak_ptr<WebSocket> weak = socket;
        socket->start(
            [weak](std::string message) {
                if (const auto s = weak.lock()) s->send(std::move(message));
            },
            [] {});
    });
}

Result<WebSocketPtr> dial(WebSocketDialer& dialer, const std::string& url,
                          std::vector<std::pair<std::string, std::string>> headers = {},
                          Millis timeout = Millis(20'000)) {
    Awaited<Result<WebSocketPtr>> done;
    dialer.dial(
        url, std::move(headers), timeout, [&](WebSocketPtr s) { done.set(std::move(s)); },
        [&](Error e) { done.set(fail(std::move(e))); });
    return done.get();
}

// Collects what comes.
struct Inbox {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> messages;
    bool closed = false;

    void attach(const WebSocketPtr& socket) {
        socket->start(
            [this](std::string m) {
                const std::scoped_lock lock(mutex);
                messages.push_back(std::move(m));
                changed.notify_all();
            },
            [this] {
                const std::scoped_lock lock(mutex);
                closed = true;
                changed.notify_all();
            });
    }
    void wait_for(std::size_t count) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return messages.size() >= count || closed; });
    }
    void wait_closed() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return closed; });
    }
};

TEST(WebSockets, carry_messages_whole_and_in_order) {
    const auto server = must_listen({}, no_pages, echo);
    Inbox inbox;
    WebSocketDialer dialer;
    const auto socket = dial(dialer, url_of(*server, "/ws", "ws"));
    ASSERT_TRUE(socket) << socket.error().text();
    inbox.attach(*socket);
    const std::string big(1u << 20, '\xfe');
    for (int i = 0; i < 500; ++i) (*socket)->send(std::to_string(i));
    (*socket)->send(big);
    (*socket)->send("");
    inbox.wait_for(502);
    ASSERT_EQ(inbox.messages.size(), 502u);
    for (int i = 0; i < 500; ++i) EXPECT_EQ(inbox.messages[static_cast<std::size_t>(i)], std::to_string(i));
    EXPECT_TRUE(inbox.messages[500] == big);
    EXPECT_EQ(inbox.messages[501], "");
    (*socket)->close();
    inbox.wait_closed();
    (*socket)->send("ignored");
}

TEST(WebSockets, close_sends_what_is_queued_first) {
    std::atomic<int> got = 0;
    Awaited<int> all;
    const auto server =
        must_listen({}, no_pages, [&](const HttpRequest&) -> Result<std::function<void(WebSocketPtr)>> {
            return std::function<void(WebSocketPtr)>([&](WebSocketPtr socket) {
                socket->start([&](std::string) { ++got; }, [&] { all.set(got); });
            });
        });
    WebSocketDialer dialer;
    const auto socket = dial(dialer, url_of(*server, "/", "ws"));
    ASSERT_TRUE(socket);
    for (int i = 0; i < 1000; ++i) (*socket)->send(std::string(1000, 'x'));
    (*socket)->close();
    EXPECT_EQ(all.get(), 1000);
}

TEST(WebSockets, see_the_headers_of_the_upgrade) {
    Awaited<HttpRequest> seen;
    const auto server = must_listen({}, no_pages, [&](const HttpRequest& request) {
        seen.set(request);
        return echo(request);
    });
    WebSocketDialer dialer;
    ASSERT_TRUE(dial(dialer, url_of(*server, "/a?x=1", "ws"), {{"Authorization", "Bearer t"}}));
    EXPECT_EQ(seen.get().headers.at("authorization"), "Bearer t");
    EXPECT_EQ(seen.get().query.at("x"), "1");
    EXPECT_TRUE(seen.get().loopback);
}

TEST(WebSockets, a_refused_upgrade_is_an_http_answer_and_the_dialers_error) {
    const auto server = must_listen({}, no_pages, echo);
    WebSocketDialer dialer;
    const auto refused = dial(dialer, url_of(*server, "/forbidden", "ws"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::forbidden);
    EXPECT_EQ(refused.error().message, "not with this token");
    EXPECT_EQ(refused.error().hint, "ask for another");
    const auto deaf = must_listen({}, no_pages);
    EXPECT_EQ(dial(dialer, url_of(*deaf, "/", "ws")).error().code, Code::not_found);
}

TEST(WebSockets, dialling_nobody_fails_once) {
    std::uint16_t port = 0;
    {
        const auto server = must_listen({}, no_pages, echo);
        port = server->port();
    }
    WebSocketDialer dialer;
    const auto refused = dial(dialer, "ws://127.0.0.1:" + std::to_string(port) + "/");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unavailable);
    EXPECT_EQ(dial(dialer, "gopher://x/").error().code, Code::invalid);
    EXPECT_EQ(dial(dialer, "ws://name.invalid/").error().code, Code::unavailable);
}

TEST(WebSockets, dialling_somebody_silent_times_out) {
    // A listening socket whose owner never answers.
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(fd, 5), 0);
    socklen_t size = sizeof address;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    const std::string url = "ws://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
    WebSocketDialer dialer;
    EXPECT_EQ(dial(dialer, url, {}, Millis(40)).error().code, Code::timeout);
    // One that is destroyed meanwhile fails its dials.
    Awaited<Code> code;
    {
        WebSocketDialer doomed;
        doomed.dial(
            url, {}, Millis(60'000), [](WebSocketPtr) {}, [&](Error e) { code.set(e.code); });
    }
    EXPECT_EQ(code.get(), Code::cancelled);
    ::close(fd);
}

TEST(WebSockets, a_message_beyond_the_limit_closes) {
    const auto server = must_listen({.websocket = {.message_bytes_max = 1000}}, no_pages, echo);
    Inbox inbox;
    WebSocketDialer dialer;
    const auto socket = dial(dialer, url_of(*server, "/", "ws"));
    ASSERT_TRUE(socket);
    inbox.attach(*socket);
    (*socket)->send(std::string(1000, 'x'));
    inbox.wait_for(1);
    (*socket)->send(std::string(1001, 'x'));
    inbox.wait_closed();
    EXPECT_EQ(inbox.messages.size(), 1u);
}

TEST(WebSockets, a_peer_that_does_not_read_is_closed) {
    Awaited<bool> closed;
    Awaited<WebSocketPtr> opened;
    const auto server = must_listen({.websocket = {.queue_bytes_max = 1u << 20}}, no_pages,
                                    [&](const HttpRequest&) -> Result<std::function<void(WebSocketPtr)>> {
                                        return std::function<void(WebSocketPtr)>([&](WebSocketPtr socket) {
                                            socket->start([](std::string) {}, [&] { closed.set(true); });
                                            opened.set(std::move(socket));
                                        });
                                    });
    RawClient client(server->port(), 4096);
    client.say(
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
    EXPECT_THAT(client.read_until("\r\n\r\n"),
                HasSubstr("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    const WebSocketPtr socket = opened.get();
    for (int i = 0; i < 500; ++i) socket->send(std::string(100'000, 'x'));
    EXPECT_TRUE(closed.get());
    opened.set(nullptr);
}

TEST(WebSockets, a_peer_that_answers_no_ping_is_closed) {
    Awaited<bool> closed;
    const auto server = must_listen({.websocket = {.idle_timeout = Millis(60)}}, no_pages,
                                    [&](const HttpRequest&) -> Result<std::function<void(WebSocketPtr)>> {
                                        return std::function<void(WebSocketPtr)>([&](WebSocketPtr socket) {
                                            socket->start([](std::string) {}, [&] { closed.set(true); });
                                        });
                                    });
    RawClient client(server->port());
    client.say(
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
    client.read_until("\r\n\r\n");
    EXPECT_TRUE(closed.get());
    EXPECT_THAT(client.read_to_end(), StartsWith("\x89"));  // it had been asked
}

TEST(WebSockets, the_end_of_the_server_and_of_the_dialer_closes_them) {
    auto server = must_listen({}, no_pages, echo);
    Inbox one, two;
    WebSocketDialer dialer;
    const auto first = dial(dialer, url_of(*server, "/", "ws"));
    ASSERT_TRUE(first);
    one.attach(*first);
    {
        WebSocketDialer other;
        const auto second = dial(other, url_of(*server, "/", "ws"));
        ASSERT_TRUE(second);
        two.attach(*second);
    }
    two.wait_closed();
    server->stop(Millis(60'000));
    one.wait_closed();
    Inbox late;
    late.attach(*first);
    late.wait_closed();
}

TEST(WebSockets, a_server_may_stop_while_clients_arrive) {
    WebSocketDialer dialer;
    for (int round = 0; round < 30; ++round) {
        auto server = must_listen(
            {.threads = 2}, [](HttpRequest, ResponderPtr r) { r->send({}); }, echo);
        std::vector<std::unique_ptr<Awaited<bool>>> over;
        std::vector<std::unique_ptr<RawClient>> raw;
        for (int i = 0; i < 4; ++i) {
            over.push_back(std::make_unique<Awaited<bool>>());
            const auto done = [o = over.back().get()] { o->set(true); };
            dialer.dial(
                url_of(*server, "/", "ws"), {}, Millis(60'000),
                [done](WebSocketPtr s) { s->start([](std::string) {}, done); },
                [done](const Error&) { done(); });
            raw.push_back(std::make_unique<RawClient>(server->port()));
            raw.back()->say(get("/"));
        }
        server->stop(Millis(600'000));  // politely, and yet soon
        for (auto& o : over) o->get();
        for (auto& r : raw) r->read_to_end();
    }
}

TEST(WebSockets, go_over_tls) {
    const TestCertificate certificate;
    const auto server = must_listen({.tls = certificate.files()}, no_pages, echo);
    Inbox inbox;
    WebSocketDialer dialer({.ca_file = certificate.files().certificate});
    const auto socket = dial(dialer, url_of(*server, "/", "wss"));
    ASSERT_TRUE(socket) << socket.error().text();
    inbox.attach(*socket);
    (*socket)->send("secret");
    inbox.wait_for(1);
    EXPECT_EQ(inbox.messages, std::vector<std::string>{"secret"});
    (*socket)->close();
    inbox.wait_closed();
    WebSocketDialer stranger;
    EXPECT_FALSE(dial(stranger, url_of(*server, "/", "wss")));
}

TEST(Links, connect_two_loops_and_tell_the_peer_of_the_end) {
    LoopThread here, there;
    Awaited<std::shared_ptr<Link>> accepted;
    Awaited<std::string> heard_there, why_there;
    const auto server = must_listen(
        {}, no_pages, [&](const HttpRequest& request) -> Result<std::function<void(WebSocketPtr)>> {
            EXPECT_EQ(request.path, "/api/v1/agent");
            EXPECT_EQ(request.headers.at("authorization"), "Bearer token");
            return std::function<void(WebSocketPtr)>([&](WebSocketPtr socket) {
                there.loop().post([&, socket] {
                    accepted.set(websocket_link(there.loop(), socket,
                                                {[&](std::string m) { heard_there.set(std::move(m)); },
                                                 [&](std::string w) { why_there.set(std::move(w)); }}));
                });
            });
        });
    std::unique_ptr<Connector> connector =
        websocket_connector(here.loop(), {url_of(*server, "")}, "token", Millis(20'000));
    Awaited<std::shared_ptr<Link>> dialled;
    Awaited<std::string> heard_here;
    std::atomic<bool> closed_here = false;
    here.loop().post([&] {
        connector->connect(
            {[&](std::string m) { heard_here.set(std::move(m)); }, [&](std::string) { closed_here = true; }},
            [&](Result<std::shared_ptr<Link>> link) {
                EXPECT_TRUE(link) << link.error().text();
                dialled.set(*link);
            });
    });
    auto link = dialled.get();
    here.loop().post([&] { link->send("ping"); });
    EXPECT_EQ(heard_there.get(), "ping");
    there.loop().post([link_there = accepted.get()] { link_there->send("pong"); });
    EXPECT_EQ(heard_here.get(), "pong");
    here.loop().post([&] { link->close(); });
    EXPECT_THAT(why_there.get(), HasSubstr("closed"));
    Awaited<bool> over;
    here.loop().post([&] {
        link.reset();
        dialled.set(nullptr);
        connector.reset();
        over.set(true);
    });
    over.get();
    Awaited<bool> over_there;
    there.loop().post([&] {
        accepted.set(nullptr);
        over_there.set(true);
    });
    over_there.get();
    EXPECT_FALSE(closed_here);
}

// Whom links come to: one, of which it keeps what it hears and why it ended.
struct Listener {
    LoopThread loop;
    Awaited<std::shared_ptr<Link>> accepted;
    Awaited<std::string> why;
    std::vector<std::string> heard;  // read when it has ended
    const std::unique_ptr<HttpServer> server =
        must_listen({}, no_pages, [this](const HttpRequest&) -> Result<std::function<void(WebSocketPtr)>> {
            return std::function<void(WebSocketPtr)>([this](WebSocketPtr socket) {
                loop.loop().post([this, socket] {
                    accepted.set(websocket_link(loop.loop(), socket,
                                                {[this](std::string m) { heard.push_back(std::move(m)); },
                                                 [this](std::string w) { why.set(std::move(w)); }}));
                });
            });
        });
    ~Listener() {
        Awaited<bool> over;
        loop.loop().post([&] {
            accepted.set(nullptr);
            over.set(true);
        });
        over.get();
    }
};

TEST(Links, deliver_each_message_of_a_burst_in_order) {
    LoopThread here;
    constexpr int count = 2'000;
    const auto message = [](int i) {
        return std::to_string(i) + std::string(static_cast<std::size_t>(i % 300), 'x');
    };
    Listener listener;
    std::unique_ptr<Connector> connector =
        websocket_connector(here.loop(), {url_of(*listener.server, "")}, "", Millis(20'000));
    here.loop().post([&] {
        connector->connect({}, [&](Result<std::shared_ptr<Link>> link) {
            ASSERT_TRUE(link) << link.error().text();
            (*link)->send("");  // an empty one is one, too
            for (int i = 0; i < count; ++i) (*link)->send(message(i));
            (*link)->close();
        });
    });
    EXPECT_THAT(listener.why.get(), HasSubstr("closed"));
    Awaited<bool> over;
    here.loop().post([&] {
        connector.reset();
        over.set(true);
    });
    over.get();
    const auto& heard = listener.heard;
    ASSERT_EQ(heard.size(), static_cast<std::size_t>(count) + 1);
    EXPECT_EQ(heard[0], "");
    for (int i = 0; i < count; ++i) EXPECT_EQ(heard[static_cast<std::size_t>(i) + 1], message(i));
}

TEST(Links, end_when_the_peer_sends_no_bundle) {
    Listener listener;
    WebSocketDialer dialer;
    const auto socket = dial(dialer, url_of(*listener.server, "/", "ws"));
    ASSERT_TRUE(socket) << socket.error().text();
    Inbox inbox;
    inbox.attach(*socket);
    (*socket)->send(std::string("\x05\0\0\0four", 8));
    EXPECT_THAT(listener.why.get(), HasSubstr("no bundle"));
    inbox.wait_closed();
    EXPECT_THAT(listener.heard, testing::IsEmpty());
}

TEST(Links, try_their_endpoints_in_turn) {
    LoopThread here;
    const auto server = must_listen({}, no_pages, echo);
    std::string dead;
    {
        const auto gone = must_listen({}, no_pages);
        dead = url_of(*gone, "");
    }
    std::unique_ptr<Connector> connector =
        websocket_connector(here.loop(), {dead, url_of(*server, "/ws")}, "", Millis(20'000));
    Awaited<bool> first, second;
    here.loop().post([&] {
        connector->connect({}, [&](Result<std::shared_ptr<Link>> link) {
            first.set(link.has_value());
            connector->connect({},
                               [&](Result<std::shared_ptr<Link>> other) { second.set(other.has_value()); });
        });
    });
    EXPECT_FALSE(first.get());
    EXPECT_TRUE(second.get());
    Awaited<bool> over;
    here.loop().post([&] {
        connector.reset();
        over.set(true);
    });
    over.get();
}

}  // namespace
}  // namespace crater::wire
