#include "server/head.h"

#include <ctime>

#include "net/message.h"
#include "net/text.h"

namespace crater::wire {
namespace {

// IMF-fixdate, made once a second on each thread.
const std::string& date_now() {
    thread_local std::time_t made = 0;
    thread_local std::string text;
    const std::time_t now = std::time(nullptr);
    if (now != made) {
        made = now;
        std::tm utc{};
        ::gmtime_r(&now, &utc);
        char buffer[64];
        text.assign(buffer, std::strftime(buffer, sizeof buffer, "%a, %d %b %Y %H:%M:%S GMT", &utc));
    }
    return text;
}

// Ours to say.
bool is_framing(std::string_view name) {
    const std::string plain = lower(name);
    return plain == "content-length" || plain == "transfer-encoding" || plain == "connection" ||
           plain == "date";
}

}  // namespace

void write_head(std::string& out, const HttpResponse& response, Framing framing, bool keep_alive) {
    out.clear();
    out.append("HTTP/1.1 ")
        .append(std::to_string(response.status))
        .append(" ")
        .append(reason_phrase(response.status))
        .append("\r\n");
    out.append("Date: ").append(date_now()).append("\r\n");
    const bool bodyless = response.status == 204 || response.status == 304;
    bool typed = bodyless || response.content_type.empty();
    for (const auto& [name, value] : response.headers) {
        if (!is_token(name) || is_framing(name)) continue;
        typed = typed || lower(name) == "content-type";
        append_header(out, name, value);
    }
    if (!typed) append_header(out, "Content-Type", response.content_type);
    if (framing == Framing::chunked) out.append("Transfer-Encoding: chunked\r\n");
    if (framing == Framing::length && !bodyless)
        out.append("Content-Length: ").append(std::to_string(response.body.size())).append("\r\n");
    out.append(keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n");
}

}  // namespace crater::wire
