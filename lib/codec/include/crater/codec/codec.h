// Described structs (base/describe.h) from and to JSON and YAML, as JSON Schema and as a table for the docs.
// All functions are pure and callable from any thread. Errors are Code::invalid with the dotted path of the
// field, what was found, what is allowed and a hint; the first one only.
//
// Reading is strict: unknown keys, wrong types, fractions of whole things, negative amounts and values
// outside FieldOptions' range (in the type's own unit: bytes, MiB, ms) are errors. Keys may be written in
// snake_case, camelCase and with dashes. null counts as absent. A single value stands for a list of one. A
// field whose type has a unit also answers to its name with the unit behind it, and one whose described name
// already ends in a unit (also before _min or _max) is a plain number of that unit:
//
//   Bytes           memory: 16Gi, a bare number counts bytes; memory_bytes, _kb _mb _gb _tb (powers of 1000),
//   _kib _mib _gib _tib Mebibytes       memory: 16Gi, a bare number counts MiB; memory_mb = _mib, memory_gb =
//   _gib, memory_bytes; rounded up to MiB BytesPerSecond  bandwidth: 500MB/s, a bare number counts GB/s;
//   bandwidth_mbps, _gbps (10^6, 10^9 bytes/s), _bytes Millis          timeout: 30s, a bare number counts
//   seconds; timeout_ms, _seconds, _minutes, _hours, _days Micros          latency: a bare number counts µs,
//   or 150us, 2ms; latency_us, _ms; rounded up MilliCpu/Gpu    8, 0.5, "500m"; rules for requests (steps,
//   fractions below 1) are check_request's, not applied here
//
// Writing keeps the order of the description and leaves out empty texts, lists, maps, optionals, times that
// are `never`, and numbers that are not finite; everything else is written. Units are written as above:
// "16Gi", "30s", "142.3GB/s"; cores and cards as numbers; IOPS, µs and fields named with a unit as plain
// numbers; times as RFC 3339.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "crater/base/error.h"
#include "crater/codec/type.h"

namespace crater::codec {

using Json = nlohmann::json;

constexpr std::size_t document_bytes_max = 1 << 20;
constexpr int document_depth_max = 32;

// One document as a tree (callers that look into it include nlohmann/json.hpp). Refused: duplicate keys,
// numbers that overflow or are not finite, nesting deeper than document_depth_max, text that is not UTF-8
// (all Code::invalid, with line and column), more than `bytes_max` bytes (Code::too_large).
Result<Json> parse_json(std::string_view text, std::size_t bytes_max = document_bytes_max);
// The same of YAML 1.2 (core types); anchors, aliases, foreign tags and a second document are refused too. An
// empty document is {}.
Result<Json> parse_yaml(std::string_view text, std::size_t bytes_max = document_bytes_max);
// Sorted keys, no spaces: equal trees give equal text.
std::string canonical(const Json& tree);
// Block YAML that parse_yaml reads back to the same tree.
std::string to_yaml(const Json& tree);
// The same, keeping the order of keys of a JSON text as write_json makes it.
Result<std::string> yaml_of_json(std::string_view json);

struct ReadOptions {
    bool allow_unknown = false;  // for answers of a newer peer; never for what people write
};
struct WriteOptions {
    bool reveal = false;  // FieldOptions.secret in clear, for storage; else "***"
};

namespace detail {
Result<void> read(const Json& tree, void* object, const Type& type, std::string_view path,
                  ReadOptions options);
Result<void> read_text(std::string_view text, bool yaml, void* object, const Type& type, ReadOptions options);
void write(std::string& out, const void* object, const Type& type, WriteOptions options);
Json tree(const void* object, const Type& type, WriteOptions options);
Json schema(const Type& type);
std::string markdown(const Type& type);
}  // namespace detail

// Fields absent from the tree keep what `out` holds. After an error `out` may be partly changed.
template <class T>
Result<void> read_into(T& out, const Json& tree, std::string_view path = {}, ReadOptions options = {}) {
    return detail::read(tree, &out, type_of<T>, path, options);
}
// `path` is put before the field names of errors.
template <class T>
Result<T> read(const Json& tree, std::string_view path = {}, ReadOptions options = {}) {
    T out{};
    CRATER_TRY_VOID(detail::read(tree, &out, type_of<T>, path, options));
    return out;
}
template <class T>
Result<T> read_json(std::string_view text, ReadOptions options = {}) {
    T out{};
    CRATER_TRY_VOID(detail::read_text(text, false, &out, type_of<T>, options));
    return out;
}
template <class T>
Result<T> read_yaml(std::string_view text, ReadOptions options = {}) {
    T out{};
    CRATER_TRY_VOID(detail::read_text(text, true, &out, type_of<T>, options));
    return out;
}

template <class T>
void append_json(std::string& out, const T& value, WriteOptions options = {}) {
    detail::write(out, &value, type_of<T>, options);
}
template <class T>
std::string write_json(const T& value, WriteOptions options = {}) {
    std::string out;
    detail::write(out, &value, type_of<T>, options);
    return out;
}

// The callers of these two include nlohmann/json.hpp. (J only defers the need for it from here to the
// caller.)
template <class T, class J = Json>
J to_json(const T& value, WriteOptions options = {}) {
    return detail::tree(&value, type_of<T>, options);
}
// JSON Schema 2020-12, as OpenAPI 3.1 wants it, nested schemas in place.
template <class T, class J = Json>
J schema() {
    return detail::schema(type_of<T>);
}

// A table of all keys, nested ones dotted: key, type, default, meaning.
template <class T>
std::string markdown() {
    return detail::markdown(type_of<T>);
}

}  // namespace crater::codec
