#include "net/message.h"

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <optional>

#include "net/text.h"

namespace crater::wire {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using Failure = beast::error_code;

std::string text_of(beast::string_view view) { return {view.data(), view.size()}; }

Failure put(auto& parser, std::string_view bytes, std::size_t& used) {
    Failure ec;
    used = parser.put(boost::asio::buffer(bytes.data(), bytes.size()), ec);
    return ec;
}

HttpResponse refusal_with(int status, Code code, std::string message, std::string hint = {}) {
    HttpResponse out = error_response(Error{code, std::move(message), {}, std::move(hint)});
    out.status = status;
    return out;
}

}  // namespace

struct RequestParser::State {
    using Parser = http::request_parser<http::string_body>;

    std::size_t header_max, body_max;
    std::optional<Parser> parser;
    std::size_t head_bytes = 0;
    bool head_told = false;
    Failure failure;

    void reset() {
        parser.emplace();
        // Ours is the exact limit, counted below.
        parser->header_limit(static_cast<std::uint32_t>(std::min<std::size_t>(header_max + 1, UINT32_MAX)));
        parser->body_limit(body_max);
        parser->eager(false);  // stops behind the head, for Expect
        head_bytes = 0;
        head_told = false;
        failure = {};
    }
    Step fail_with(Failure ec) {
        failure = ec;
        return Step::failed;
    }
};

RequestParser::RequestParser(std::size_t header_bytes_max, std::size_t body_bytes_max)
    : state_(std::make_unique<State>()) {
    state_->header_max = header_bytes_max;
    state_->body_max = body_bytes_max;
    reset();
}
RequestParser::~RequestParser() = default;
void RequestParser::reset() { state_->reset(); }

Step RequestParser::feed(std::string_view bytes, std::size_t& used) {
    State& s = *state_;
    used = 0;
    while (used < bytes.size()) {
        std::size_t taken = 0;
        const bool in_head = !s.parser->is_header_done();
        const Failure ec = put(*s.parser, bytes.substr(used), taken);
        used += taken;
        if (in_head) s.head_bytes += taken;
        if (s.head_bytes > s.header_max) return s.fail_with(http::error::header_limit);
        const std::size_t waiting = bytes.size() - used;
        if (ec == http::error::need_more) {
            // What waits is an unfinished line of the head, or of a chunk's head: bounded all the same.
            const bool head = !s.parser->is_header_done();
            if ((head ? s.head_bytes : 0) + waiting > s.header_max)
                return s.fail_with(http::error::header_limit);
            return Step::more;
        }
        if (ec) return s.fail_with(ec);
        if (s.parser->is_done()) return Step::done;
        if (s.parser->is_header_done() && !s.head_told) {
            s.head_told = true;
            s.parser->eager(true);
            return Step::head;
        }
    }
    return Step::more;
}

bool RequestParser::expects_continue() const {
    const auto& message = state_->parser->get();
    return message.version() >= 11 && beast::iequals(message[http::field::expect], "100-continue");
}

bool RequestParser::keep_alive() const { return state_->parser->get().keep_alive(); }
bool RequestParser::http10() const { return state_->parser->get().version() < 11; }
bool RequestParser::wants_websocket() const { return beast::websocket::is_upgrade(state_->parser->get()); }

Result<HttpRequest> RequestParser::take() {
    auto& message = state_->parser->get();
    HttpRequest out;
    out.method = text_of(message.method_string());
    int hosts = 0;
    for (const auto& field : message) {
        std::string name = lower(text_of(field.name_string()));
        hosts += name == "host";
        auto [it, fresh] =
            out.headers.try_emplace(std::move(name), field.value().data(), field.value().size());
        if (!fresh)
            it->second.append(it->first == "cookie" ? "; " : ", ")
                .append(field.value().data(), field.value().size());
    }
    if (hosts > 1 || (hosts == 0 && message.version() >= 11))
        return fail(Code::invalid, "a request needs one Host header, this one has " + std::to_string(hosts));
    const auto target = message.target();
    CRATER_TRY_VOID(read_target({target.data(), target.size()}, out));
    out.body = std::move(message.body());
    return out;
}

HttpResponse RequestParser::refusal() const {
    const State& s = *state_;
    if (s.failure == http::error::header_limit)
        return refusal_with(431, Code::too_large,
                            "the request's head is larger than " + std::to_string(s.header_max) + " bytes");
    if (s.failure == http::error::body_limit)
        return refusal_with(413, Code::too_large,
                            "the request's body is larger than " + std::to_string(s.body_max) + " bytes");
    return refusal_with(400, Code::invalid, "this is not an HTTP/1.1 request: " + s.failure.message());
}

struct ResponseParser::State {
    std::optional<http::response_parser<http::string_body>> parser;
    Failure failure;
    bool bodyless = false;
    std::size_t body_max = 0;

    void reset() {
        parser.emplace();
        parser->header_limit(1u << 20);
        parser->body_limit(body_max);
        parser->eager(true);
        if (bodyless) parser->skip(true);
    }
};

ResponseParser::ResponseParser(bool bodyless, std::size_t body_bytes_max)
    : state_(std::make_unique<State>()) {
    state_->bodyless = bodyless;
    state_->body_max = body_bytes_max;
    state_->reset();
}
ResponseParser::~ResponseParser() = default;

Step ResponseParser::feed(std::string_view bytes, std::size_t& used) {
    State& s = *state_;
    used = 0;
    for (;;) {
        if (used == bytes.size()) return Step::more;
        std::size_t taken = 0;
        const Failure ec = put(*s.parser, bytes.substr(used), taken);
        used += taken;
        if (ec && ec != http::error::need_more) {
            s.failure = ec;
            return Step::failed;
        }
        if (s.parser->is_done()) {
            const int status = this->status();
            if (status < 100 || status >= 200 || status == 101) return Step::done;
            s.reset();  // an interim answer
            continue;
        }
        if (ec || taken == 0) return Step::more;
    }
}

Step ResponseParser::feed_end() {
    State& s = *state_;
    if (s.parser->is_done()) return Step::done;
    if (s.parser->got_some()) {
        s.parser->put_eof(s.failure);
        if (!s.failure) return Step::done;
    } else {
        s.failure = http::error::end_of_stream;
    }
    return Step::failed;
}

bool ResponseParser::begun() const { return state_->parser->got_some(); }
int ResponseParser::status() const { return static_cast<int>(state_->parser->get().result_int()); }
bool ResponseParser::keep_alive() const {
    return state_->parser->keep_alive() && !state_->parser->need_eof();
}

std::string ResponseParser::take_body() {
    auto& body = state_->parser->get().body();
    std::string out = std::move(body);
    body.clear();
    return out;
}

HttpResponse ResponseParser::take() {
    HttpResponse out;
    out.status = status();
    const auto& message = state_->parser->get();
    out.content_type = text_of(message[http::field::content_type]);
    for (const auto& field : message)
        out.headers.emplace_back(lower(text_of(field.name_string())), text_of(field.value()));
    out.body = take_body();
    return out;
}

std::string ResponseParser::problem() const { return state_->failure.message(); }

std::string_view reason_phrase(int status) {
    const auto text = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)));
    return {text.data(), text.size()};
}

}  // namespace crater::wire
