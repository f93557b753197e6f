// One description of a struct serves parsing (JSON, YAML), output, the OpenAPI schema and the protobuf
// mapping:
//
//     struct CpuRequest { MilliCpu cores; std::vector<std::string> features; };
//     template <class V> void describe(V& v, CpuRequest& c) {
//         v.field("cores", c.cores, "Cores of each task.");
//         v.field("features", c.features, "Instruction sets that must be present.", {.alias =
//         "avx_support"});
//     }
//
// The name carries the unit where the type does not (`startup_timeout` is a Millis and parses "10m";
// `count_max` is a number). A visitor `V` offers `field(name, member, help, FieldOptions = {})` for members
// of these types: std::string, bool, integers, double, Quantity<...>, Millis, Instant, described enums,
// described structs, and std::optional, std::vector and std::map<std::string, T> of them. Enums are described
// by `enum_names(E)` returning a span of EnumName<E>.
#pragma once

#include <span>
#include <string_view>

namespace crater {

struct FieldOptions {
    std::string_view alias = {};  // other accepted keys, separated by spaces
    bool required = false;        // a document without it is refused
    double minimum = 0;           // for numbers; used when minimum < maximum
    double maximum = 0;
    bool secret = false;  // masked in every output
};

template <class E>
struct EnumName {
    E value;
    std::string_view name;
};

template <class E>
std::string_view name_of(E value) {
    for (const auto& row : enum_names(E{}))
        if (row.value == value) return row.name;
    return "?";
}

}  // namespace crater
