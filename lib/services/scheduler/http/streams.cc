// Answers that stay open: logs, live events, the agents' links.
#include <atomic>

#include "api_impl.h"
#include "crater/wire/link.h"

namespace crater::scheduler {
namespace {

std::string sse(const api::EventView& event) {
    return "id: " + std::to_string(event.sequence) + "\nevent: " + event.kind +
           "\ndata: " + codec::write_json(event) + "\n\n";
}

// Keeps the last `lines` lines of what passes; used for ?tail=N.
std::string last_lines(const std::string& text, std::int64_t lines) {
    std::size_t at = text.size();
    if (at > 0 && text[at - 1] == '\n') --at;
    while (lines > 0 && at > 0) {
        at = text.rfind('\n', at - 1);
        if (at == std::string::npos) return text;
        --lines;
    }
    return at == 0 ? text : text.substr(at + 1);
}

// A tail is cut from at most this much of the log's end.
constexpr std::int64_t tail_window_bytes = 4 << 20;

struct EventFilter {
    std::string kinds, subject;
    bool takes(const api::EventView& event) const {
        return (kinds.empty() || ("," + kinds + ",").find("," + event.kind + ",") != std::string::npos) &&
               (subject.empty() || subject == event.subject);
    }
};

}  // namespace

void HttpApi::Impl::keep(std::shared_ptr<wire::HttpStream> stream) {
    std::lock_guard lock(streams_mutex_);
    streams_.insert(std::move(stream));
}

void HttpApi::Impl::close_streams() {
    closing_ = true;
    std::set<std::shared_ptr<wire::HttpStream>> streams;
    {
        std::lock_guard lock(streams_mutex_);
        streams.swap(streams_);
    }
    for (const auto& stream : streams) stream->close();
}

// With ?tail=N the answer begins with the last N lines: what comes before the first pause of the log is
// gathered and cut.
void HttpApi::Impl::get_job_logs(CallPtr call) {
    auto job = visible_job(*call, call->parameter("id"));
    auto task = number_of(*call, "task", 0, 0, 1 << 20);
    auto attempt = number_of(*call, "attempt", 0, 0, 1 << 20);
    auto offset = number_of(*call, "offset", 0, 0, std::int64_t{1} << 52);
    auto tail = number_of(*call, "tail", -1, 0, 1'000'000);
    if (!job) return call->fail(job.error());
    for (const auto* parameter : {&task, &attempt, &offset, &tail})
        if (!*parameter) return call->fail(parameter->error());
    const std::string follow = call->query("follow", "false");
    if (follow != "true" && follow != "false")
        return call->fail({Code::invalid, "\"" + follow + "\" is neither true nor false", "follow", ""});

    LogQuery query{.job = (*job)->id(),
                   .task = *task,
                   .attempt = *attempt,
                   .offset = *offset,
                   .tail_bytes = *tail >= 0 ? tail_window_bytes : -1,
                   .follow = follow == "true"};
    on_loop([self = shared_from_this(), call, query, lines = *tail] {
        struct Answer {
            std::shared_ptr<wire::HttpStream> stream;
            std::string gathered;  // for the tail, or until the first byte shows that there is a log
            bool cut = false;
            std::atomic<std::uint64_t> handle = 0;
        };
        auto answer = std::make_shared<Answer>();
        const auto open = [self, call, answer] {
            if (answer->stream) return;
            answer->stream = call->responder->stream(
                {.content_type = "text/plain; charset=utf-8", .headers = {{"X-Accel-Buffering", "no"}}});
            self->keep(answer->stream);
            answer->stream->on_closed([self, answer] {
                self->on_loop([self, answer] { self->scheduler_.stop_log(answer->handle); });
                std::lock_guard lock(self->streams_mutex_);
                self->streams_.erase(answer->stream);
            });
        };
        const auto flush = [answer, open, lines] {
            open();
            if (!answer->gathered.empty())
                answer->stream->write(lines >= 0 && !answer->cut ? last_lines(answer->gathered, lines)
                                                                 : answer->gathered);
            answer->gathered.clear();
            answer->cut = true;
        };
        answer->handle = self->scheduler_.log(
            query,
            [self, answer, flush, lines](std::string data) {
                answer->gathered += data;
                if (lines < 0 || answer->cut) return flush();
                // The window of the tail arrives in pieces one after another; a short pause ends it.
                self->loop_.after(Millis(150), [answer, flush] {
                    if (!answer->cut) flush();
                });
            },
            [call, answer, flush](Result<void> end) {
                if (!end && !answer->stream && answer->gathered.empty()) return call->fail(end.error());
                flush();
                answer->stream->close();
            });
        // A followed log that is still silent: the head goes out so that the caller knows it is connected.
        if (query.follow)
            self->loop_.after(Millis(500), [answer, open] {
                if (!answer->cut && answer->gathered.empty()) open();
            });
    });
}

void HttpApi::Impl::stream_events(CallPtr call) {
    auto since = number_of(*call, "since", -1, 0, std::int64_t{1} << 52);
    if (!since) return call->fail(since.error());
    if (const std::string last = call->header("last-event-id"); !last.empty()) {
        auto number = parse_number(last);
        if (!number || *number < 0)
            return call->fail({Code::invalid, "\"" + last + "\" is no sequence number", "Last-Event-ID", ""});
        since = static_cast<std::int64_t>(*number);
    }
    auto stream =
        call->responder->stream({.content_type = "text/event-stream",
                                 .headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}}});
    const EventFilter filter{call->query("kind"), call->query("subject")};
    const auto wanted = [self = shared_from_this(), filter,
                         actor = call->actor](const api::EventView& event) {
        if (!filter.takes(event)) return false;
        if (actor.role != Role::tenant) return true;
        if (event.kind != "job") return event.kind == "cluster" || event.kind == "queue";
        auto job = self->scheduler_.read().job(event.subject);
        return job && may_see(actor, job->tenant());
    };

    // Subscribed before the backlog is read: an event may come twice, none is missed; the number tells them
    // apart.
    auto sent = std::make_shared<std::atomic<std::uint64_t>>(0);
    stream->write("retry: 2000\n\n");
    EventHub& hub = scheduler_.events();
    if (*since >= 0) {
        auto backlog = hub.after(static_cast<std::uint64_t>(*since));
        if (!backlog)
            stream->write("event: reset\ndata: {}\n\n");
        else
            for (const api::EventView& event : *backlog)
                if (wanted(event)) stream->write(sse(event)), *sent = event.sequence;
    }
    const std::uint64_t id = hub.subscribe([stream, wanted, sent](const api::EventView& event) {
        if (event.sequence > sent->load() && wanted(event)) stream->write(sse(event));
    });
    keep(stream);
    stream->on_closed([self = shared_from_this(), id, stream] {
        self->scheduler_.events().unsubscribe(id);
        std::lock_guard lock(self->streams_mutex_);
        self->streams_.erase(stream);
    });
}

void HttpApi::Impl::join_agent(CallPtr call) {
    call->fail({Code::invalid, "this address is for agents", "",
                "it speaks WebSocket: start crater-agent with --scheduler"});
}

Result<std::function<void(wire::WebSocketPtr)>> HttpApi::Impl::upgrade(const wire::HttpRequest& request) {
    wire::HttpRequest plain = request;
    strip_prefix(plain);
    CRATER_TRY(match, router_.match(plain));
    if (match.route->operation != "join_agent")
        return fail(Code::invalid, plain.path + " is no WebSocket", "", "/api/v1/agent is");
    CRATER_TRY(actor, authenticate(request));
    CRATER_TRY_VOID(authorise(*match.route, actor));
    std::function<void(wire::WebSocketPtr)> accept = [self = shared_from_this()](wire::WebSocketPtr socket) {
        self->on_loop([self, socket = std::move(socket)]() mutable {
            // The scheduler's callbacks own the link until it is closed, when the link lets go of them.
            auto link = std::make_shared<std::shared_ptr<wire::Link>>();
            auto callbacks = self->scheduler_.agent_link([link] { return *link; });
            *link = wire::websocket_link(self->loop_, std::move(socket), std::move(callbacks));
        });
    };
    return accept;
}

}  // namespace crater::scheduler
