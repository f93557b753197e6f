#include "api/pattern.h"
#include "crater/base/ids.h"
#include "crater/wire/route.h"
#include "net/text.h"

namespace crater::wire {
namespace {

using Segments = std::vector<std::string_view>;

// A slash at the end, and only one, is forgiven.
Segments segments_of(std::string_view path) {
    Segments out = path_segments(path);
    if (!out.empty() && out.back().empty()) out.pop_back();
    return out;
}

// The segments of a request, decoded each for itself. A handler may have taken a prefix off `path`: then it
// comes off `raw_path` too. Without a fitting raw path (a request made by hand) `path` is taken as it is.
std::vector<std::string> decoded_segments(const HttpRequest& request) {
    std::string_view raw = request.raw_path;
    const std::size_t whole = percent_decoded(raw).value_or("").size();
    if (whole > request.path.size()) raw.remove_prefix(std::min(whole - request.path.size(), raw.size()));
    const bool fitting = percent_decoded(raw) == request.path;
    std::vector<std::string> out;
    for (const auto segment : segments_of(fitting ? raw : std::string_view(request.path)))
        out.push_back(fitting ? *percent_decoded(segment) : std::string(segment));
    return out;
}

// Literal before parameter before rest.
int looseness(std::string_view segment) { return is_rest(segment) ? 2 : is_parameter(segment) ? 1 : 0; }

bool more_particular(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        if (looseness(a[i]) != looseness(b[i])) return looseness(a[i]) < looseness(b[i]);
    return a.size() > b.size();
}

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& segments) {
    const bool open = !pattern.empty() && is_rest(pattern.back());
    if (open ? segments.size() < pattern.size() : segments.size() != pattern.size()) return false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (is_rest(pattern[i])) return true;
        if (is_parameter(pattern[i])) {
            if (segments[i].empty()) return false;
        } else if (pattern[i] != segments[i]) {
            return false;
        }
    }
    return true;
}

std::map<std::string, std::string> parameters_of(const std::vector<std::string>& pattern,
                                                 const std::vector<std::string>& segments) {
    std::map<std::string, std::string> out;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (!is_parameter(pattern[i])) continue;
        std::string value;
        if (is_rest(pattern[i])) {
            for (std::size_t k = i; k < segments.size(); ++k)
                value.append(k > i ? "/" : "").append(segments[k]);
        } else {
            value = segments[i];
        }
        out.emplace(parameter_name(pattern[i]), std::move(value));
    }
    return out;
}

bool serves(const Route& route, std::string_view method) {
    return route.method == method || (method == "HEAD" && route.method == "GET");
}

}  // namespace

Router::Router(std::span<const Route> routes) {
    for (const Route& route : routes) {
        Pattern pattern{&route, {}};
        for (const auto segment : segments_of(route.path)) {
            CRATER_CHECK(pattern.segments.empty() || !is_rest(pattern.segments.back()), route.path);
            pattern.segments.emplace_back(segment);
        }
        for (const Pattern& other : patterns_)
            CRATER_CHECK(other.route->method != route.method || other.route->path != route.path, route.path);
        patterns_.push_back(std::move(pattern));
    }
    std::stable_sort(patterns_.begin(), patterns_.end(), [](const Pattern& a, const Pattern& b) {
        return more_particular(a.segments, b.segments);
    });
}

Result<Match> Router::match(const HttpRequest& request) const {
    const auto segments = decoded_segments(request);
    bool path_known = false;
    for (const Pattern& pattern : patterns_) {
        if (!fits(pattern.segments, segments)) continue;
        if (serves(*pattern.route, request.method))
            return Match{pattern.route, parameters_of(pattern.segments, segments)};
        path_known = true;
    }
    if (path_known)
        return fail(Code::invalid, request.method + " is not possible on " + request.path, {},
                    "possible: " + allowed(request));
    std::vector<std::string_view> paths;
    for (const Pattern& pattern : patterns_) paths.push_back(pattern.route->path);
    const std::string near = nearest(request.path, paths);
    return fail(Code::not_found, "there is nothing at " + request.path, {},
                near.empty() ? "" : "did you mean " + near + "?");
}

std::string Router::allowed(const HttpRequest& request) const {
    const auto segments = decoded_segments(request);
    std::vector<std::string_view> methods;
    for (const Pattern& pattern : patterns_) {
        if (!fits(pattern.segments, segments)) continue;
        methods.push_back(pattern.route->method);
        if (pattern.route->method == "GET") methods.push_back("HEAD");
    }
    std::sort(methods.begin(), methods.end());
    methods.erase(std::unique(methods.begin(), methods.end()), methods.end());
    std::string out;
    for (const auto method : methods) out.append(out.empty() ? "" : ", ").append(method);
    return out;
}

HttpResponse Router::refusal(const HttpRequest& request, const Error& error) const {
    HttpResponse out = error_response(error);
    if (error.code != Code::invalid) return out;
    out.status = 405;
    out.headers.emplace_back("Allow", allowed(request));
    return out;
}

Result<void> Router::check_query(const Route& route, const HttpRequest& request) {
    for (const auto& [key, value] : request.query) {
        std::vector<std::string_view> known;
        for (const QueryParameter& p : route.query) known.push_back(p.name);
        if (std::find(known.begin(), known.end(), key) != known.end()) continue;
        std::string hint;
        if (const std::string near = nearest(key, known); !near.empty()) hint = "did you mean " + near + "? ";
        if (known.empty()) {
            hint += "it takes none";
        } else {
            hint += "known:";
            for (const auto name : known) hint.append(name == known.front() ? " " : ", ").append(name);
        }
        return fail(Code::invalid, "unknown query parameter", key, std::move(hint));
    }
    return {};
}

}  // namespace crater::wire
