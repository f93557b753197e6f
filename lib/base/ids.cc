#include "crater/base/ids.h"

#include <openssl/sha.h>
#include <xxhash.h>

#include <array>
#include <limits>

#include "ascii.h"

namespace crater {
namespace {

constexpr std::size_t text_max = 128;
constexpr std::size_t tenant_depth_max = 8;

char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// Reads one code point at `at` and moves behind it; -1 when the bytes are not UTF-8.
std::int32_t code_point(std::string_view text, std::size_t& at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at);
    if (first < 0x80) {
        ++at;
        return first;
    }
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return -1;
    std::int32_t value = first & (0xff >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xc0) != 0x80) return -1;
        value = value << 6 | (byte(at + i) & 0x3f);
    }
    constexpr std::array<std::int32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return -1;
    at += length;
    return value;
}

bool printable(std::int32_t point) {
    return point >= 0x20 && !(point >= 0x7f && point < 0xa0) && point != 0x2028 && point != 0x2029 &&
           !(point >= 0xfdd0 && point <= 0xfdef) && (point & 0xfffe) != 0xfffe;
}

// Edits (insert, delete, replace, swap of neighbours) between two short texts, or more than `limit`.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
    if (a.size() > b.size()) std::swap(a, b);
    if (b.size() - a.size() > limit) return limit + 1;
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min(
                {last[j] + 1, row[j - 1] + 1, last[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

template <class Candidates>
std::string nearest_of(std::string_view text, const Candidates& candidates) {
    if (text.size() > text_max) return {};
    std::string_view best;
    std::size_t best_distance = std::numeric_limits<std::size_t>::max();
    for (const std::string_view candidate : candidates) {
        const std::size_t limit = (std::max(text.size(), candidate.size()) + 1) / 3;
        const std::size_t d = distance(text, candidate, limit);
        if (d <= limit && d < best_distance) {
            best = candidate;
            best_distance = d;
        }
    }
    return std::string(best);
}

}  // namespace

std::string shown(std::string_view text) {
    constexpr std::size_t enough = 80;
    std::string out = "\"";
    for (std::size_t at = 0; at < text.size();) {
        if (at >= enough) {
            out += "...";
            break;
        }
        const std::size_t from = at;
        const std::int32_t point = code_point(text, at);
        if (point < 0) {
            ++at;
            out += "?";
        } else if (!printable(point)) {
            out += "?";
        } else {
            out += text.substr(from, at - from);
        }
    }
    return out + "\"";
}

void append_json_string(std::string& out, std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    out += '"';
    std::size_t copied = 0;
    for (std::size_t at = 0; at < text.size();) {
        const auto c = static_cast<unsigned char>(text[at]);
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
            ++at;
            continue;
        }
        out.append(text, copied, at - copied);
        if (c >= 0x80) {
            const std::size_t from = at;
            if (code_point(text, at) < 0) {
                out += "\xef\xbf\xbd";
                ++at;
            } else {
                out.append(text, from, at - from);
            }
        } else {
            switch (c) {
                case '"': out += "\\\""; break;
                case '\\': out += "\\\\"; break;
                case '\n': out += "\\n"; break;
                case '\r': out += "\\r"; break;
                case '\t': out += "\\t"; break;
                default:
                    out += "\\u00";
                    out += hex[c >> 4];
                    out += hex[c & 15];
            }
            ++at;
        }
        copied = at;
    }
    out.append(text, copied, text.size() - copied);
    out += '"';
}

Result<void> check_id(std::string_view text, std::string_view field) {
    const auto wrong = [&](std::string found) {
        return fail(
            Code::invalid,
            found + "; an id has 1-128 characters of A-Z a-z 0-9 . _ : - and does not start with a dot",
            std::string(field));
    };
    if (text.empty()) return wrong("the id is empty");
    if (text.size() > text_max) return wrong("the id has " + std::to_string(text.size()) + " characters");
    if (text.front() == '.') return wrong(shown(text) + " starts with a dot");
    for (const char c : text)
        if (!is_lower(c) && !is_upper(c) && !is_digit(c) && c != '.' && c != '_' && c != ':' && c != '-')
            return wrong(shown(text) + " holds a character that is not allowed");
    return {};
}

Result<void> check_name(std::string_view text, std::string_view field) {
    const auto wrong = [&](std::string found) {
        return fail(Code::invalid, found + "; a name has 1-128 printable characters", std::string(field));
    };
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size(); ++count) {
        const std::int32_t point = code_point(text, at);
        if (point < 0) return wrong("the name is not valid UTF-8");
        if (!printable(point)) return wrong(shown(text) + " holds a character that cannot be shown");
    }
    if (count == 0) return wrong("the name is empty");
    if (count > text_max) return wrong("the name has " + std::to_string(count) + " characters");
    return {};
}

Result<void> check_tenant(std::string_view text, std::string_view field) {
    const auto wrong = [&](std::string found) {
        return fail(Code::invalid, found + "; a tenant is 1 to 8 names joined by \"/\", as research/vision",
                    std::string(field));
    };
    if (text.empty()) return wrong("the tenant is empty");
    std::size_t depth = 0;
    for (std::size_t from = 0; from <= text.size(); ++depth) {
        const std::size_t end = std::min(text.find('/', from), text.size());
        const std::string_view name = text.substr(from, end - from);
        if (name.empty()) return wrong(shown(text) + " has an empty part");
        if (name == "." || name == "..") return wrong(shown(text) + " has the part " + shown(name));
        CRATER_TRY_VOID(check_name(name, field));
        from = end + 1;
    }
    if (depth > tenant_depth_max) return wrong(shown(text) + " is " + std::to_string(depth) + " deep");
    return {};
}

bool valid_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();)
        if (code_point(text, at) < 0) return false;
    return true;
}

std::string make_id(std::string_view prefix, Rng& rng) {
    constexpr std::string_view letters = "0123456789bcdfghjklmnpqrstvwxyz";
    std::string out(prefix);
    out += '-';
    std::uint64_t value = rng.next();
    for (int i = 0; i < 12; ++i, value /= letters.size()) out += letters[value % letters.size()];
    return out;
}

std::string make_secret(Rng& rng) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::array<unsigned char, 33> bytes{};  // the last one is padding
    for (std::size_t i = 0; i < 32; i += 8) {
        std::uint64_t value = rng.next();
        for (std::size_t j = 0; j < 8; ++j, value >>= 8) bytes[i + j] = static_cast<unsigned char>(value);
    }
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::uint32_t group = bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6) out += letters[group >> shift & 63];
    }
    out.resize(43);
    return out;
}

std::string nearest(std::string_view text, std::span<const std::string_view> candidates) {
    return nearest_of(text, candidates);
}
std::string nearest(std::string_view text, const std::vector<std::string>& candidates) {
    return nearest_of(text, candidates);
}

std::string snake_case(std::string_view key) {
    std::string out;
    out.reserve(key.size() + 4);
    for (std::size_t i = 0; i < key.size(); ++i) {
        const char c = key[i];
        if (c == '-') {
            out += '_';
        } else if (!is_upper(c)) {
            out += c;
        } else {
            const char before = i > 0 ? key[i - 1] : '_';
            const bool unit = c == 'B' && before == 'i' && i > 1 && is_upper(key[i - 2]);  // memoryMiB
            const bool after_word = is_lower(before) || is_digit(before);
            const bool starts_word = is_upper(before) && i + 1 < key.size() && is_lower(key[i + 1]) &&
                                     !(i + 2 == key.size() && key[i + 1] == 's') &&  // GPUs
                                     !(key[i + 1] == 'i' && i + 2 < key.size() && key[i + 2] == 'B');
            if (!unit && (after_word || starts_word)) out += '_';
            out += lower(c);
        }
    }
    return out;
}

std::uint64_t hash64(std::string_view data, std::uint64_t seed) {
    return XXH64(data.data(), data.size(), seed);
}

std::string sha256_hex(std::string_view data) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(data.data()), data.size(), digest.data());
    std::string out;
    for (const unsigned char byte : digest) {
        out += hex[byte >> 4];
        out += hex[byte & 15];
    }
    return out;
}

}  // namespace crater
