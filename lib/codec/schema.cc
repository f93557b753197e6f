#include <nlohmann/json.hpp>

#include "crater/base/ids.h"
#include "crater/codec/codec.h"
#include "fields.h"
#include "units.h"

namespace crater::codec {
namespace {

constexpr int nesting_max = 12;  // a type that holds itself ends here

// Hands a fresh object of the structure to `use`.
template <class Use>
void with_fresh(const Type& type, Use use) {
    type.with_fresh([](void* context, void* object) { (*static_cast<Use*>(context))(object); }, &use);
}

Json number_range(Json schema, const FieldOptions& options) {
    if (!in_range_checked(options)) return schema;
    const auto bound = [](double v) {
        return v == static_cast<double>(static_cast<std::int64_t>(v)) ? Json(static_cast<std::int64_t>(v))
                                                                      : Json(v);
    };
    schema["minimum"] = bound(options.minimum);
    schema["maximum"] = bound(options.maximum);
    return schema;
}

Json amount_schema(Kind kind, std::string_view name) {
    if (const Unit* unit = unit_in(kind, name)) {
        const bool whole = unit->divide == 1 || unit->whole;
        return {{"type", whole ? "integer" : "number"}, {"minimum", 0}};
    }
    const Json mixed = Json::array({"string", "number"});
    switch (kind) {
        case Kind::bytes: return {{"type", mixed}, {"examples", {"40Gi", "512MB", 1048576}}};
        case Kind::mebibytes: return {{"type", mixed}, {"examples", {"16Gi", 16384}}};
        case Kind::bytes_per_second: return {{"type", mixed}, {"examples", {"140GB/s", "500MB/s", 140}}};
        case Kind::millis: return {{"type", mixed}, {"examples", {"30s", "1h30m", "01:00:00", 90}}};
        case Kind::milli_cpu: return {{"type", mixed}, {"examples", {8, 0.5, "500m"}}};
        case Kind::milli_gpu: return {{"type", mixed}, {"examples", {4, 0.5, "500m"}}};
        case Kind::micros: return {{"type", mixed}, {"examples", {150, "150us"}}};
        case Kind::instant: return {{"type", "string"}, {"format", "date-time"}};
        default: return {{"type", "integer"}, {"minimum", 0}};
    }
}

Json schema_of(const Type& type, std::string_view name, const FieldOptions& options, int depth);

Json structure_schema(const Type& type, int depth) {
    Json schema{{"type", "object"}};
    if (depth >= nesting_max) return schema;
    Json properties = Json::object(), required = Json::array();
    with_fresh(type, [&](void* object) {
        for (const auto& info : FieldList(type, object, true).fields) {
            Json property = schema_of(*info.type, info.name, info.options, depth + 1);
            property["description"] = info.help;
            if (!info.options.alias.empty()) {
                Json aliases = Json::array();
                each_alias(info.options.alias, [&](std::string_view alias) { aliases.push_back(alias); });
                property["x-aliases"] = std::move(aliases);
            }
            if (info.options.secret) property["writeOnly"] = true;
            if (info.options.required) required.push_back(info.name);
            properties[std::string(info.name)] = std::move(property);
        }
    });
    schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    schema["additionalProperties"] = false;
    return schema;
}

Json schema_of(const Type& type, std::string_view name, const FieldOptions& options, int depth) {
    switch (type.kind) {
        case Kind::text: return {{"type", "string"}};
        case Kind::boolean: return {{"type", "boolean"}};
        case Kind::integer: return number_range({{"type", "integer"}}, options);
        case Kind::real: return number_range({{"type", "number"}}, options);
        case Kind::enumeration: {
            Json names = Json::array();
            for (std::size_t i = 0; i < type.rows(); ++i)
                if (!type.row(i).name.empty()) names.push_back(type.row(i).name);
            return {{"type", "string"}, {"enum", std::move(names)}};
        }
        case Kind::custom: return {{"type", Json::array({"string", "number"})}};
        case Kind::custom_list: {
            Json schema{{"type", "array"}, {"items", {{"type", "string"}}}};
            if (type.from_text != nullptr) schema["type"] = Json::array({"array", "string"});
            return schema;
        }
        case Kind::structure: return structure_schema(type, depth);
        case Kind::optional: return schema_of(*type.element, name, options, depth);
        case Kind::list:
            return {{"type", "array"}, {"items", schema_of(*type.element, name, options, depth + 1)}};
        case Kind::map:
            return {{"type", "object"},
                    {"additionalProperties", schema_of(*type.element, name, options, depth + 1)}};
        default: return amount_schema(type.kind, name);
    }
}

std::string type_words(const Type& type, std::string_view name);

std::string plural_words(const Type& type, std::string_view name) {
    switch (type.kind) {
        case Kind::text: return "texts";
        case Kind::structure: return "objects";
        case Kind::integer: return "whole numbers";
        case Kind::real: return "numbers";
        default: return type_words(type, name);
    }
}

std::string type_words(const Type& type, std::string_view name) {
    switch (type.kind) {
        case Kind::text: return "text";
        case Kind::boolean: return "true or false";
        case Kind::integer: return "whole number";
        case Kind::real: return "number";
        case Kind::enumeration: {
            std::string out;
            for (std::size_t i = 0; i < type.rows(); ++i)
                if (const auto row = type.row(i).name; !row.empty())
                    out.append(out.empty() ? "" : ", ").append("`").append(row).append("`");
            return out;
        }
        case Kind::custom: return "text or number";
        case Kind::custom_list: return type.from_text != nullptr ? "text or list of texts" : "list of texts";
        case Kind::structure: return "object";
        case Kind::optional: return type_words(*type.element, name);
        case Kind::list: return "list of " + plural_words(*type.element, name);
        case Kind::map: return "object of " + plural_words(*type.element, name);
        default: break;
    }
    if (const Unit* unit = unit_in(type.kind, name)) return "number of " + std::string(unit->label);
    switch (type.kind) {
        case Kind::bytes: return "size, as `40Gi`";
        case Kind::mebibytes: return "size, as `16Gi`; a bare number is MiB";
        case Kind::bytes_per_second: return "bandwidth, as `500MB/s`; a bare number is GB/s";
        case Kind::millis: return "time, as `30s`; a bare number is seconds";
        case Kind::milli_cpu:
        case Kind::milli_gpu: return "number, as `8` or `0.5`";
        case Kind::iops: return "operations per second";
        case Kind::micros: return "µs";
        default: return "RFC 3339 time";
    }
}

std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

// The value a fresh object has, "" when it has none.
std::string default_words(const FieldInfo& info) {
    if (info.options.required) return "required";
    if (info.type->kind == Kind::map || info.type->kind == Kind::list || info.type->kind == Kind::structure ||
        info.options.secret)
        return {};
    if (info.type->kind == Kind::optional && info.type->size(info.member) == 0) return {};
    std::string json;
    detail::write(json, info.member, *info.type, {});
    const Unit* unit = unit_in(info.type->kind, info.name);
    if (unit != nullptr) {
        json.clear();
        append_amount(json, info.type->kind, info.type->get(info.member), info.name);
    }
    if (json.size() >= 2 && json.front() == '"') json = json.substr(1, json.size() - 2);
    if (json.empty() || json == "[]") return {};
    return "`" + json + "`";
}

void append_rows(std::string& out, const Type& type, const std::string& prefix, int depth) {
    with_fresh(type, [&](void* object) {
        for (const auto& info : FieldList(type, object, true).fields) {
            std::string key = prefix + std::string(info.name);
            const Type* inner = info.type;
            std::string inner_prefix = key;
            while (inner->element != nullptr) {
                if (inner->kind == Kind::list) inner_prefix += "[]";
                if (inner->kind == Kind::map) inner_prefix += ".NAME";
                inner = inner->element;
            }
            std::string help(info.help);
            if (!info.options.alias.empty()) {
                std::string also;
                each_alias(info.options.alias, [&](std::string_view alias) {
                    also.append(also.empty() ? "" : ", ").append("`").append(alias).append("`");
                });
                help += " Also " + also + ".";
            }
            if (in_range_checked(info.options)) {
                const auto number = [](double v) {
                    return v == static_cast<double>(static_cast<std::int64_t>(v))
                               ? decimal_text(static_cast<std::int64_t>(v))
                               : decimal_text(v);
                };
                help += " " + number(info.options.minimum) + " to " + number(info.options.maximum) + ".";
            }
            out += "| `" + key + "` | " + cell(type_words(*info.type, info.name)) + " | " +
                   cell(default_words(info)) + " | " + cell(help) + " |\n";
            if (inner->kind == Kind::structure && depth < nesting_max)
                append_rows(out, *inner, inner_prefix + ".", depth + 1);
        }
    });
}

}  // namespace

namespace detail {

Json schema(const Type& type) { return schema_of(type, {}, {}, 0); }

std::string markdown(const Type& type) {
    const Type* inner = &type;
    while (inner->element != nullptr) inner = inner->element;
    std::string out = "| Key | Type | Default | Meaning |\n|---|---|---|---|\n";
    if (inner->kind == Kind::structure) append_rows(out, *inner, "", 0);
    return out;
}

}  // namespace detail
}  // namespace crater::codec
