#include <nlohmann/json.hpp>
#include <set>

#include "api/pattern.h"
#include "crater/wire/route.h"
#include "net/message.h"
#include "net/text.h"

namespace crater::wire {
namespace {

using Json = nlohmann::json;

// Schemas may bring `$defs`; in the document these live under components, and references to them follow.
class Components {
  public:
    explicit Components(Json& schemas) : schemas_(schemas) {}

    Json adopt(Json schema) {
        if (const auto defs = schema.find("$defs"); defs != schema.end()) {
            const Json moved = std::move(*defs);
            schema.erase("$defs");
            for (const auto& [name, def] : moved.items())
                if (!schemas_.contains(name)) schemas_[name] = adopt(def);
        }
        redirect(schema);
        return schema;
    }

  private:
    static void redirect(Json& node) {
        constexpr std::string_view from = "#/$defs/";
        if (node.is_object()) {
            if (const auto ref = node.find("$ref"); ref != node.end() && ref->is_string()) {
                const auto text = ref->get<std::string>();
                if (text.starts_with(from)) *ref = "#/components/schemas/" + text.substr(from.size());
            }
        }
        if (node.is_structured())
            for (auto& child : node) redirect(child);
    }

    Json& schemas_;
};

Json error_schema() {
    const auto text = [](const char* help) { return Json{{"type", "string"}, {"description", help}}; };
    Json codes = Json::array();
    for (const CodeRow& row : code_table()) codes.push_back(row.name);
    return {{"type", "object"},
            {"required", {"error"}},
            {"properties",
             {{"error",
               {{"type", "object"},
                {"required", {"code", "message"}},
                {"properties",
                 {{"code", {{"type", "string"}, {"enum", codes}, {"description", "What kind of refusal."}}},
                  {"message", text("What was found and what is allowed, a sentence.")},
                  {"field", text("Dotted path of the offending field or name of the parameter.")},
                  {"hint", text("What to do.")}}}}}}}};
}

struct Refusal {
    int status;
    const char* help;
};
constexpr Refusal refusals[] = {
    {400, "Malformed: syntax, an unknown key or parameter, a value out of range."},
    {401, "No token, or an unknown one."},
    {403, "The token's role does not allow it."},
    {404, "There is no such thing."},
    {409, "It exists with another content, or its state does not allow it."},
    {413, "The body is too large."},
    {422, "It can never be satisfied."},
    {429, "Too many: try later."},
    {500, "A mistake of the server."},
    {503, "Not the leader, or not ready: try later."}};

std::string component_name(int status) { return "Error" + std::to_string(status); }

Json error_answers() {
    Json out = Json::object();
    for (const Refusal& r : refusals) {
        Json& answer = out[component_name(r.status)];
        answer = {
            {"description", r.help},
            {"content", {{"application/json", {{"schema", {{"$ref", "#/components/schemas/Error"}}}}}}}};
        if (r.status == 429 || r.status == 503)
            answer["headers"]["Retry-After"] = {{"description", "Seconds to wait."},
                                                {"schema", {{"type", "integer"}}}};
    }
    return out;
}

bool can_refuse(const Route& route, const Refusal& refusal) {
    const bool writes = route.method != "GET";
    switch (refusal.status) {
        case 401:
        case 403: return route.roles != 0;
        case 404: return route.path.find('{') != std::string_view::npos;
        case 409: return writes;
        case 413:
        case 422: return route.request_schema != nullptr;
        case 429: return route.method == "POST";
        default: return true;
    }
}

Json answers_of(const Route& route, Components& components) {
    Json good{{"description", "Done."}};
    const std::string type(route.response_type);
    if (route.response_schema != nullptr)
        good["content"][type]["schema"] = components.adopt(route.response_schema());
    else if (type != "application/json")
        good["content"][type]["schema"] = {{"type", "string"}};
    Json out{{"200", good}};
    if (route.method == "POST" && route.takes_idempotency_key) {
        good["description"] = "Made.";
        out["201"] = good;
        out["200"]["description"] = "Done, now or by an earlier call with the same key.";
    }
    for (const Refusal& r : refusals)
        if (can_refuse(route, r))
            out[std::to_string(r.status)] = {{"$ref", "#/components/responses/" + component_name(r.status)}};
    return out;
}

Json parameters_of(const Route& route) {
    Json out = Json::array();
    const auto add = [&](std::string name, const char* place, bool required, Json help) {
        Json parameter{{"name", std::move(name)}, {"in", place}, {"schema", {{"type", "string"}}}};
        if (required) parameter["required"] = true;
        if (!help.is_null()) parameter["description"] = std::move(help);
        out.push_back(std::move(parameter));
    };
    for (const auto segment : path_segments(route.path)) {
        if (!is_parameter(segment)) continue;
        add(parameter_name(segment), "path", true, is_rest(segment) ? Json("May hold slashes.") : Json());
    }
    for (const QueryParameter& q : route.query)
        add(std::string(q.name), "query", false, q.help.empty() ? Json() : Json(q.help));
    if (route.takes_idempotency_key)
        add("Idempotency-Key", "header", false,
            "The same key and body again give the same answer; another body is a conflict.");
    return out;
}

// {path*} is written {path}.
std::string plain_path(std::string_view path) {
    std::string out;
    for (const auto segment : path_segments(path))
        out.append("/").append(is_parameter(segment) ? "{" + parameter_name(segment) + "}"
                                                     : std::string(segment));
    return out.empty() ? "/" : out;
}

Json roles_of(RoleSet roles, std::span<const std::string_view> names) {
    Json out = Json::array();
    for (unsigned bit = 0; bit < 32; ++bit) {
        if ((roles >> bit & 1u) == 0) continue;
        out.push_back(bit < names.size() ? Json(names[bit]) : Json(bit));
    }
    return out;
}

Json operation_of(const Route& route, std::span<const std::string_view> role_names, Components& components) {
    Json out{{"operationId", route.operation}, {"summary", route.summary}};
    if (!route.tag.empty()) out["tags"] = {route.tag};
    if (Json parameters = parameters_of(route); !parameters.empty())
        out["parameters"] = std::move(parameters);
    if (route.request_schema != nullptr)
        out["requestBody"] = {
            {"required", true},
            {"content", {{"application/json", {{"schema", components.adopt(route.request_schema())}}}}}};
    out["responses"] = answers_of(route, components);
    out["x-roles"] = roles_of(route.roles, role_names);
    if (route.roles == 0) out["security"] = Json::array();  // no token needed
    return out;
}

}  // namespace

std::string openapi(std::span<const Route> routes, std::string_view title, std::string_view version,
                    std::span<const std::string_view> role_names) {
    Json document{{"openapi", "3.1.0"},
                  {"info", {{"title", title}, {"version", version}}},
                  {"security", {{{"bearer", Json::array()}}}},
                  {"paths", Json::object()},
                  {"components",
                   {{"schemas", {{"Error", error_schema()}}},
                    {"responses", error_answers()},
                    {"securitySchemes", {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
    Components components(document["components"]["schemas"]);
    std::set<std::string> operations, tags;
    for (const Route& route : routes) {
        CRATER_CHECK(operations.emplace(route.operation).second, route.operation);
        Json& operation = document["paths"][plain_path(route.path)][lower(route.method)];
        CRATER_CHECK(operation.is_null(), route.path);
        operation = operation_of(route, role_names, components);
        if (!route.tag.empty()) tags.emplace(route.tag);
    }
    for (const auto& tag : tags) document["tags"].push_back({{"name", tag}});
    return document.dump();
}

}  // namespace crater::wire
