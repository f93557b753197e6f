#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "test_support.h"

namespace crater::wire {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Says what it got.
void echo(HttpRequest request, ResponderPtr responder) {
    std::string body = request.method + " " + request.path + " " + request.body;
    for (const auto& [key, value] : request.query) body += " " + key + "=" + value;
    responder->send({.body = std::move(body), .content_type = "text/plain"});
}

TEST(Server, answers_with_length_date_and_type) {
    const auto server = must_listen({}, echo);
    RawClient client(server->port());
    const std::string answer = client.ask(get("/a%20b?x=1&y=a+b%2B"));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("Content-Length: 20\r\n"));
    EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain\r\n"));
    EXPECT_THAT(answer, HasSubstr("Date: "));
    EXPECT_THAT(answer, HasSubstr(" GMT\r\n"));
    EXPECT_THAT(answer, EndsWith("\r\n\r\nGET /a b  x=1 y=a b+"));
}

TEST(Server, tells_handlers_who_asks) {
    Awaited<HttpRequest> seen;
    const auto server = must_listen({}, [&](HttpRequest request, ResponderPtr responder) {
        seen.set(request);
        responder->send({});
    });
    RawClient client(server->port());
    client.ask(
        "POST /a%2Fb HTTP/1.1\r\nHost: h\r\nX-Mixed: One\r\nX-MIXED: two\r\nContent-Length: 2\r\n\r\nhi");
    const HttpRequest request = seen.get();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/a/b");
    EXPECT_EQ(request.raw_path, "/a%2Fb");
    EXPECT_EQ(request.headers.at("x-mixed"), "One, two");
    EXPECT_EQ(request.body, "hi");
    EXPECT_TRUE(request.loopback);
    EXPECT_THAT(request.remote, StartsWith("127.0.0.1:"));
}

TEST(Server, serves_many_requests_on_one_connection) {
    const auto server = must_listen({}, echo);
    RawClient client(server->port());
    for (int i = 0; i < 500; ++i)
        ASSERT_THAT(client.ask(get("/" + std::to_string(i))), EndsWith("GET /" + std::to_string(i) + " "));
}

TEST(Server, answers_pipelined_requests_in_order_even_when_the_first_takes_longer) {
    Awaited<ResponderPtr> first;
    std::atomic<int> running = 0, most = 0;
    const auto server = must_listen({}, [&](HttpRequest request, ResponderPtr responder) {
        most = std::max<int>(most, ++running);
        if (request.path == "/1") return first.set(std::move(responder));
        --running;
        responder->send({.body = request.path});
    });
    RawClient client(server->port());
    client.say(get("/1") + get("/2") + get("/3"));
    const ResponderPtr responder = first.get();
    --running;
    responder->send({.body = "/1"});
    EXPECT_THAT(client.read_answer(), EndsWith("\r\n\r\n/1"));
    EXPECT_THAT(client.read_answer(), EndsWith("\r\n\r\n/2"));
    EXPECT_THAT(client.read_answer(), EndsWith("\r\n\r\n/3"));
    EXPECT_EQ(most, 1);
}

TEST(Server, takes_an_answer_from_another_thread_later) {
    std::vector<std::thread> threads;
    const auto server = must_listen({}, [&](HttpRequest request, ResponderPtr responder) {
        threads.emplace_back([path = request.path, responder] { responder->send({.body = path}); });
    });
    RawClient client(server->port());
    for (int i = 0; i < 20; ++i)
        EXPECT_THAT(client.ask(get("/" + std::to_string(i))), EndsWith("/" + std::to_string(i)));
    for (auto& thread : threads) thread.join();
}

TEST(Server, a_dropped_responder_and_a_throwing_handler_answer_500) {
    const auto server = must_listen({}, [](HttpRequest request, ResponderPtr) {
        if (request.path == "/throw") throw std::runtime_error("oops");
    });
    RawClient client(server->port());
    for (const char* path : {"/drop", "/throw", "/drop"}) {
        const std::string answer = client.ask(get(path));
        EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 "));
        EXPECT_THAT(answer, HasSubstr(R"("code":"internal")"));
    }
}

TEST(Server, carries_big_bodies_both_ways) {
    const auto server = must_listen({.body_bytes_max = 8u << 20}, echo);
    std::string big(5u << 20, 'x');
    for (std::size_t i = 0; i < big.size(); i += 1000) big[i] = static_cast<char>('a' + i / 1000 % 26);
    RawClient client(server->port());
    std::thread writer([&] {
        client.say("POST /big HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(big.size()) +
                   "\r\n\r\n" + big);
    });
    const std::string answer = client.read_answer();
    writer.join();
    EXPECT_TRUE(answer.ends_with("\r\n\r\nPOST /big " + big));
}

TEST(Server, reads_chunked_bodies) {
    const auto server = must_listen({}, echo);
    RawClient client(server->port());
    client.say("POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    client.say("6;ext=1\r\n world\r\n0\r\nTrailer: x\r\n\r\n");
    EXPECT_THAT(client.read_answer(), EndsWith("POST /c hello world"));
    EXPECT_THAT(client.ask(get("/next")), EndsWith("GET /next "));
}

TEST(Server, refuses_a_large_body_before_it_comes) {
    const auto server = must_listen({.body_bytes_max = 1000}, echo);
    RawClient client(server->port());
    client.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n");  // and no byte of it
    const std::string answer = client.read_to_end();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 413 "));
    EXPECT_THAT(answer, HasSubstr(R"({"error":{"code":"too_large","message":)"));
    EXPECT_THAT(answer, HasSubstr("1000 bytes"));
    EXPECT_THAT(answer, HasSubstr("Connection: close"));
}

TEST(Server, the_refusal_reaches_a_client_that_keeps_sending) {
    const auto server = must_listen({.body_bytes_max = 1000}, echo);
    RawClient client(server->port());
    client.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n" + std::string(8'000'000, 'x'));
    EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 413 "));
}

TEST(Server, refuses_a_chunked_body_once_it_is_too_large) {
    const auto server = must_listen({.body_bytes_max = 1000}, echo);
    RawClient client(server->port());
    client.say("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n258\r\n" +
               std::string(600, 'x') + "\r\n258\r\n");
    EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 413 "));
}

TEST(Server, refuses_large_headers_however_they_come) {
    const auto server = must_listen({.header_bytes_max = 2000}, echo);
    {
        RawClient client(server->port());
        EXPECT_THAT(client.ask(get("/", "X: " + std::string(3000, 'x') + "\r\n")),
                    StartsWith("HTTP/1.1 431 "));
    }
    {
        RawClient client(server->port());
        client.say("GET / HTTP/1.1\r\nHost: x\r\n");
        for (int i = 0; i < 100; ++i)
            client.say("X" + std::to_string(i) + ": " + std::string(40, 'x') + "\r\n");
        EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 431 "));
    }
    {
        RawClient client(server->port());
        client.say("GET /" + std::string(3000, 'x'));
        EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 431 "));
    }
    {
        RawClient client(server->port());
        EXPECT_THAT(client.ask(get("/ok", "X: " + std::string(1900, 'x') + "\r\n")),
                    StartsWith("HTTP/1.1 200 "));
    }
}

TEST(Server, bounds_the_heads_of_chunks_too) {
    const auto server = must_listen({.header_bytes_max = 2000}, echo);
    RawClient client(server->port());
    client.say("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=" +
               std::string(100'000, 'x'));
    EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 431 "));
}

TEST(Server, tells_a_slow_client_408) {
    const auto server = must_listen({.request_timeout = Millis(40)}, echo);
    RawClient client(server->port());
    client.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    const std::string answer = client.read_to_end();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 408 "));
    EXPECT_THAT(answer, HasSubstr(R"("code":"timeout")"));
}

TEST(Server, closes_an_idle_connection_without_a_word) {
    const auto server = must_listen({.idle_timeout = Millis(40)}, echo);
    RawClient client(server->port());
    EXPECT_EQ(client.read_to_end(), "");
}

TEST(Server, answers_what_is_not_http_in_the_one_error_shape) {
    const auto server = must_listen({}, echo);
    for (const char* nonsense :
         {"nonsense\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/3.7\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n",
          "G@T / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET x HTTP/1.1\r\nHost: x\r\n\r\n",
          "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n",
          "GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a/%2e%2e/b HTTP/1.1\r\nHost: x\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
          "GET / HTTP/1.1\r\nHost : x\r\n\r\n"}) {
        RawClient client(server->port());
        client.say(nonsense);
        const std::string answer = client.read_answer();
        EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 ")) << nonsense;
        EXPECT_THAT(answer, HasSubstr(R"({"error":{"code":"invalid","message":")")) << nonsense;
    }
}

TEST(Server, refuses_a_query_parameter_given_twice) {
    const auto server = must_listen({}, echo);
    RawClient client(server->port());
    const std::string answer = client.ask(get("/?limit=1&limit=2"));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 "));
    EXPECT_THAT(answer, HasSubstr(R"("field":"limit")"));
    EXPECT_THAT(client.ask(get("/?a&b=&&c=1=2")), EndsWith(" a= b= c=1=2"));
}

TEST(Server, head_is_get_without_the_body) {
    const auto server = must_listen({}, echo);
    RawClient client(server->port());
    client.say("HEAD /x HTTP/1.1\r\nHost: x\r\n\r\n" + get("/y"));
    const std::string head = client.read_until("\r\n\r\n");
    EXPECT_THAT(head, HasSubstr("Content-Length: 8\r\n"));
    EXPECT_THAT(client.read_answer(), StartsWith("HTTP/1.1 200 OK"));
}

TEST(Server, has_no_body_with_204) {
    const auto server =
        must_listen({}, [](HttpRequest, ResponderPtr r) { r->send({.status = 204, .body = "lost"}); });
    RawClient client(server->port());
    client.say(get("/") + get("/"));
    EXPECT_THAT(client.read_until("\r\n\r\n"), Not(HasSubstr("Content-")));
    EXPECT_THAT(client.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 204 "));
}

TEST(Server, asks_for_the_body_of_a_client_that_waits) {
    const auto server = must_listen({}, echo);
    RawClient client(server->port());
    client.say("POST /e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_THAT(client.ask("abc"), EndsWith("POST /e abc"));
}

TEST(Server, closes_when_asked_to_and_for_http10) {
    const auto server = must_listen({}, echo);
    {
        RawClient client(server->port());
        client.say(get("/", "Connection: close\r\n"));
        EXPECT_THAT(client.read_to_end(), HasSubstr("Connection: close\r\n"));
    }
    {
        RawClient client(server->port());
        client.say("GET /old HTTP/1.0\r\n\r\n");
        EXPECT_THAT(client.read_to_end(), EndsWith("GET /old "));
    }
}

TEST(Server, headers_of_an_answer_cannot_break_out) {
    const auto server = must_listen({}, [](HttpRequest, ResponderPtr r) {
        r->send(
            {.headers = {{"X-Name", "a\r\nSet-Cookie: b"}, {"Bad Name", "x"}, {"Content-Length", "999"}}});
    });
    RawClient client(server->port());
    const std::string answer = client.ask(get("/"));
    EXPECT_THAT(answer, HasSubstr("X-Name: a  Set-Cookie: b\r\n"));
    EXPECT_THAT(answer, Not(HasSubstr("Bad Name")));
    EXPECT_THAT(answer, HasSubstr("Content-Length: 0\r\n"));
}

TEST(Server, tells_503_beyond_its_connections) {
    const auto server = must_listen({.connections_max = 2}, echo);
    RawClient one(server->port()), two(server->port());
    EXPECT_THAT(one.ask(get("/")), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(two.ask(get("/")), StartsWith("HTTP/1.1 200 "));
    RawClient three(server->port());
    three.say(get("/"));
    const std::string answer = three.read_to_end();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(answer, HasSubstr("Retry-After: "));
    EXPECT_THAT(one.ask(get("/")), StartsWith("HTTP/1.1 200 "));
}

TEST(Server, names_who_holds_a_port_that_is_taken) {
    const auto server = must_listen({}, echo);
    const auto second = HttpServer::listen({.port = server->port()}, echo);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::unavailable);
    EXPECT_THAT(second.error().message, HasSubstr("127.0.0.1 port " + std::to_string(server->port())));
    EXPECT_THAT(second.error().message, HasSubstr("(process " + std::to_string(::getpid()) + ")"));
    EXPECT_EQ(HttpServer::listen({.address = "nowhere"}, echo).error().code, Code::invalid);
}

TEST(Server, lets_a_running_request_finish_when_it_stops) {
    Awaited<ResponderPtr> running;
    auto server =
        must_listen({}, [&](HttpRequest, ResponderPtr responder) { running.set(std::move(responder)); });
    RawClient busy(server->port()), idle(server->port());
    busy.say(get("/"));
    const ResponderPtr responder = running.get();
    std::thread stopper([&] { server->stop(Millis(60'000)); });
    EXPECT_EQ(idle.read_to_end(), "");  // closed at once
    responder->send({.body = "done"});
    const std::string answer = busy.read_to_end();
    EXPECT_THAT(answer, EndsWith("done"));
    EXPECT_THAT(answer, HasSubstr("Connection: close"));
    stopper.join();
}

TEST(Server, a_responder_may_outlive_its_server) {
    Awaited<ResponderPtr> running;
    auto server =
        must_listen({}, [&](HttpRequest, ResponderPtr responder) { running.set(std::move(responder)); });
    RawClient client(server->port());
    client.say(get("/"));
    ResponderPtr responder = running.get();
    running.set(nullptr);
    server.reset();
    responder->send({.body = "too late"});
    responder.reset();
    EXPECT_EQ(client.read_to_end(), "");
}

TEST(Server, spreads_connections_over_its_threads) {
    std::mutex mutex;
    std::map<std::thread::id, int> seen;
    const auto server = must_listen({.threads = 3}, [&](HttpRequest, ResponderPtr responder) {
        const std::scoped_lock lock(mutex);
        ++seen[std::this_thread::get_id()];
        responder->send({});
    });
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 9; ++i) {
        clients.push_back(std::make_unique<RawClient>(server->port()));
        clients.back()->ask(get("/"));
    }
    EXPECT_EQ(seen.size(), 3u);
}

}  // namespace
}  // namespace crater::wire
