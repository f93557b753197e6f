#include "net/text.h"

#include "crater/base/ids.h"

namespace crater::wire {
namespace {

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

Result<std::string> decoded(std::string_view text, bool query) {
    auto out = percent_decoded(text, query);
    if (!out) return fail(Code::invalid, "a % in the URL is not followed by two hexadecimal digits");
    if (!valid_utf8(*out) || out->find('\0') != std::string::npos)
        return fail(Code::invalid, "the URL is not UTF-8 text");
    return std::move(*out);
}

Result<void> read_query(std::string_view text, std::map<std::string, std::string>& out) {
    while (!text.empty()) {
        const std::size_t end = text.find('&');
        const std::string_view item = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (item.empty()) continue;
        const std::size_t equals = item.find('=');
        CRATER_TRY(key, decoded(item.substr(0, equals), true));
        CRATER_TRY(value, decoded(equals == std::string_view::npos ? "" : item.substr(equals + 1), true));
        const auto [it, fresh] = out.emplace(std::move(key), std::move(value));
        if (!fresh)
            return fail(Code::invalid, "the query parameter is given twice", it->first, "give it once");
    }
    return {};
}

}  // namespace

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus_is_space) {
            out += ' ';
        } else if (text[i] != '%') {
            out += text[i];
        } else {
            const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
            if (high < 0 || low < 0) return std::nullopt;
            out += static_cast<char>(high * 16 + low);
            i += 2;
        }
    }
    return out;
}

std::vector<std::string_view> path_segments(std::string_view path) {
    std::vector<std::string_view> out;
    while (!path.empty()) {
        path.remove_prefix(1);  // the slash
        const std::size_t end = std::min(path.find('/'), path.size());
        out.push_back(path.substr(0, end));
        path.remove_prefix(end);
    }
    return out;
}

Result<void> read_target(std::string_view target, HttpRequest& out) {
    for (const std::string_view scheme : {"http://", "https://"}) {  // the form for proxies
        if (!target.starts_with(scheme)) continue;
        target.remove_prefix(scheme.size());
        target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
        if (target.empty()) target = "/";
    }
    target = target.substr(0, target.find('#'));
    const std::size_t question = target.find('?');
    out.raw_path = std::string(target.substr(0, question));
    if (out.raw_path.empty() && question == 0) out.raw_path = "/";
    if (out.raw_path == "*" && out.method == "OPTIONS")
        out.path = "*";
    else if (!out.raw_path.starts_with('/'))
        return fail(Code::invalid, "the path of a request begins with /");
    CRATER_TRY(path, decoded(out.raw_path, false));
    if (path != "*") {
        for (const std::string_view segment : path_segments(path))
            if (segment == "..") return fail(Code::invalid, "the path of a request holds no .. segment");
    }
    out.path = std::move(path);
    if (question == std::string_view::npos) return {};
    return read_query(target.substr(question + 1), out.query);
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
    out.append(name).append(": ");
    for (const char c : value) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    out.append("\r\n");
}

bool is_token(std::string_view text) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    for (const char c : text) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && marks.find(c) == std::string_view::npos) return false;
    }
    return !text.empty();
}

}  // namespace crater::wire
