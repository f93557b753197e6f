// Parsing of HTTP messages, a piece at a time. The only file beside websocket.cc that knows Beast is
// message.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "crater/wire/http.h"

namespace crater::wire {

enum class Step {
    more,    // needs more bytes
    head,    // the head is complete, a body follows; feed on
    done,    // the message is complete
    failed,  // see `refusal` or `problem`
};

class RequestParser {
  public:
    RequestParser(std::size_t header_bytes_max, std::size_t body_bytes_max);
    ~RequestParser();
    void reset();  // for the next message

    // Uses some of the bytes (`used`); what it does not use must be fed again with more behind it.
    Step feed(std::string_view bytes, std::size_t& used);

    // After head.
    bool expects_continue() const;
    // After done. `take` fills method, path, query, headers and body; an error is the client's.
    Result<HttpRequest> take();
    bool keep_alive() const;
    bool http10() const;
    bool wants_websocket() const;
    // After failed: the ready answer.
    HttpResponse refusal() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

class ResponseParser {
  public:
    // `bodyless`: the answer to HEAD.
    ResponseParser(bool bodyless, std::size_t body_bytes_max);
    ~ResponseParser();

    Step feed(std::string_view bytes, std::size_t& used);
    // The peer closed: done when that ends the message.
    Step feed_end();
    bool begun() const;
    int status() const;
    bool keep_alive() const;
    std::string take_body();  // what came since the last call
    HttpResponse take();      // head, and the body not taken
    std::string problem() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

std::string_view reason_phrase(int status);

}  // namespace crater::wire
