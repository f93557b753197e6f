// Identifiers and names, and hashing of text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crater/base/clock.h"
#include "crater/base/error.h"

namespace crater {

// An id (task_id, node, queue, ...): 1-128 characters of A-Za-z0-9._:- not starting with a dot. SPEC 1.
Result<void> check_id(std::string_view text, std::string_view field);
// A display name: printable UTF-8, 1-128 characters.
Result<void> check_name(std::string_view text, std::string_view field);
// A tenant: names joined by '/', at most 8 deep.
Result<void> check_tenant(std::string_view text, std::string_view field);
bool valid_utf8(std::string_view text);

// Text from outside for a message: in quotes, at most some 80 characters of it, nothing unprintable.
std::string shown(std::string_view text);
// Appends a JSON string with its quotes; what is not UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

// "job-" + 12 digits and consonants (no vowels, so no words).
std::string make_id(std::string_view prefix, Rng& rng);
// 32 random bytes in URL-safe base 64, for tokens.
std::string make_secret(Rng& rng);

// The candidate with the smallest edit distance to `text` when that is small enough to be a likely slip, else
// "".
std::string nearest(std::string_view text, std::span<const std::string_view> candidates);
std::string nearest(std::string_view text, const std::vector<std::string>& candidates);

// cpuLimitMultiplier, cpu-limit-multiplier -> cpu_limit_multiplier.
std::string snake_case(std::string_view key);

std::uint64_t hash64(std::string_view data, std::uint64_t seed = 0);  // xxHash64
std::string sha256_hex(std::string_view data);

}  // namespace crater
