// The blocking client: each step is started on an io_context of its own, which the caller's thread runs until
// the step is done, the deadline passes or `cancel` is called.
#include <poll.h>

#include <array>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <map>
#include <optional>
#include <variant>

#include "client/connect.h"
#include "net/message.h"
#include "net/read_buffer.h"
#include "net/text.h"

namespace crater::wire {
namespace {

constexpr std::size_t piece_bytes = 64 << 10;

bool may_repeat(const ClientRequest& request) {
    for (const std::string_view method : {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"})
        if (request.method == method) return true;
    for (const auto& [name, value] : request.headers)
        if (lower(name) == "idempotency-key") return true;
    return false;
}

Result<std::string> head_of(const ClientRequest& request, const Url& url) {
    if (!is_token(request.method)) return fail(Code::invalid, "'" + request.method + "' is no HTTP method");
    std::string out = request.method + " " + url.target + " HTTP/1.1\r\n";
    bool agent = false, accept = false, type = false, host = false;
    for (const auto& [name, value] : request.headers) {
        const std::string plain = lower(name);
        if (!is_token(name)) return fail(Code::invalid, "'" + name + "' is no name of a header");
        if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
            return fail(Code::invalid, "the header holds a line break", name);
        agent = agent || plain == "user-agent";
        accept = accept || plain == "accept";
        type = type || plain == "content-type";
        host = host || plain == "host";
        append_header(out, name, value);
    }
    if (!host) append_header(out, "Host", authority(url));
    if (!agent) append_header(out, "User-Agent", "crater");
    if (!accept) append_header(out, "Accept", "*/*");
    if (!type && !request.body.empty()) append_header(out, "Content-Type", "application/json");
    const bool takes_body = request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
    if (takes_body || !request.body.empty())
        append_header(out, "Content-Length", std::to_string(request.body.size()));
    return out + "\r\n";
}

}  // namespace

struct HttpClient::State {
    struct Kept {
        Stream stream;
        ReadBuffer in;
    };

    explicit State(ClientOptions o) : options(std::move(o)) {}
    ~State() {
        kept.clear();
        context.restart();
        context.poll();
    }

    // ---- one step

    // Runs what `begin` starts with the completion it is given. On a timeout or cancel `stop` must end it.
    template <class Begin, class Stop>
    Result<std::pair<ErrorCode, std::size_t>> step(SteadyTime deadline, Begin begin, Stop stop) {
        auto result = std::make_shared<std::optional<std::pair<ErrorCode, std::size_t>>>();
        begin([result](ErrorCode ec, std::size_t n) { *result = std::pair(ec, n); });
        context.restart();
        while (!*result && !cancelled && context.run_one_until(deadline) > 0) {
        }
        if (*result && !cancelled) return **result;
        stop();
        // Its buffers are ours: it must be over before we go on.
        while (!*result && context.run_one() > 0) {
        }
        if (cancelled) return fail(Code::cancelled, "the request was given up");
        return fail(Code::timeout, "no answer in time");
    }

    Result<Stream> open(const Url& url, SteadyTime deadline) {
        if (is_secure(url) && !tls) {
            CRATER_TRY(made, client_tls(options.ca_file));
            tls = std::move(made);
        }
        auto opened = std::make_shared<std::optional<Result<Stream>>>();
        const auto connecting = connect(context.get_executor(), url, tls,
                                        [opened](Result<Stream> r) { opened->emplace(std::move(r)); });
        context.restart();
        while (!*opened && !cancelled && context.run_one_until(deadline) > 0) {
        }
        if (*opened && !cancelled) return std::move(**opened);
        give_up(*connecting);  // it holds nothing of ours: a slow name lookup may end when it likes
        if (cancelled) return fail(Code::cancelled, "the request was given up");
        return fail(Code::timeout, "no connection to " + authority(url) + " in time");
    }

    Result<ErrorCode> write(Kept& c, const std::string& head, const std::string& body, SteadyTime deadline) {
        const std::array<asio::const_buffer, 2> buffers{asio::buffer(head), asio::buffer(body)};
        CRATER_TRY(done,
                   step(
                       deadline, [&](auto then) { asio::async_write(c.stream, buffers, std::move(then)); },
                       [&] { c.stream.close(); }));
        return done.first;
    }

    // 0 at the end of the stream.
    Result<std::pair<ErrorCode, std::size_t>> read(Kept& c, SteadyTime deadline) {
        char* room = c.in.prepare(piece_bytes);
        auto done = step(
            deadline,
            [&](auto then) { c.stream.async_read_some(asio::buffer(room, piece_bytes), std::move(then)); },
            [&] { c.stream.close(); });
        c.in.commit(done ? done->second : 0);
        return done;
    }

    // ---- one exchange

    struct Broken {  // the connection failed before any of the answer came
        std::string why;
    };
    using Exchange = Result<std::variant<HttpResponse, Broken>>;

    // Sets `keep` when the connection can serve again.
    Exchange exchange(Kept& c, const ClientRequest& request, const std::string& head,
                      const std::function<bool(std::string_view)>* on_data, bool& keep) {
        const auto later = [&] { return std::chrono::steady_clock::now() + request.timeout; };
        SteadyTime deadline = later();
        CRATER_TRY(write_error, write(c, head, request.body, deadline));
        // A peer that refuses early answers although it did not read all: look for that before giving up.
        ResponseParser parser(request.method == "HEAD",
                              on_data != nullptr ? SIZE_MAX : options.answer_bytes_max);
        for (;;) {
            std::size_t used = 0;
            Step step = c.in.empty() ? Step::more : parser.feed(c.in.view(), used);
            c.in.consume(used);
            if (step == Step::more) {
                if (on_data != nullptr && !hand_over(parser, *on_data)) return parser.take();
                CRATER_TRY(got, read(c, deadline));
                if (got.first) {
                    if (!parser.begun()) return Broken{(write_error ? write_error : got.first).message()};
                    step = parser.feed_end();
                } else {
                    if (on_data != nullptr) deadline = later();
                    continue;
                }
            }
            if (step == Step::failed)
                return fail(Code::unavailable,
                            "the server's answer broke off or is no HTTP: " + parser.problem());
            if (step == Step::done) break;
        }
        keep = parser.keep_alive() && !write_error && c.in.empty();
        if (on_data != nullptr) (void)hand_over(parser, *on_data);
        return parser.take();
    }

    // The pieces of a good answer; an error's body is kept for the response.
    static bool hand_over(ResponseParser& parser, const std::function<bool(std::string_view)>& on_data) {
        if (!parser.begun() || parser.status() < 200 || parser.status() >= 300) return true;
        const std::string piece = parser.take_body();
        return piece.empty() || on_data(piece);
    }

    // A kept connection on which the peer said something, or goodbye, is of no use.
    static bool is_quiet(Kept& c) {
        pollfd p{c.stream.socket().native_handle(), POLLIN, 0};
        return ::poll(&p, 1, 0) == 0;
    }

    Result<HttpResponse> send(const ClientRequest& request,
                              const std::function<bool(std::string_view)>* on_data) {
        CRATER_TRY(url, parse_url(request.url));
        CRATER_TRY(head, head_of(request, url));
        const std::string place = (is_secure(url) ? "s" : "p") + authority(url);
        for (;;) {
            auto found = kept.extract(place);
            if (found && !is_quiet(*found.mapped())) found = {};
            const bool reused = !found.empty();
            std::unique_ptr<Kept> c;
            if (reused) {
                c = std::move(found.mapped());
            } else {
                CRATER_TRY(stream, open(url, std::chrono::steady_clock::now() + request.timeout));
                c = std::make_unique<Kept>(Kept{std::move(stream), {}});
            }
            bool keep = false;
            CRATER_TRY(outcome, exchange(*c, request, head, on_data, keep));
            if (auto* response = std::get_if<HttpResponse>(&outcome)) {
                if (keep) kept.insert_or_assign(place, std::move(c));
                return std::move(*response);
            }
            if (!reused || !may_repeat(request))
                return fail(Code::unavailable, authority(url) + " closed the connection without an answer: " +
                                                   std::get<Broken>(outcome).why);
        }
    }

    const ClientOptions options;
    asio::io_context context{1};
    TlsContext tls;
    std::map<std::string, std::unique_ptr<Kept>> kept;
    std::atomic<bool> cancelled = false;
};

HttpClient::HttpClient(ClientOptions options) : state_(std::make_unique<State>(std::move(options))) {}
HttpClient::~HttpClient() = default;

Result<HttpResponse> HttpClient::send(const ClientRequest& request) { return state_->send(request, nullptr); }
Result<HttpResponse> HttpClient::stream(const ClientRequest& request,
                                        const std::function<bool(std::string_view)>& on_data) {
    return state_->send(request, &on_data);
}
void HttpClient::cancel() {
    state_->cancelled = true;
    asio::post(state_->context, [] {});
}

}  // namespace crater::wire
