// The routes of an API, each declared once: method, path, who may call, what it takes and answers. One table
// feeds the router, the permission check, the check for unknown query parameters, openapi.json, the docs and
// the CLI's help.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crater/wire/http.h"

namespace crater::wire {

struct QueryParameter {
    std::string_view name, help;
};

// Who may call, as a set of role bits; `anyone` needs no token.
using RoleSet = unsigned;

struct Route {
    std::string_view method;
    std::string_view path;       // "/api/v1/jobs/{id}/why"; a last "{path*}" takes the rest
    RoleSet roles = 0;           // 0 = anyone
    std::string_view operation;  // unique: "get_job_why"
    std::string_view summary;
    std::vector<QueryParameter> query = {};
    nlohmann::json (*request_schema)() = nullptr;
    nlohmann::json (*response_schema)() = nullptr;
    std::string_view tag = {};
    bool takes_idempotency_key = false;
    std::string_view response_type = "application/json";  // text/event-stream, text/plain, ...
};

struct Match {
    const Route* route = nullptr;
    std::map<std::string, std::string> parameters;  // from the path, decoded
};

// Thread-safe once made. The most particular path wins: a literal segment before {name} before {name*},
// whatever the order of the rows. Two rows for the same method and path are our own mistake (CRATER_CHECK).
// HEAD is served by GET. A slash at the end does not count.
class Router {
  public:
    explicit Router(std::span<const Route> routes);  // which outlive the router
    // not_found names the nearest path; a path that has other methods is Code::invalid: `refusal` makes a 405
    // of it.
    Result<Match> match(const HttpRequest& request) const;
    // The methods that a path has: "GET, HEAD, PUT"; "" for a path that is not there.
    std::string allowed(const HttpRequest& request) const;
    // The answer to a request that `match` refused: 404, or 405 with Allow.
    HttpResponse refusal(const HttpRequest& request, const Error& error) const;
    // Unknown query parameters are errors that name the known ones.
    static Result<void> check_query(const Route& route, const HttpRequest& request);

  private:
    struct Pattern {
        const Route* route;
        std::vector<std::string> segments;  // "jobs", "{id}", "{path*}"
    };
    std::vector<Pattern> patterns_;  // the most particular first
};

// OpenAPI 3.1 document of the routes. `role_names[i]` is the role of bit i, for `x-roles`; without names the
// bits are numbered.
std::string openapi(std::span<const Route> routes, std::string_view title, std::string_view version,
                    std::span<const std::string_view> role_names = {});

}  // namespace crater::wire
