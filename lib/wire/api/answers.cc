// The one error shape, written and read.
#include <nlohmann/json.hpp>

#include "crater/base/ids.h"
#include "crater/wire/http.h"
#include "net/text.h"

namespace crater::wire {
namespace {

using Json = nlohmann::json;

Code code_of_status(int status) {
    if (status == 408) return Code::timeout;
    if (status == 431) return Code::too_large;
    if (status == 502) return Code::unavailable;
    for (const CodeRow& row : code_table())
        if (row.http_status == status) return row.code;
    return status >= 400 && status < 500 ? Code::invalid : Code::internal;
}

std::string text_at(const Json& tree, const char* key) {
    const auto it = tree.find(key);
    return it != tree.end() && it->is_string() ? it->get<std::string>() : std::string();
}

// The text in the shapes that servers use: {error: "..."}, {message}, {msg}, {detail}.
std::string message_in(const Json& tree) {
    for (const char* key : {"message", "msg", "error", "error_description", "detail", "title"})
        if (auto text = text_at(tree, key); !text.empty()) return text;
    return {};
}

}  // namespace

HttpResponse error_response(const Error& error) {
    const CodeRow& row = code_row(error.code);
    HttpResponse out;
    out.status = row.http_status;
    out.body = R"({"error":{"code":)";
    append_json_string(out.body, row.name);
    out.body += R"(,"message":)";
    append_json_string(out.body, error.message.empty() ? row.name : error.message);
    if (!error.field.empty()) append_json_string(out.body += R"(,"field":)", error.field);
    if (!error.hint.empty()) append_json_string(out.body += R"(,"hint":)", error.hint);
    out.body += "}}";
    if (out.status == 429 || out.status == 503) out.headers.emplace_back("Retry-After", "5");
    if (out.status == 401) out.headers.emplace_back("WWW-Authenticate", "Bearer");
    return out;
}

HttpResponse json_response(std::string body, int status) {
    HttpResponse out;
    out.status = status;
    out.body = std::move(body);
    return out;
}

Error error_of(const HttpResponse& response) {
    Error out{code_of_status(response.status), {}, {}, {}};
    const Json tree = Json::parse(response.body, nullptr, false);
    if (tree.is_object()) {
        const auto error = tree.find("error");
        const Json& inner = error != tree.end() && error->is_object() ? *error : tree;
        out.message = message_in(inner);
        out.field = text_at(inner, "field");
        out.hint = text_at(inner, "hint");
        const std::string name = text_at(inner, "code");
        for (const CodeRow& row : code_table())
            if (row.name == name) out.code = row.code;
    } else if (tree.is_string()) {
        out.message = tree.get<std::string>();
    }
    if (out.message.empty()) {
        // Whatever else came: a proxy's page, plain text.
        const bool text = lower(response.content_type).starts_with("text/plain");
        out.message = "the server answered " + std::to_string(response.status);
        if (text && valid_utf8(response.body))
            out.message += ": " + response.body.substr(0, response.body.find('\n')).substr(0, 200);
    }
    return out;
}

}  // namespace crater::wire
