#include "explain/words.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace crater::engine {
namespace {

// At most one decimal, and none when it says nothing: 1.5, 16. Rounded down, so that "free" never promises
// more than there is.
std::string decimal(double value) {
    const double cut = std::floor(value * 10 + 1e-9) / 10;
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), cut == std::floor(cut) ? "%.0f" : "%.1f", cut);
    return text.data();
}

}  // namespace

std::string mib_words(std::int64_t mib) {
    // Amounts that are no tenth of a GiB are shown to the MiB, so that a need and what is free never look
    // equal.
    if (mib >= 1024 && mib * 10 % 1024 == 0) return decimal(static_cast<double>(mib) / 1024) + " GiB";
    if (mib >= 100 * 1024) return decimal(static_cast<double>(mib) / 1024) + " GiB";
    return std::to_string(mib) + " MiB";
}

std::string gib_words(std::int64_t mib) { return decimal(static_cast<double>(mib) / 1024) + " GiB"; }

std::string used_words(std::int64_t used, std::int64_t of_mib) {
    return decimal(static_cast<double>(used) / 1024) + " of " + gib_words(of_mib);
}

std::string bytes_words(std::int64_t bytes) {
    constexpr double kib = 1024;
    const auto value = static_cast<double>(bytes);
    if (value >= kib * kib * kib * kib) return decimal(value / (kib * kib * kib * kib)) + " TiB";
    if (value >= kib * kib * kib) return decimal(value / (kib * kib * kib)) + " GiB";
    if (value >= kib * kib) return decimal(value / (kib * kib)) + " MiB";
    return std::to_string(bytes) + " bytes";
}

std::string core_words(std::int64_t millicores) {
    return decimal(static_cast<double>(millicores) / 1000) + (millicores == 1000 ? " core" : " cores");
}

std::string card_words(std::int64_t milligpu) {
    return decimal(static_cast<double>(milligpu) / 1000) + (milligpu == 1000 ? " card" : " cards");
}

std::string rate_words(std::int64_t bytes_per_second) {
    const auto value = static_cast<double>(bytes_per_second);
    return value >= 1e9 ? decimal(value / 1e9) + " GB/s" : decimal(value / 1e6) + " MB/s";
}

std::string count_words(std::int64_t count, std::string_view one, std::string_view many) {
    return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string time_words(Millis span) {
    const auto seconds = span.count() / 1000;
    if (seconds < 60) return std::to_string(seconds) + " s";
    if (seconds < 3600) return std::to_string(seconds / 60) + " min";
    return std::to_string(seconds / 3600) + " h " + std::to_string(seconds % 3600 / 60) + " min";
}

}  // namespace crater::engine
