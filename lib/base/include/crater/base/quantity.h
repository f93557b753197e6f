// Amounts of resources, each unit a type of its own so that a MiB cannot be added to a millicore. Whole
// numbers only. Text is converted once, at the edge, by the parse_* functions; they refuse negatives, NaN,
// overflow and unknown units with a message that says what is allowed. Units and rounding follow SPEC 1.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "crater/base/error.h"

namespace crater {

template <class Unit>
struct Quantity {
    std::int64_t value = 0;

    constexpr Quantity() = default;
    constexpr explicit Quantity(std::int64_t v) : value(v) {}
    constexpr auto operator<=>(const Quantity&) const = default;
    constexpr Quantity operator+(Quantity o) const { return Quantity(value + o.value); }
    constexpr Quantity operator-(Quantity o) const { return Quantity(value - o.value); }
    constexpr Quantity operator*(std::int64_t n) const { return Quantity(value * n); }
    constexpr Quantity& operator+=(Quantity o) {
        value += o.value;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity o) {
        value -= o.value;
        return *this;
    }
    constexpr explicit operator bool() const { return value != 0; }
};

using Bytes = Quantity<struct BytesUnit>;                    // memory and disk
using Mebibytes = Quantity<struct MebibytesUnit>;            // GPU memory
using MilliCpu = Quantity<struct MilliCpuUnit>;              // 1000 = one core
using MilliGpu = Quantity<struct MilliGpuUnit>;              // 1000 = one card
using BytesPerSecond = Quantity<struct BytesPerSecondUnit>;  // shown GB/s = 10^9
using Iops = Quantity<struct IopsUnit>;
using Micros = Quantity<struct MicrosUnit>;  // latencies
using Millis = std::chrono::milliseconds;    // spans of time

// A point in time: milliseconds since the epoch, UTC. 0 = never.
struct Instant {
    std::int64_t ms = 0;
    constexpr auto operator<=>(const Instant&) const = default;
    constexpr Instant operator+(Millis d) const { return {ms + d.count()}; }
    constexpr Instant operator-(Millis d) const { return {ms - d.count()}; }
    constexpr Millis operator-(Instant o) const { return Millis(ms - o.ms); }
    constexpr explicit operator bool() const { return ms != 0; }
};

// "40Gi", "40GiB", "512MB", "1.5T", "1048576"; a bare number counts bytes. Units in any case; fractions of a
// byte round up.
Result<Bytes> parse_bytes(std::string_view text);
// GPU memory, in MiB rounded up: "16Gi", "16G" and "16GB" (all 16 GiB: the exception of SPEC 1); a bare
// number counts MiB.
Result<Mebibytes> parse_gpu_memory(std::string_view text);
// Cores of a request: "8", "0.5" (step 0.1), "500m".
Result<MilliCpu> parse_cpu(std::string_view text);
// Cards of a request: "4", "0.5" (fractions only below 1, step 0.1), "500m".
Result<MilliGpu> parse_gpu(std::string_view text);
// The same rules for amounts that came another way. Totals and measurements (1.5 cards used) need not follow
// them.
Result<void> check_request(MilliCpu cores, std::string_view field = {});
Result<void> check_request(MilliGpu cards, std::string_view field = {});
// Cores or cards to a thousandth: "1.234", "500m".
Result<std::int64_t> parse_milli(std::string_view text);
// "140" (GB/s), "140GB/s", "500MB/s".
Result<BytesPerSecond> parse_bandwidth(std::string_view text);
// "30s", "10m", "2h", "1d", "1h30m", "500ms", "01:00:00", "90" (seconds).
Result<Millis> parse_duration(std::string_view text);
// RFC 3339: "2024-05-20T10:00:00Z", with an optional fraction and offset.
Result<Instant> parse_instant(std::string_view text);
// A finite decimal number, the whole text.
Result<double> parse_number(std::string_view text);

std::string format(Bytes);           // "512Gi", "1536Mi", "1000" (bytes when not whole MiB)
std::string format(Mebibytes);       // "16Gi", "500Mi"
std::string format(MilliCpu);        // "8", "0.5", "0.125"
std::string format(MilliGpu);        // "4", "0.5"
std::string format(BytesPerSecond);  // "142.3GB/s", "500MB/s", "12B/s"
std::string format(Millis);          // "1d", "1h30m", "30s", "500ms", "0s"
std::string format(Instant);         // RFC 3339 UTC with milliseconds; "" for never

}  // namespace crater
