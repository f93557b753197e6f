// The routes of an API, each declared once: method, path, who may call, what it takes and answers. One table feeds the router, the
// permission check, the check for unknown query parameters, openapi.json, the docs and the CLI's help.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
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
    std::string_view path;  // "/api/v1/jobs/{id}/why"; a last "{path*}" takes the rest
    RoleSet roles = 0;      // 0 = anyone
    std::string_view operation;  // unique: "get_job_why"
    std::string_view summary;
    std::vector<QueryParameter> query = {};
    nlohmann::json (*request_schema)() = nullptr;
    nlohmann::json (*response_schema)() = nullptr;
    std::string_view tag = {};
    bool takes_idempotency_key = false;
};

struct Match {
    const Route* route = nullptr;
    std::map<std::string, std::string> parameters;  // from the path, decoded
};

class Router {
  public:
    explicit Router(std::span<const Route> routes);
    // not_found names the nearest path; a path with another method is Code::invalid with 405 and Allow.
    Result<Match> match(const HttpRequest& request) const;
    // Unknown query parameters are errors that name the known ones.
    static Result<void> check_query(const Route& route, const HttpRequest& request);

  private:
    std::vector<const Route*> routes_;
};

// OpenAPI 3.1 document of the routes.
std::string openapi(std::span<const Route> routes, std::string_view title, std::string_view version);

}  // namespace crater::wire
