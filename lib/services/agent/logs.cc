#include "logs.h"

namespace crater::agent {
namespace {
constexpr std::size_t piece_bytes = 64 << 10;
constexpr Millis follow_interval{250};
}  // namespace

LogStreams::LogStreams(Loop& loop, run::Runtime& runtime, std::function<bool(const run::TaskId&)> alive,
                       Send send)
    : loop_(loop), runtime_(runtime), alive_(std::move(alive)), send_(std::move(send)) {}

LogStreams::~LogStreams() { cancel_all(); }

void LogStreams::open(const proto::LogRequest& request) {
    Stream stream{{request.job(), request.task(), request.attempt()}, request.offset(), request.follow(), 0};
    if (request.tail_bytes() >= 0) stream.offset = tail_offset(stream.id, request.tail_bytes());
    streams_[request.request()] = std::move(stream);
    pump(request.request());
}

void LogStreams::cancel(std::uint64_t request) {
    auto found = streams_.find(request);
    if (found == streams_.end()) return;
    loop_.cancel(found->second.timer);
    streams_.erase(found);
}

void LogStreams::cancel_all() {
    for (auto& [request, stream] : streams_) loop_.cancel(stream.timer);
    streams_.clear();
}

// One piece per turn of the loop, so that a long log does not hold up orders and heartbeats.
void LogStreams::pump(std::uint64_t request) {
    auto found = streams_.find(request);
    if (found == streams_.end()) return;
    Stream& stream = found->second;
    stream.timer = 0;

    const bool alive = alive_(stream.id);  // asked first: what is written before the end is then still read
    auto piece = runtime_.log(stream.id, stream.offset, piece_bytes);
    proto::LogChunk chunk;
    chunk.set_request(request);
    if (!piece && !(alive && stream.follow)) {
        chunk.set_end(true);
        chunk.set_error(piece.error().message);
    } else if (piece) {
        chunk.set_offset(stream.offset);
        chunk.set_data(piece->first);
        stream.offset = piece->second;
        chunk.set_end(piece->first.empty() && !(stream.follow && alive));
    }
    if (!chunk.data().empty() || chunk.end()) send_(chunk);
    if (chunk.end()) {
        streams_.erase(found);
        return;
    }
    stream.timer =
        loop_.after(chunk.data().empty() ? follow_interval : Millis(0), [this, request] { pump(request); });
}

std::int64_t LogStreams::tail_offset(const run::TaskId& id, std::int64_t tail_bytes) {
    std::int64_t end = 0;
    for (;;) {
        auto piece = runtime_.log(id, end, 1 << 20);
        if (!piece || piece->second <= end) break;
        end = piece->second;
    }
    return std::max<std::int64_t>(0, end - tail_bytes);
}

}  // namespace crater::agent
