#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "crater/wire/callback.h"
#include "test_certificate.h"
#include "test_support.h"

namespace crater::wire {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

void echo(HttpRequest request, ResponderPtr responder) {
    responder->send({.status = 201,
                     .body = request.method + " " + request.path + " " + request.body,
                     .headers = {{"X-Remote", request.remote}}});
}

std::string header(const HttpResponse& response, const std::string& name) {
    for (const auto& [key, value] : response.headers)
        if (key == name) return value;
    return {};
}

TEST(Client, asks_and_keeps_its_connection) {
    const auto server = must_listen({}, echo);
    HttpClient client;
    const auto first = client.send({.method = "POST", .url = url_of(*server, "/a"), .body = "hello"});
    ASSERT_TRUE(first) << first.error().text();
    EXPECT_EQ(first->status, 201);
    EXPECT_EQ(first->body, "POST /a hello");
    EXPECT_EQ(first->content_type, "application/json");
    const auto second = client.send({.url = url_of(*server, "/b")});
    ASSERT_TRUE(second);
    EXPECT_EQ(header(*first, "x-remote"), header(*second, "x-remote"));
}

TEST(Client, carries_big_bodies) {
    const auto server = must_listen({.body_bytes_max = 16u << 20}, echo);
    HttpClient client;
    const std::string big(10u << 20, 'x');
    const auto answer = client.send({.method = "PUT", .url = url_of(*server, "/"), .body = big});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body.size(), big.size() + 6);
}

TEST(Client, sees_the_refusal_of_a_body_that_is_too_large) {
    const auto server = must_listen({.body_bytes_max = 1000}, echo);
    HttpClient client;
    const auto answer =
        client.send({.method = "PUT", .url = url_of(*server, "/"), .body = std::string(10u << 20, 'x')});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(error_of(*answer).code, Code::too_large);
    EXPECT_TRUE(client.send({.url = url_of(*server, "/")}));
}

TEST(Client, replaces_a_kept_connection_that_died) {
    auto server = must_listen({}, echo);
    const std::uint16_t port = server->port();
    HttpClient client;
    ASSERT_TRUE(client.send({.url = url_of(*server, "/")}));
    server.reset();
    server = must_listen({.port = port}, echo);
    const auto again = client.send({.method = "POST", .url = url_of(*server, "/"), .body = "x"});
    ASSERT_TRUE(again) << again.error().text();
}

TEST(Client, gives_up_after_the_timeout_and_can_go_on) {
    std::vector<ResponderPtr> held;  // touched by the one IO thread, and after its end
    const auto server = must_listen({}, [&](HttpRequest request, ResponderPtr responder) {
        if (request.path == "/slow") return held.push_back(std::move(responder));
        echo(std::move(request), std::move(responder));
    });
    HttpClient client;
    const auto late = client.send({.url = url_of(*server, "/slow"), .timeout = Millis(40)});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::timeout);
    EXPECT_TRUE(client.send({.url = url_of(*server, "/quick")}));
}

TEST(Client, says_who_cannot_be_reached) {
    std::uint16_t port = 0;
    {
        const auto server = must_listen({}, echo);
        port = server->port();
    }
    HttpClient client;
    const auto refused = client.send({.url = "http://127.0.0.1:" + std::to_string(port) + "/"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("127.0.0.1:" + std::to_string(port)));
    EXPECT_EQ(client.send({.url = "http://name.invalid/"}).error().code, Code::unavailable);
    EXPECT_EQ(client.send({.url = "ftp://x/"}).error().code, Code::invalid);
    EXPECT_EQ(client.send({.url = "http://x/", .headers = {{"A", "b\r\nC: d"}}}).error().code, Code::invalid);
}

TEST(Client, a_peer_that_closes_without_an_answer_is_unavailable) {
    HttpClient client;
    Awaited<ResponderPtr> held;
    auto dying =
        must_listen({}, [&](HttpRequest, ResponderPtr responder) { held.set(std::move(responder)); });
    std::thread killer([&] {
        const ResponderPtr responder = held.get();
        held.set(nullptr);
        dying.reset();
    });
    const auto answer = client.send({.method = "POST", .url = url_of(*dying, "/")});
    killer.join();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::unavailable);
}

TEST(Client, can_be_cancelled_from_another_thread) {
    Awaited<ResponderPtr> held;
    const auto server =
        must_listen({}, [&](HttpRequest, ResponderPtr responder) { held.set(std::move(responder)); });
    HttpClient client;
    std::thread canceller([&] {
        held.get();
        client.cancel();
    });
    EXPECT_EQ(client.send({.url = url_of(*server, "/")}).error().code, Code::cancelled);
    canceller.join();
    EXPECT_EQ(client.send({.url = url_of(*server, "/")}).error().code, Code::cancelled);
    held.set(nullptr);
}

TEST(Client, head_has_a_length_and_no_body) {
    const auto server = must_listen({}, echo);
    HttpClient client;
    const auto answer = client.send({.method = "HEAD", .url = url_of(*server, "/x")});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "");
    EXPECT_EQ(header(*answer, "content-length"), "8");
    EXPECT_TRUE(client.send({.url = url_of(*server, "/x")}));
}

TEST(Client, an_error_while_following_keeps_its_body) {
    const auto server = must_listen({}, [](HttpRequest, ResponderPtr r) {
        r->send(error_response({Code::not_found, "no such job", "id", {}}));
    });
    HttpClient client;
    const auto answer = client.stream({.url = url_of(*server, "/")}, [](std::string_view) { return true; });
    ASSERT_TRUE(answer);
    EXPECT_EQ(error_of(*answer).message, "no such job");
}

TEST(Client, following_ends_when_nothing_comes_for_long) {
    Awaited<std::shared_ptr<HttpStream>> opened;
    const auto server = must_listen({}, [&](HttpRequest, ResponderPtr r) {
        auto stream = r->stream({});
        stream->write("a");
        opened.set(std::move(stream));
    });
    HttpClient client;
    std::string got;
    const auto answer =
        client.stream({.url = url_of(*server, "/"), .timeout = Millis(40)}, [&](std::string_view piece) {
            got += piece;
            return true;
        });
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::timeout);
    EXPECT_TRUE(std::string_view("a").starts_with(got));
    opened.set(nullptr);
}

TEST(Tls, serves_clients_that_trust_its_certificate) {
    const TestCertificate certificate;
    const auto server = must_listen({.body_bytes_max = 8u << 20, .tls = certificate.files()}, echo);
    HttpClient client({.ca_file = certificate.files().certificate});
    const auto answer = client.send(
        {.method = "POST", .url = url_of(*server, "/a", "https"), .body = std::string(3u << 20, 'x')});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body.size(), (3u << 20) + 8);
    const auto second = client.send({.url = url_of(*server, "/b", "https")});
    ASSERT_TRUE(second);
    EXPECT_EQ(header(*answer, "x-remote"), header(*second, "x-remote"));
    const auto by_name = client.send({.url = "https://localhost:" + std::to_string(server->port()) + "/c"});
    ASSERT_TRUE(by_name) << by_name.error().text();
    const auto closing =
        client.send({.url = url_of(*server, "/d", "https"), .headers = {{"Connection", "close"}}});
    ASSERT_TRUE(closing);
    EXPECT_EQ(closing->body, "GET /d ");
}

TEST(Tls, refuses_certificates_without_trust_or_for_another_name) {
    const TestCertificate certificate, other;
    const auto server = must_listen({.tls = certificate.files()}, echo);
    HttpClient stranger({.ca_file = other.files().certificate});
    const auto untrusted = stranger.send({.url = url_of(*server, "/", "https")});
    ASSERT_FALSE(untrusted);
    EXPECT_EQ(untrusted.error().code, Code::unavailable);
    EXPECT_THAT(untrusted.error().message, HasSubstr("is not trusted"));
    HttpClient client({.ca_file = certificate.files().certificate});
    const auto misnamed = client.send({.url = "https://127.0.0.2:" + std::to_string(server->port()) + "/"});
    EXPECT_FALSE(misnamed);
    HttpClient broken({.ca_file = "/nonexistent.pem"});
    EXPECT_EQ(broken.send({.url = url_of(*server, "/", "https")}).error().code, Code::invalid);
}

TEST(Tls, a_plain_client_gets_nothing_and_harms_nobody) {
    const TestCertificate certificate;
    const auto server = must_listen({.tls = certificate.files()}, echo);
    RawClient plain(server->port());
    plain.say(get("/"));
    EXPECT_THAT(plain.read_to_end(), testing::Not(HasSubstr("HTTP")));
    HttpClient client({.ca_file = certificate.files().certificate});
    EXPECT_TRUE(client.send({.url = url_of(*server, "/", "https")}));
}

TEST(Tls, names_the_file_that_is_no_certificate) {
    const TestCertificate certificate;
    const auto server =
        HttpServer::listen({.tls = TlsFiles{certificate.files().key, certificate.files().key}}, echo);
    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().field, "tls.certificate");
    EXPECT_THAT(server.error().message, HasSubstr(certificate.files().key));
}

TEST(Url, is_taken_apart) {
    const auto url = *parse_url("https://Example.com:8443/a%20b?x=1&y=%2F#frag");
    EXPECT_EQ(url.scheme, "https");
    EXPECT_EQ(url.port, 8443);
    EXPECT_EQ(url.target, "/a%20b?x=1&y=%2F");
    EXPECT_EQ(parse_url("http://h")->target, "/");
    EXPECT_EQ(parse_url("http://h?x")->target, "/?x");
    EXPECT_EQ(parse_url("http://h")->port, 80);
    EXPECT_EQ(parse_url("wss://h/")->port, 443);
    EXPECT_EQ(parse_url("ws://[::1]:90/")->host, "::1");
    for (const char* bad : {"", "h:80", "ftp://h/", "http:///x", "http://u:p@h/", "http://h:0/",
                            "http://h:99999/", "http://h/ x", "//h/"})
        EXPECT_FALSE(parse_url(bad)) << bad;
}

TEST(Callback, is_delivered_off_the_loop_and_answered_on_it) {
    const auto server = must_listen({}, echo);
    LoopThread service;
    Awaited<std::thread::id> loop_thread;
    service.loop().post([&] { loop_thread.set(std::this_thread::get_id()); });
    const auto sender = make_callback_sender(service.loop());
    Awaited<Result<HttpResponse>> answer;
    Awaited<std::thread::id> answered_on;
    sender->send({.method = "POST", .url = url_of(*server, "/done"), .body = "{}"},
                 [&](Result<HttpResponse> r) {
                     answered_on.set(std::this_thread::get_id());
                     answer.set(std::move(r));
                 });
    ASSERT_TRUE(answer.get());
    EXPECT_EQ(answer.get()->body, "POST /done {}");
    EXPECT_EQ(answered_on.get(), loop_thread.get());
}

TEST(Callback, closing_the_sender_answers_everything) {
    Awaited<ResponderPtr> held;
    const auto server =
        must_listen({}, [&](HttpRequest, ResponderPtr responder) { held.set(std::move(responder)); });
    LoopThread service;
    auto sender = make_callback_sender(service.loop(), 1);
    Awaited<Code> running, waiting;
    sender->send({.url = url_of(*server, "/1")},
                 [&](Result<HttpResponse> r) { running.set(r.error().code); });
    sender->send({.url = url_of(*server, "/2")},
                 [&](Result<HttpResponse> r) { waiting.set(r.error().code); });
    held.get();
    sender.reset();
    EXPECT_EQ(running.get(), Code::cancelled);
    EXPECT_EQ(waiting.get(), Code::cancelled);
    held.set(nullptr);
}

TEST(Callback, basic_authorization_is_base64) {
    EXPECT_EQ(basic_authorization("Aladdin", "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    EXPECT_EQ(basic_authorization("", ""), "Basic Og==");
}

}  // namespace
}  // namespace crater::wire
