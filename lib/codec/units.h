// The spellings of amounts: which units a kind of amount knows, and how text and numbers become its whole
// number and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "crater/base/error.h"
#include "crater/codec/type.h"

namespace crater::codec {

struct Unit {
    std::string_view suffix;  // of a key: "gb"
    std::string_view text;    // behind a number, for parse_amount: "GB"
    std::string_view label;   // for people: "GB"
    // number of this unit = value * multiply / divide
    std::int64_t multiply = 1;
    std::int64_t divide = 1;
    bool whole = false;  // written rounded up, because the exact fraction is long
};

bool is_amount(Kind kind);
std::span<const Unit> units_of(Kind kind);
// The unit that a key's name ends in, apart from a last _min or _max; null when it ends in none.
const Unit* unit_in(Kind kind, std::string_view key);
// Whether `key` is `base` with a unit behind it: memory_gb for memory, bandwidth_mbps_min for bandwidth_min.
bool is_unit_spelling(Kind kind, std::string_view base, std::string_view key);

// Text as people write it; a bare number is allowed where the kind has a default unit.
Result<std::int64_t> parse_amount(Kind kind, std::string_view text);

// A number as decimal text without exponent.
std::string decimal_text(double value);
std::string decimal_text(std::int64_t value);

// As JSON: a number in the unit that `name` ends in, else as the kind is written.
void append_amount(std::string& out, Kind kind, std::int64_t value, std::string_view name);

}  // namespace crater::codec
