#include "crater/base/error.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace crater {
namespace {

constexpr std::array<CodeRow, 12> code_rows{{
    {Code::invalid, "invalid", 400, 2},
    {Code::unauthenticated, "unauthenticated", 401, 4},
    {Code::forbidden, "forbidden", 403, 4},
    {Code::not_found, "not_found", 404, 4},
    {Code::conflict, "conflict", 409, 4},
    {Code::too_large, "too_large", 413, 4},
    {Code::unsatisfiable, "unsatisfiable", 422, 4},
    {Code::limited, "limited", 429, 4},
    {Code::unavailable, "unavailable", 503, 5},
    {Code::timeout, "timeout", 504, 5},
    {Code::cancelled, "cancelled", 499, 3},
    {Code::internal, "internal", 500, 1},
}};

}  // namespace

std::span<const CodeRow> code_table() { return code_rows; }

const CodeRow& code_row(Code code) {
    for (const auto& row : code_rows)
        if (row.code == code) return row;
    return code_rows.back();
}

Code code_named(std::string_view name) {
    for (const auto& row : code_rows)
        if (row.name == name) return row.code;
    return Code::internal;
}

std::string Error::text() const {
    std::string out;
    if (!field.empty()) out += field + ": ";
    out += message.empty() ? std::string(code_row(code).name) : message;
    if (!hint.empty()) out += " (" + hint + ")";
    for (char& c : out)
        if (c == '\n' || c == '\r') c = ' ';
    return out;
}

void check_failed(const char* file, int line, const char* condition, std::string_view detail) {
    std::fprintf(stderr, "%s:%d: check failed: %s%s%.*s\n", file, line, condition, detail.empty() ? "" : ": ",
                 static_cast<int>(detail.size()), detail.data());
    std::fflush(stderr);
    std::abort();
}

}  // namespace crater
