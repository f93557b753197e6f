#include "units.h"

#include <array>
#include <charconv>
#include <system_error>

#include "crater/base/ids.h"

namespace crater::codec {
namespace {

constexpr std::int64_t kibi = 1024, mebi = kibi * 1024, gibi = mebi * 1024, tebi = gibi * 1024;
constexpr std::int64_t kilo = 1000, mega = kilo * 1000, giga = mega * 1000, tera = giga * 1000;

constexpr std::array byte_units{
    Unit{"bytes", "B", "bytes"},
    Unit{"kb", "KB", "KB", 1, kilo},
    Unit{"mb", "MB", "MB", 1, mega},
    Unit{"gb", "GB", "GB", 1, giga},
    Unit{"tb", "TB", "TB", 1, tera},
    Unit{"kib", "KiB", "KiB", 1, kibi, true},
    Unit{"mib", "MiB", "MiB", 1, mebi, true},
    Unit{"gib", "GiB", "GiB", 1, gibi, true},
    Unit{"tib", "TiB", "TiB", 1, tebi, true},
};
constexpr std::array mebibyte_units{
    Unit{"mb", "MiB", "MiB"},
    Unit{"mib", "MiB", "MiB"},
    Unit{"gb", "GiB", "GiB", 1, kibi, true},
    Unit{"gib", "GiB", "GiB", 1, kibi, true},
    Unit{"bytes", "B", "bytes", mebi, 1},
};
constexpr std::array bandwidth_units{
    Unit{"mbps", "MB/s", "MB/s", 1, mega},
    Unit{"gbps", "GB/s", "GB/s", 1, giga},
    Unit{"bytes", "B/s", "bytes/s"},
    Unit{"bytes_per_second", "B/s", "bytes/s"},
};
constexpr std::array milli_units{Unit{"milli", "m", "thousandths"}};
constexpr std::array millis_units{
    Unit{"ms", "ms", "ms"},
    Unit{"seconds", "s", "seconds", 1, 1000},
    Unit{"minutes", "m", "minutes", 1, 60'000, true},
    Unit{"hours", "h", "hours", 1, 3'600'000, true},
    Unit{"days", "d", "days", 1, 86'400'000, true},
};
constexpr std::array micros_units{Unit{"us", "us", "µs"}, Unit{"ms", "ms", "ms", 1, 1000}};
constexpr std::array instant_units{Unit{"ms", "", "ms since 1970"}};

// The key without a last _min or _max, and that tail.
std::pair<std::string_view, std::string_view> split_bound(std::string_view key) {
    if (key.ends_with("_min") || key.ends_with("_max"))
        return {key.substr(0, key.size() - 4), key.substr(key.size() - 4)};
    return {key, {}};
}

bool ends_in(std::string_view stem, std::string_view suffix) {
    if (!stem.ends_with(suffix)) return false;
    stem.remove_suffix(suffix.size());
    return stem.empty() || stem.ends_with('_');
}

// value / divide as decimals, exact when `divide` is a power of ten.
void append_fraction(std::string& out, std::int64_t value, std::int64_t divide) {
    const bool negative = value < 0;
    auto size = negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    const auto unit = static_cast<std::uint64_t>(divide);
    if (negative) out += '-';
    out += std::to_string(size / unit);
    std::uint64_t rest = size % unit;
    if (rest != 0) out += '.';
    for (; rest != 0; rest = rest * 10 % unit) out += static_cast<char>('0' + rest * 10 / unit);
}

void append_whole(std::string& out, std::int64_t value) {
    std::array<char, 24> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    out.append(buffer.data(), end);
}

Result<std::int64_t> parse_whole(std::string_view text, std::string_view what) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
        return fail(Code::invalid,
                    shown(text) + " is not " + std::string(what) + "; allowed: a whole number of 0 or more");
    return value;
}

Result<std::int64_t> parse_micros(std::string_view text) {
    // A micro takes the place of a milli: "150us" is read as 150 ms, and so on. What remains exact is the
    // number.
    const auto wrong = [&] {
        return fail(
            Code::invalid,
            shown(text) + " is not a latency; allowed: µs, or a number with us, ms or s, as \"150us\"");
    };
    const std::size_t digits = text.find_first_not_of("0123456789.");
    const std::string_view number = text.substr(0, digits);
    const std::string_view unit = digits == std::string_view::npos ? std::string_view() : text.substr(digits);
    std::string_view scaled;
    if (unit.empty() || unit == "us" || unit == "µs") {
        scaled = "ms";
    } else if (unit == "ms") {
        scaled = "s";
    } else if (unit != "s") {
        return wrong();
    }
    const auto value = parse_duration(std::string(number) + std::string(scaled.empty() ? "s" : scaled));
    if (!value) return wrong();
    return scaled.empty() ? value->count() * 1000 : value->count();
}

template <class Q>
Result<std::int64_t> whole_of(Result<Q> parsed) {
    if (!parsed) return fail(std::move(parsed.error()));
    return parsed->value;
}

}  // namespace

bool is_amount(Kind kind) { return kind >= Kind::bytes && kind <= Kind::instant; }

std::span<const Unit> units_of(Kind kind) {
    switch (kind) {
        case Kind::bytes: return byte_units;
        case Kind::mebibytes: return mebibyte_units;
        case Kind::bytes_per_second: return bandwidth_units;
        case Kind::milli_cpu:
        case Kind::milli_gpu: return milli_units;
        case Kind::millis: return millis_units;
        case Kind::micros: return micros_units;
        case Kind::instant: return instant_units;
        default: return {};
    }
}

const Unit* unit_in(Kind kind, std::string_view key) {
    const std::string_view stem = split_bound(key).first;
    for (const auto& unit : units_of(kind))
        if (ends_in(stem, unit.suffix)) return &unit;
    return nullptr;
}

bool is_unit_spelling(Kind kind, std::string_view base, std::string_view key) {
    if (kind == Kind::instant) return false;
    const auto between = [&](std::string_view stem, std::string_view tail) {
        if (key.size() <= stem.size() + 1 + tail.size() || !key.starts_with(stem) ||
            key[stem.size()] != '_' || !key.ends_with(tail))
            return false;
        const std::string_view suffix =
            key.substr(stem.size() + 1, key.size() - stem.size() - 1 - tail.size());
        for (const auto& unit : units_of(kind))
            if (unit.suffix == suffix) return true;
        return false;
    };
    const auto [stem, tail] = split_bound(base);
    return between(base, {}) || (!tail.empty() && between(stem, tail));
}

Result<std::int64_t> parse_amount(Kind kind, std::string_view text) {
    switch (kind) {
        case Kind::bytes: return whole_of(parse_bytes(text));
        case Kind::mebibytes: return whole_of(parse_gpu_memory(text));
        case Kind::bytes_per_second: return whole_of(parse_bandwidth(text));
        case Kind::milli_cpu:
        case Kind::milli_gpu: return parse_milli(text);
        case Kind::iops: return parse_whole(text, "a number of operations per second");
        case Kind::micros: return parse_micros(text);
        case Kind::millis: {
            auto parsed = parse_duration(text);
            if (!parsed) return fail(std::move(parsed.error()));
            return parsed->count();
        }
        case Kind::instant: {
            auto parsed = parse_instant(text);
            if (!parsed) return fail(std::move(parsed.error()));
            return parsed->ms;
        }
        default: CRATER_CHECK(false, "not an amount");
    }
    return 0;
}

std::string decimal_text(double value) {
    std::array<char, 400> buffer;
    const auto result =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
    return std::string(buffer.data(), result.ptr);
}
std::string decimal_text(std::int64_t value) { return std::to_string(value); }

void append_amount(std::string& out, Kind kind, std::int64_t value, std::string_view name) {
    if (const Unit* unit = unit_in(kind, name)) {
        if (unit->divide == 1) {
            append_whole(out, value * unit->multiply);
        } else if (unit->whole) {
            append_whole(out, value / unit->divide + (value % unit->divide > 0 ? 1 : 0));
        } else {
            append_fraction(out, value, unit->divide);
        }
        return;
    }
    const auto text = [&out](const std::string& formatted) {
        out += '"';
        out += formatted;
        out += '"';
    };
    switch (kind) {
        case Kind::bytes: return text(format(Bytes(value)));
        case Kind::mebibytes: return text(format(Mebibytes(value)));
        case Kind::bytes_per_second: return text(format(BytesPerSecond(value)));
        case Kind::millis: return text(format(Millis(value)));
        case Kind::instant: return text(format(Instant{value}));
        case Kind::milli_cpu:
        case Kind::milli_gpu: return append_fraction(out, value, 1000);
        default: append_whole(out, value);
    }
}

}  // namespace crater::codec
