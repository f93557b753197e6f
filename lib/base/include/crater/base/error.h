// Errors of the outside world (malformed input, IO, peers) and how they travel. One table maps a code to the
// HTTP status and the CLI exit status. A code exists only because some caller acts on it; the text is for
// people. Answers of the domain ("no room yet") are not errors, and our own mistakes abort: see CRATER_CHECK.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace crater {

enum class Code : std::uint8_t {
    invalid,          // malformed input
    unauthenticated,  // no or unknown token
    forbidden,        // the token's role does not allow it
    not_found,
    conflict,       // exists with another content, or the state does not allow it
    too_large,      // beyond a size limit
    unsatisfiable,  // can never be satisfied: 422 at submit
    limited,        // too many: try later
    unavailable,    // not leader, not ready, peer unreachable
    timeout,        // a deadline passed
    cancelled,
    internal,
};

struct CodeRow {
    Code code;
    std::string_view name;  // as in {error:{code}}
    int http_status;
    int exit_status;  // SPEC 10.3: 1 failed, 2 usage, 3 cancelled, 4 refused by server, 5 unreachable
};

std::span<const CodeRow> code_table();
const CodeRow& code_row(Code code);
// The code of an answer with this `name`; `internal` for a name that is not in the table.
Code code_named(std::string_view name);

struct Error {
    Code code = Code::internal;
    std::string message;  // a sentence: what was found, what is allowed
    std::string field;    // dotted path of the offending field: "resources.gpu.memory"; empty when none
    std::string hint;     // what to do; empty when obvious

    // One line for people: "field: message (hint)".
    std::string text() const;
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
    using Base = tl::expected<T, Error>;

  public:
    using Base::Base;
};

inline tl::unexpected<Error> fail(Code code, std::string message, std::string field = {},
                                  std::string hint = {}) {
    return tl::unexpected<Error>(Error{code, std::move(message), std::move(field), std::move(hint)});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view detail = {});

}  // namespace crater

#define CRATER_CAT_(a, b) a##b
#define CRATER_CAT(a, b) CRATER_CAT_(a, b)
// CRATER_TRY(name, expression): name = the value, or return the error to our caller.
#define CRATER_TRY(name, ...)                                                                              \
    auto CRATER_CAT(try_, __LINE__) = (__VA_ARGS__);                                                       \
    if (!CRATER_CAT(try_, __LINE__)) return ::crater::fail(std::move(CRATER_CAT(try_, __LINE__).error())); \
    auto name = *std::move(CRATER_CAT(try_, __LINE__))
// CRATER_TRY_VOID(expression): return the error of a Result<void> to our caller.
#define CRATER_TRY_VOID(...) \
    if (auto try_void_ = (__VA_ARGS__); !try_void_) return ::crater::fail(std::move(try_void_.error()))
// Our own invariant: aborts with the place and the condition, in release builds too.
#define CRATER_CHECK(condition, ...)    \
    (__builtin_expect(!!(condition), 1) \
         ? (void)0                      \
         : ::crater::check_failed(__FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__))
