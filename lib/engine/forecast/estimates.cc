#include "forecast/estimates.h"

#include <algorithm>
#include <charconv>

namespace crater::engine {
namespace {

constexpr std::string_view estimates_head = "estimates-3";
constexpr std::uint32_t answers_enough = 30;
// What is learned is of waits that are over, and while the queue grows later ones are longer: of those that
// come nine in ten and more keep below what 99 in 100 kept below (bench/estimates.cc: 93 to 98 % of the
// Philly jobs; below what 95 in 100 kept below, 86 to 92 %).
constexpr std::uint32_t middle_part = Spread::one / 2, late_part = Spread::one * 99 / 100;
constexpr std::int64_t least_wait = 1000;  // ms; shorter ones compare as this

std::int64_t thousandths(std::int64_t came, std::int64_t said) {
    return static_cast<std::int64_t>(static_cast<double>(std::max(least_wait, came)) * 1000 /
                                     static_cast<double>(std::max(least_wait, said)));
}
std::int64_t stretch(std::int64_t wait, std::int64_t by) {
    return static_cast<std::int64_t>(static_cast<double>(std::max(least_wait, wait)) *
                                     static_cast<double>(by) / 1000);
}

}  // namespace

std::size_t Estimates::length_of(const Wait& raw) {
    std::size_t out = 1;
    for (const std::int64_t minutes : {5, 30, 120, 600})
        if (raw.p50 > minutes * 60'000) ++out;
    return out;
}

int Estimates::error_of(const Wait& raw) const {
    for (const std::size_t at : {length_of(raw), std::size_t{0}})
        if (errors_[at].late.count() >= answers_enough) return static_cast<int>(at);
    return -1;
}

Estimates::Wait Estimates::stretched(Wait raw) const {
    if (raw.p50 < 0) return raw;
    Wait out = raw;
    if (const int at = error_of(raw); at >= 0) {
        const Error& error = errors_[static_cast<std::size_t>(at)];
        out.p50 = stretch(raw.p50, error.middle.at(middle_part));
        out.p90 = stretch(raw.p90, error.late.at(late_part));
    }
    out.p90 = std::max(out.p50, out.p90);
    return out;
}

void Estimates::said(int job, Instant now, Wait raw) {
    if (raw.p50 < 0) return;
    const auto at = static_cast<std::size_t>(job);
    if (said_.size() <= at) said_.resize(at + 1);
    if (!said_[at].at) said_[at] = {.at = now, .raw = raw};
}

void Estimates::started(int job, Instant now) {
    const auto at = static_cast<std::size_t>(job);
    if (at >= said_.size() || !said_[at].at) return;
    const Said said = said_[at];
    said_[at] = {};
    compare((now - said.at).count(), said.raw);
}

void Estimates::revised(int job, Instant now, Wait raw) {
    const auto at = static_cast<std::size_t>(job);
    if (raw.p50 < 0 || at >= said_.size() || !said_[at].at || said_[at].revised) return;
    const std::int64_t gone = (now - said_[at].at).count();
    if (gone < least_wait || gone < said_[at].raw.p50 / 2) return;
    said_[at].revised = true;
    compare(gone + raw.p50, said_[at].raw);
}

void Estimates::compare(std::int64_t came, const Wait& raw) {
    for (Error* error : {&errors_[0], &errors_[length_of(raw)]}) {
        error->middle.add(thousandths(came, raw.p50));
        error->late.add(thousandths(came, raw.p90));
    }
}

void Estimates::forget(int job) {
    const auto at = static_cast<std::size_t>(job);
    if (at < said_.size()) said_[at] = {};
    if (at < answers_.size()) answers_[at] = {};
}

const Estimates::Wait* Estimates::of(int job) const {
    const auto at = static_cast<std::size_t>(job);
    return at < answers_.size() && answers_[at].round == round && round > 0 ? &answers_[at].raw : nullptr;
}

void Estimates::answer(int job, Wait raw) {
    const auto at = static_cast<std::size_t>(job);
    if (answers_.size() <= at) answers_.resize(at + 1);
    answers_[at] = {round, raw};
}

std::string Estimates::save() const {
    std::string out(estimates_head);
    const auto number = [&](std::uint64_t value) { out += ' ', out += std::to_string(value); };
    for (const Error& error : errors_)
        for (const Spread* spread : {&error.middle, &error.late}) {
            number(spread->counts().size());
            for (const auto& [bucket, many] : spread->counts()) number(bucket), number(many);
        }
    return out;
}

bool Estimates::load(std::string_view text) {
    if (!text.starts_with(estimates_head)) return false;
    text.remove_prefix(estimates_head.size());
    bool bad = false;
    const auto number = [&]<class Number>(Number value) {
        if (!text.starts_with(' ')) return bad = true, Number{0};
        const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), value);
        bad |= error != std::errc{};
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        return value;
    };
    std::array<Error, lengths> read;
    for (Error& error : read) {
        for (Spread* spread : {&error.middle, &error.late}) {
            const auto size = number(std::uint16_t{0});
            Spread::Counts counts;
            for (int i = 0; i < size && !bad; ++i) {
                const auto bucket = number(std::uint16_t{0});
                counts.emplace_back(bucket, number(std::uint16_t{0}));
            }
            if (bad || !spread->restore(std::move(counts))) return false;
        }
    }
    if (bad || !text.empty()) return false;
    errors_ = std::move(read);
    return true;
}

}  // namespace crater::engine
