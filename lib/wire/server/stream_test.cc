#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "test_support.h"

namespace crater::wire {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using StreamPtr = std::shared_ptr<HttpStream>;

class OpenAnswers : public testing::Test {
  protected:
    std::unique_ptr<HttpServer> listen(ServerOptions options = {}) {
        return must_listen(std::move(options), [this](HttpRequest request, ResponderPtr responder) {
            if (request.path == "/plain") return responder->send({.body = "plain"});
            StreamPtr stream = responder->stream({.content_type = "text/event-stream"});
            stream->on_closed([this] { closed_.set(true); });
            opened_.set(std::move(stream));
        });
    }
    Awaited<bool> closed_;
    Awaited<StreamPtr> opened_;
};

TEST_F(OpenAnswers, carries_what_is_written_and_then_the_next_request) {
    const auto server = listen();
    RawClient client(server->port());
    client.say(get("/events"));
    const StreamPtr stream = opened_.get();
    const std::string head = client.read_until("\r\n\r\n");
    EXPECT_THAT(head, HasSubstr("Transfer-Encoding: chunked\r\n"));
    EXPECT_THAT(head, HasSubstr("Content-Type: text/event-stream\r\n"));
    EXPECT_TRUE(stream->write("data: 1\n\n"));
    EXPECT_EQ(client.read_until("\n\n\r\n"), "9\r\ndata: 1\n\n\r\n");
    EXPECT_TRUE(stream->write(""));  // not an end
    EXPECT_TRUE(stream->write("data: 2\n\n"));
    EXPECT_EQ(client.read_until("\n\n\r\n"), "9\r\ndata: 2\n\n\r\n");
    stream->close();
    EXPECT_EQ(client.read_until("0\r\n\r\n"), "0\r\n\r\n");
    EXPECT_TRUE(closed_.get());
    EXPECT_FALSE(stream->write("data: 3\n\n"));
    EXPECT_THAT(client.ask(get("/plain")), EndsWith("plain"));
}

TEST_F(OpenAnswers, sends_what_was_written_before_it_was_closed) {
    const auto server = must_listen({}, [](HttpRequest, ResponderPtr responder) {
        const StreamPtr stream = responder->stream({});
        for (int i = 0; i < 1000; ++i) stream->write("0123456789");
    });  // dropping the pointer closes
    HttpClient client;
    const auto answer = client.send({.url = url_of(*server, "/")});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body.size(), 10'000u);
    EXPECT_TRUE(client.send({.url = url_of(*server, "/")}));
}

TEST_F(OpenAnswers, notices_a_client_that_leaves) {
    const auto server = listen();
    RawClient client(server->port());
    client.say(get("/events"));
    const StreamPtr stream = opened_.get();
    client.read_until("\r\n\r\n");
    client.close();
    EXPECT_TRUE(closed_.get());
    EXPECT_FALSE(stream->write("x"));
}

TEST_F(OpenAnswers, closes_a_reader_that_is_too_slow) {
    const auto server = listen({.stream_queue_bytes_max = 100'000});
    RawClient client(server->port(), 4096);
    client.say(get("/events"));
    const StreamPtr stream = opened_.get();
    client.read_until("\r\n\r\n");
    // Fill what the kernel buffers, until a write is under way that will not end.
    const std::string chunk(10'000, 'x');
    int accepted = 0;
    while (stream->write(chunk)) ASSERT_LT(++accepted, 100'000);
    EXPECT_GE(accepted, 10);
    EXPECT_TRUE(closed_.get());
}

TEST_F(OpenAnswers, keeps_a_request_that_comes_while_it_is_open) {
    const auto server = listen();
    RawClient client(server->port());
    client.say(get("/events"));
    const StreamPtr stream = opened_.get();
    client.read_until("\r\n\r\n");
    client.say(get("/plain"));
    stream->write("a");
    client.read_until("a\r\n");
    stream->close();
    client.read_until("0\r\n\r\n");
    EXPECT_THAT(client.read_answer(), EndsWith("plain"));
    EXPECT_THAT(client.ask(get("/plain")), EndsWith("plain"));
}

TEST_F(OpenAnswers, many_threads_may_write) {
    const auto server = listen({.stream_queue_bytes_max = 100u << 20});
    RawClient client(server->port());
    client.say(get("/events"));
    const StreamPtr stream = opened_.get();
    std::vector<std::thread> writers;
    for (int t = 0; t < 4; ++t) {
        writers.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) stream->write("line\n");
        });
    }
    for (auto& writer : writers) writer.join();
    stream->close();
    std::string all = client.read_until("0\r\n\r\n");
    std::size_t lines = 0;
    for (std::size_t at = all.find("line\n"); at != std::string::npos; at = all.find("line\n", at + 1))
        ++lines;
    EXPECT_EQ(lines, 8000u);
}

TEST_F(OpenAnswers, ends_with_the_connection_for_http10_and_at_once_for_head) {
    const auto server = listen();
    {
        RawClient client(server->port());
        client.say("GET /events HTTP/1.0\r\n\r\n");
        const StreamPtr stream = opened_.get();
        stream->write("abc");
        stream->close();
        EXPECT_THAT(client.read_to_end(), EndsWith("\r\n\r\nabc"));
    }
    {
        RawClient client(server->port());
        client.say("HEAD /events HTTP/1.1\r\nHost: x\r\n\r\n");
        client.read_until("\r\n\r\n");
        EXPECT_THAT(client.ask(get("/plain")), StartsWith("HTTP/1.1 200 "));
    }
}

TEST_F(OpenAnswers, end_when_the_server_stops) {
    auto server = listen();
    RawClient client(server->port());
    client.say(get("/events"));
    const StreamPtr stream = opened_.get();
    client.read_until("\r\n\r\n");
    server->stop(Millis(60'000));
    EXPECT_TRUE(closed_.get());
    EXPECT_EQ(client.read_to_end(), "0\r\n\r\n");
    EXPECT_FALSE(stream->write("x"));
    Awaited<bool> later;
    stream->on_closed([&] { later.set(true); });
    EXPECT_TRUE(later.get());
}

TEST_F(OpenAnswers, the_client_follows_them) {
    const auto server = listen();
    HttpClient client;
    std::thread writer([&] {
        const StreamPtr stream = opened_.get();
        stream->write("one ");
        stream->write("two ");
        stream->write("end");
        EXPECT_TRUE(closed_.get());
    });
    std::string got;
    const auto answer = client.stream({.url = url_of(*server, "/events")}, [&](std::string_view piece) {
        got += piece;
        return !got.ends_with("end");  // enough
    });
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(got, "one two end");
    EXPECT_EQ(answer->status, 200);
    writer.join();
}

}  // namespace
}  // namespace crater::wire
