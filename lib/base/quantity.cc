#include "crater/base/quantity.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <system_error>

#include "ascii.h"
#include "crater/base/ids.h"

namespace crater {
namespace {

using Wide = __int128;
constexpr Wide int64_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kibi = 1024, mebi = 1024 * kibi, gibi = 1024 * mebi, tebi = 1024 * gibi,
                       pebi = 1024 * tebi;

// whole + fraction / fraction_scale, without rounding.
struct Decimal {
    std::int64_t whole = 0;
    std::int64_t fraction = 0;
    std::int64_t fraction_scale = 1;

    // In units of 1 / scale, fractions up; -1 on overflow.
    std::int64_t times_up(std::int64_t scale) const {
        const Wide part = Wide(fraction) * scale;
        const Wide total = Wide(whole) * scale + part / fraction_scale + (part % fraction_scale != 0 ? 1 : 0);
        return total > int64_max ? -1 : static_cast<std::int64_t>(total);
    }
    bool whole_times(std::int64_t scale) const { return Wide(fraction) * scale % fraction_scale == 0; }
};

// Takes "12" or "12.5" from the front of `text`. False when there is no number or it has too many digits.
bool take_decimal(std::string_view& text, Decimal& out) {
    std::size_t at = 0;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == 0 || at > 19) return false;
    if (std::from_chars(text.data(), text.data() + at, out.whole).ec != std::errc()) return false;
    if (at < text.size() && text[at] == '.') {
        const std::size_t from = ++at;
        while (at < text.size() && is_digit(text[at])) {
            if (at - from == 18) return false;
            out.fraction = out.fraction * 10 + (text[at] - '0');
            out.fraction_scale *= 10;
            ++at;
        }
        if (at == from) return false;
    }
    text.remove_prefix(at);
    return true;
}

struct Unit {
    std::string_view name;  // lower case
    std::int64_t scale;
};

constexpr std::array byte_units{
    Unit{"b", 1},
    Unit{"k", 1000},
    Unit{"kb", 1000},
    Unit{"ki", kibi},
    Unit{"kib", kibi},
    Unit{"m", 1000'000},
    Unit{"mb", 1000'000},
    Unit{"mi", mebi},
    Unit{"mib", mebi},
    Unit{"g", 1000'000'000},
    Unit{"gb", 1000'000'000},
    Unit{"gi", gibi},
    Unit{"gib", gibi},
    Unit{"t", 1000'000'000'000},
    Unit{"tb", 1000'000'000'000},
    Unit{"ti", tebi},
    Unit{"tib", tebi},
    Unit{"p", 1000'000'000'000'000},
    Unit{"pb", 1000'000'000'000'000},
    Unit{"pi", pebi},
    Unit{"pib", pebi},
};
constexpr std::array gpu_memory_units{
    Unit{"b", 1},     Unit{"k", kibi},   Unit{"kb", kibi},  Unit{"ki", kibi},  Unit{"kib", kibi},
    Unit{"m", mebi},  Unit{"mb", mebi},  Unit{"mi", mebi},  Unit{"mib", mebi}, Unit{"g", gibi},
    Unit{"gb", gibi}, Unit{"gi", gibi},  Unit{"gib", gibi}, Unit{"t", tebi},   Unit{"tb", tebi},
    Unit{"ti", tebi}, Unit{"tib", tebi},
};
constexpr std::array time_units{
    Unit{"ms", 1},        Unit{"s", 1000},       Unit{"m", 60'000},
    Unit{"h", 3'600'000}, Unit{"d", 86'400'000}, Unit{"w", 604'800'000},
};
constexpr std::int64_t duration_max = 36500LL * 86'400'000;

// The scale of `name`; 0 when unknown.
std::int64_t scale_of(std::string_view name, std::span<const Unit> units) {
    std::string small(name);
    for (char& c : small)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    for (const auto& unit : units)
        if (unit.name == small) return unit.scale;
    return 0;
}

tl::unexpected<Error> refuse(std::string_view text, std::string_view what, std::string_view allowed) {
    return fail(Code::invalid, fmt::format("{} is not {}; allowed: {}", shown(text), what, allowed));
}
tl::unexpected<Error> too_big(std::string_view text, std::string_view what) {
    return fail(Code::invalid, fmt::format("{} is more than {} can be", shown(text), what));
}

// A number and a unit, in units of 1; `bare` is the scale of a number without unit.
Result<std::int64_t> parse_scaled(std::string_view text, std::span<const Unit> units, std::int64_t bare,
                                  std::string_view what, std::string_view allowed) {
    std::string_view rest = text;
    Decimal number;
    if (!take_decimal(rest, number)) return refuse(text, what, allowed);
    if (rest.size() > 1 && rest.front() == ' ') rest.remove_prefix(1);
    const std::int64_t scale = rest.empty() ? bare : scale_of(rest, units);
    if (scale == 0) return refuse(text, what, allowed);
    const std::int64_t value = number.times_up(scale);
    if (value < 0) return too_big(text, what);
    return value;
}

// value / scale with at most log10(scale) decimals, none of them a trailing zero.
std::string exact(std::int64_t value, std::int64_t scale, int decimals) {
    const bool negative = value < 0;
    const std::uint64_t size =
        negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    const auto unit = static_cast<std::uint64_t>(scale);
    std::string out = fmt::format("{}{}", negative ? "-" : "", size / unit);
    if (size % unit != 0) {
        out += fmt::format(".{:0{}}", size % unit, decimals);
        out.erase(out.find_last_not_of('0') + 1);
    }
    return out;
}

// Takes `count` digits; -1 when they are not there.
int take_digits(std::string_view& text, std::size_t count) {
    if (text.size() < count) return -1;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (!is_digit(text[i])) return -1;
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return value;
}
bool take(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}

// "01:00:00", "2-01:00:00"; -1 when it is not one.
std::int64_t clock_duration(std::string_view text) {
    std::int64_t days = 0;
    if (const auto dash = text.find('-'); dash != std::string_view::npos) {
        if (dash == 0 || dash > 5) return -1;
        days = take_digits(text, dash);
        if (days < 0 || !take(text, '-')) return -1;
    }
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon > 6) return -1;
    const int hours = take_digits(text, colon);
    if (hours < 0 || !take(text, ':')) return -1;
    const int minutes = take_digits(text, 2);
    if (minutes < 0 || minutes > 59 || !take(text, ':')) return -1;
    const int seconds = take_digits(text, 2);
    if (seconds < 0 || seconds > 59 || !text.empty()) return -1;
    return ((days * 24 + hours) * 60 + minutes) * 60'000 + seconds * 1000;
}

}  // namespace

Result<Bytes> parse_bytes(std::string_view text) {
    CRATER_TRY(
        value,
        parse_scaled(
            text, byte_units, 1, "an amount of memory or disk",
            "bytes, or a number with K, M, G, T, P (powers of 1000) or Ki, Mi, Gi, Ti, Pi, as \"40Gi\""));
    return Bytes(value);
}

Result<Mebibytes> parse_gpu_memory(std::string_view text) {
    CRATER_TRY(value, parse_scaled(text, gpu_memory_units, mebi, "an amount of GPU memory",
                                   "MiB, or a number with Mi, Gi, MB, GB (each MiB or GiB), as \"16Gi\""));
    return Mebibytes(value / mebi + (value % mebi != 0 ? 1 : 0));
}

Result<std::int64_t> parse_milli(std::string_view text) {
    constexpr std::string_view what = "an amount of cores or cards";
    constexpr std::string_view allowed = "a number as 8, 0.5 or \"500m\", to a thousandth";
    std::string_view rest = text;
    Decimal number;
    if (!take_decimal(rest, number)) return refuse(text, what, allowed);
    const bool milli = take(rest, 'm');
    if (!rest.empty() || !number.whole_times(milli ? 1 : 1000)) return refuse(text, what, allowed);
    const std::int64_t value = number.times_up(milli ? 1 : 1000);
    if (value < 0) return too_big(text, what);
    return value;
}

Result<void> check_request(MilliCpu cores, std::string_view field) {
    if (cores.value < 0 || cores.value % 100 != 0)
        return fail(
            Code::invalid,
            fmt::format("{} cores cannot be asked for; allowed: 0 or more, in steps of 0.1", format(cores)),
            std::string(field));
    return {};
}

Result<void> check_request(MilliGpu cards, std::string_view field) {
    if (cards.value < 0 || (cards.value < 1000 ? cards.value % 100 != 0 : cards.value % 1000 != 0))
        return fail(
            Code::invalid,
            fmt::format(
                "{} cards cannot be asked for; allowed: a whole number, or 0.1 to 0.9 in steps of 0.1",
                format(cards)),
            std::string(field));
    return {};
}

Result<MilliCpu> parse_cpu(std::string_view text) {
    CRATER_TRY(value, parse_milli(text));
    CRATER_TRY_VOID(check_request(MilliCpu(value)));
    return MilliCpu(value);
}

Result<MilliGpu> parse_gpu(std::string_view text) {
    CRATER_TRY(value, parse_milli(text));
    CRATER_TRY_VOID(check_request(MilliGpu(value)));
    return MilliGpu(value);
}

Result<BytesPerSecond> parse_bandwidth(std::string_view text) {
    std::string_view amount = text;
    if (amount.ends_with("/s")) amount.remove_suffix(2);
    const bool bare = amount.size() == text.size();
    if (!bare && (amount.empty() || !is_letter(amount.back()))) amount = {};  // "140/s"
    auto value = parse_scaled(amount, byte_units, 1000'000'000, "a bandwidth",
                              "GB/s, or a number with MB/s or GB/s, as \"140GB/s\"");
    if (!value) return refuse(text, "a bandwidth", "GB/s, or a number with MB/s or GB/s, as \"140GB/s\"");
    return BytesPerSecond(*value);
}

Result<Millis> parse_duration(std::string_view text) {
    constexpr std::string_view what = "a span of time";
    constexpr std::string_view allowed =
        "seconds, or numbers with ms, s, m, h, d, as \"30s\" or \"1h30m\", or \"01:00:00\"; at most 36500 "
        "days";
    if (text.find(':') != std::string_view::npos) {
        const std::int64_t value = clock_duration(text);
        if (value < 0 || value > duration_max) return refuse(text, what, allowed);
        return Millis(value);
    }
    std::string_view rest = text;
    std::int64_t total = 0;
    std::int64_t last_scale = std::numeric_limits<std::int64_t>::max();
    do {
        Decimal number;
        if (!take_decimal(rest, number)) return refuse(text, what, allowed);
        std::size_t letters = 0;
        while (letters < rest.size() && is_letter(rest[letters])) ++letters;
        const std::string_view unit = rest.substr(0, letters);
        rest.remove_prefix(letters);
        const bool bare = unit.empty() && rest.empty() && total == 0 &&
                          last_scale == std::numeric_limits<std::int64_t>::max();
        const std::int64_t scale = bare ? 1000 : scale_of(unit, time_units);
        if (scale == 0 || scale >= last_scale) return refuse(text, what, allowed);
        last_scale = scale;
        const std::int64_t part = number.times_up(scale);
        if (part < 0 || part > duration_max || (total += part) > duration_max)
            return refuse(text, what, allowed);
    } while (!rest.empty());
    return Millis(total);
}

Result<Instant> parse_instant(std::string_view text) {
    namespace ch = std::chrono;
    const auto wrong = [&] {
        return refuse(text, "a point in time", "RFC 3339, as \"2024-05-20T10:00:00Z\"");
    };
    std::string_view rest = text;
    const int year = take_digits(rest, 4);
    if (year < 0 || !take(rest, '-')) return wrong();
    const int month = take_digits(rest, 2);
    if (month < 0 || !take(rest, '-')) return wrong();
    const int day = take_digits(rest, 2);
    const ch::year_month_day date{ch::year(year), ch::month(static_cast<unsigned>(month)),
                                  ch::day(static_cast<unsigned>(day))};
    if (day < 0 || !date.ok()) return wrong();
    if (!take(rest, 'T') && !take(rest, 't') && !take(rest, ' ')) return wrong();
    const int hour = take_digits(rest, 2);
    if (hour < 0 || hour > 23 || !take(rest, ':')) return wrong();
    const int minute = take_digits(rest, 2);
    if (minute < 0 || minute > 59 || !take(rest, ':')) return wrong();
    const int second = take_digits(rest, 2);
    if (second < 0 || second > 60) return wrong();  // 60: a leap second
    int milli = 0;
    if (take(rest, '.')) {
        std::size_t digits = 0;
        for (int scale = 100; digits < rest.size() && is_digit(rest[digits]); ++digits, scale /= 10)
            milli += (rest[digits] - '0') * scale;
        if (digits == 0) return wrong();
        rest.remove_prefix(digits);
    }
    std::int64_t offset = 0;
    if (!take(rest, 'Z') && !take(rest, 'z')) {
        const bool west = take(rest, '-');
        if (!west && !take(rest, '+')) return wrong();
        const int hours = take_digits(rest, 2);
        if (hours < 0 || hours > 23 || !take(rest, ':')) return wrong();
        const int minutes = take_digits(rest, 2);
        if (minutes < 0 || minutes > 59) return wrong();
        offset = (hours * 60 + minutes) * (west ? -60'000 : 60'000);
    }
    if (!rest.empty()) return wrong();
    const std::int64_t days = ch::sys_days(date).time_since_epoch().count();
    return Instant{days * 86'400'000 + ((hour * 60 + minute) * 60 + second) * 1000LL + milli - offset};
}

Result<double> parse_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return refuse(text, "a number", "a finite decimal number, as 0.75");
    return value;
}

std::string format(Bytes amount) {
    const std::int64_t value = amount.value;
    if (value == 0 || value % mebi != 0) return std::to_string(value);
    if (value % tebi == 0) return std::to_string(value / tebi) + "Ti";
    if (value % gibi == 0) return std::to_string(value / gibi) + "Gi";
    return std::to_string(value / mebi) + "Mi";
}

std::string format(Mebibytes amount) {
    if (amount.value == 0) return "0";
    if (amount.value % 1024 == 0) return std::to_string(amount.value / 1024) + "Gi";
    return std::to_string(amount.value) + "Mi";
}

std::string format(MilliCpu amount) { return exact(amount.value, 1000, 3); }
std::string format(MilliGpu amount) { return exact(amount.value, 1000, 3); }

std::string format(BytesPerSecond amount) {
    const std::int64_t size = std::abs(amount.value);
    if (size >= 1000'000'000) return exact(amount.value, 1000'000'000, 9) + "GB/s";
    if (size >= 1000'000) return exact(amount.value, 1000'000, 6) + "MB/s";
    return std::to_string(amount.value) + "B/s";
}

std::string format(Millis span) {
    std::int64_t rest = span.count();
    if (rest == 0) return "0s";
    std::string out;
    if (rest < 0) {
        out = "-";
        rest = -rest;
    }
    for (const auto& unit :
         {Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"m", 60'000}, Unit{"s", 1000}, Unit{"ms", 1}}) {
        if (rest >= unit.scale) out += fmt::format("{}{}", rest / unit.scale, unit.name);
        rest %= unit.scale;
    }
    return out;
}

std::string format(Instant instant) {
    namespace ch = std::chrono;
    if (!instant) return {};
    constexpr std::int64_t first = -62'167'219'200'000, last = 253'402'300'799'999;  // years 0000 to 9999
    const Millis since(std::clamp(instant.ms, first, last));
    const auto days = ch::floor<ch::days>(since);
    const ch::year_month_day date{ch::sys_days(days)};
    const ch::hh_mm_ss time{since - days};
    // By hand, since every line of history has one.
    std::string out("0000-00-00T00:00:00.000Z");
    const auto put = [&out](std::size_t end, std::int64_t number) {
        for (; number > 0; number /= 10) out[--end] = static_cast<char>('0' + number % 10);
    };
    put(4, static_cast<int>(date.year()));
    put(7, static_cast<unsigned>(date.month()));
    put(10, static_cast<unsigned>(date.day()));
    put(13, time.hours().count());
    put(16, time.minutes().count());
    put(19, time.seconds().count());
    put(23, time.subseconds().count());
    return out;
}

}  // namespace crater
