// Structured log, one JSON object a line on stderr:
// {"time":...,"level":...,"component":...,"msg":...,fields...}. Callable from any thread. Below --log-level
// nothing is formatted.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "crater/base/error.h"

namespace crater::log {

enum class Level { debug, info, warning, error };

// Once, by main. `component` is the binary's name. On a terminal the line is made for eyes, elsewhere it is
// JSON.
void setup(std::string_view component, Level level);
Result<Level> parse_level(std::string_view text);

struct Field {
    std::string_view key;
    std::string value;
    bool bare = false;  // a number or truth value: no quotes in JSON
    Field(std::string_view k, std::string_view v) : key(k), value(v) {}
    Field(std::string_view k, const std::string& v) : key(k), value(v) {}
    Field(std::string_view k, const char* v) : key(k), value(v) {}
    template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
    Field(std::string_view k, N v) : key(k), value(number_text(v)), bare(v - v == N{}) {}

  private:
    static std::string number_text(bool v) { return v ? "true" : "false"; }
    template <class N>
    static std::string number_text(N v) {
        return std::to_string(v);
    }
};
using Fields = std::initializer_list<Field>;

bool enabled(Level level);
void write(Level level, std::string_view message, Fields fields = {});
inline void debug(std::string_view m, Fields f = {}) {
    if (enabled(Level::debug)) write(Level::debug, m, f);
}
inline void info(std::string_view m, Fields f = {}) { write(Level::info, m, f); }
inline void warning(std::string_view m, Fields f = {}) { write(Level::warning, m, f); }
inline void error(std::string_view m, Fields f = {}) { write(Level::error, m, f); }

}  // namespace crater::log
