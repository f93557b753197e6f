#include "loaded.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "crater/base/log.h"
#include "metrics.h"

namespace crater::plugin {
namespace {

using engine::HookAnswer;
using engine::NodeView;

constexpr int good_enough = 1000;  // so many good calls make up for the late ones before
constexpr std::size_t times_kept = 1000;
constexpr std::int64_t busy_budgets = 10;  // a process busy for so many budgets more is late once more

std::int64_t us_of(Millis time) { return time.count() * 1000; }

// A text of the host's, which may be anything.
template <std::size_t N>
std::string text_of(const char (&text)[N]) {
    std::string out(text, ::strnlen(text, N));
    for (char& c : out)
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
    return out;
}

}  // namespace

Loaded::Loaded(const HostProcess::Command& command, const Options& options, const Clock& clock,
               Metrics* metrics)
    : name_(command.name),
      options_(options),
      clock_(clock),
      metrics_(metrics),
      since_(clock.now()),
      began_us_(clock.ticks_us()) {
    auto started = HostProcess::start(command);
    if (started)
        process_ = std::move(*started);
    else
        refuse(started.error().message);
}

// ---- becoming active, and ceasing to be

void Loaded::look() {
    if (state_ == State::active && owes_answer_) take_late_answer();
    if (state_ != State::loading) return;
    Hello hello;
    switch (process_->receive(hello)) {
        case HostProcess::Got::packet: return greet(hello);
        case HostProcess::Got::end: return refuse("it " + process_->end() + " while it was loaded");
        case HostProcess::Got::nothing: break;
    }
    if (clock_.ticks_us() - began_us_ > us_of(options_.loading_max))
        refuse("it was not loaded within " + format(options_.loading_max));
}

void Loaded::wait(std::int64_t us) const {
    if (state_ == State::loading) process_->readable(us);
}

void Loaded::greet(const Hello& hello) {
    if (hello.protocol != protocol_version)
        return refuse("crater-plugin-host is of another version than the scheduler");
    if (hello.hooks == no_hook) return refuse(text_of(hello.reason));
    hooks_ = hello.hooks;
    version_ = text_of(hello.version);
    description_ = text_of(hello.description);
    state_ = State::active;
    since_ = clock_.now();
    if (metrics_) metrics_->set(metric::active, 1, {name_});
    log::info("a placement plugin is active", {{"plugin", name_}, {"version", version_}});
}

void Loaded::refuse(const std::string& why) {
    state_ = State::refused;
    reason_ = why;
    since_ = clock_.now();
    process_.reset();
    log::error("a placement plugin is refused", {{"plugin", name_}, {"why", why}});
}

void Loaded::quarantine(const std::string& why) {
    state_ = State::quarantined;
    reason_ = why;
    since_ = clock_.now();
    process_.reset();
    count("fault");
    if (metrics_) metrics_->set(metric::active, 0, {name_});
    log::error("a placement plugin is disabled until its file changes", {{"plugin", name_}, {"why", why}});
}

void Loaded::retire() {
    if (process_) process_->retire();
    began_us_ = clock_.ticks_us();
}

bool Loaded::gone() {
    constexpr std::int64_t patience_us = 1'000'000;  // for `destroy`
    if (!process_ || process_->gone()) return true;
    if (clock_.ticks_us() - began_us_ < patience_us) return false;
    process_.reset();
    return true;
}

void Loaded::wait_gone(Millis patience) {
    if (process_) process_->wait_gone(us_of(patience));
}

// ---- lateness

// An answer that nobody waits for any more still has to come before the next question.
void Loaded::take_late_answer() {
    Answer stale;
    switch (process_->receive(stale, 0)) {
        case HostProcess::Got::packet: owes_answer_ = false; return;
        case HostProcess::Got::end: return quarantine("it " + process_->end());
        case HostProcess::Got::nothing: break;
    }
    if (clock_.ticks_us() - began_us_ > busy_budgets * us_of(options_.budget)) late();
}

void Loaded::late() {
    began_us_ = clock_.ticks_us();
    good_ = 0;
    ++late_calls_;
    count("late");
    if (++late_ >= options_.late_max)
        quarantine("it did not answer within " + format(options_.budget) + ", " + std::to_string(late_) +
                   " times");
}

void Loaded::wait_for_late_answer(Millis patience) const {
    if (owes_answer_) process_->readable(us_of(patience));
}

bool Loaded::free_to_ask() {
    if (state_ == State::active && owes_answer_) take_late_answer();
    if (state_ == State::active && owes_answer_) count("skipped");
    return state_ == State::active && !owes_answer_;
}

// ---- a question

HookAnswer Loaded::ask(const engine::JobView& job, std::span<const NodeView> nodes) {
    if (nodes.empty() || !free_to_ask()) return {};
    began_us_ = clock_.ticks_us();
    const auto head = write_image(process_->memory(), job, nodes);
    if (!head) return count("skipped"), HookAnswer{};
    ++calls_;
    if (!process_->send({++sequence_})) return quarantine("it " + process_->end()), HookAnswer{};
    const auto answer = answer_in_time();
    if (!answer) return {};
    if (answer->failed != no_hook) {
        quarantine(std::string(answer->failed == filter_hook ? "filter" : "score") + " returned " +
                   std::to_string(answer->returned));
        return {};
    }
    return verdicts(*head, nodes);
}

std::optional<Answer> Loaded::answer_in_time() {
    const std::int64_t budget = us_of(options_.budget);
    Answer answer;
    const auto got = process_->receive(answer, budget);
    const std::int64_t spent = clock_.ticks_us() - began_us_;
    if (got == HostProcess::Got::end) {
        quarantine("it " + process_->end());
        return std::nullopt;
    }
    if (got == HostProcess::Got::packet && answer.sequence != sequence_) {
        quarantine("it answered what it was not asked");
        return std::nullopt;
    }
    took(spent);
    owes_answer_ = got == HostProcess::Got::nothing;
    if (owes_answer_ || spent > budget) {
        late();
        return std::nullopt;
    }
    if (++good_ >= good_enough) late_ = good_ = 0;
    return answer;
}

// Copied first, then looked at: the plugin could still write there.
HookAnswer Loaded::verdicts(const ImageHead& head, std::span<const NodeView> nodes) {
    HookAnswer out{.given = true, .keep = {}, .score = {}};
    const std::byte* memory = process_->memory().data();
    if (hooks_ & filter_hook) {
        out.keep.resize(nodes.size());
        std::memcpy(out.keep.data(), memory + head.keep_at, nodes.size());
    }
    if (hooks_ & score_hook) {
        out.score.resize(nodes.size());
        std::memcpy(out.score.data(), memory + head.score_at, nodes.size() * sizeof(double));
        for (std::size_t i = 0; i < out.keep.size(); ++i)
            if (!out.keep[i]) out.score[i] = 0;
    }
    if (const std::string wrong = wrong_score(out, nodes); !wrong.empty()) {
        quarantine(wrong);
        return {};
    }
    count("answered");
    return out;
}

std::string Loaded::wrong_score(const HookAnswer& answer, std::span<const NodeView> nodes) const {
    for (std::size_t i = 0; i < answer.score.size(); ++i)
        if (!(answer.score[i] >= 0 && answer.score[i] <= 1))
            return "it scored the node " + nodes[i].inventory->name + " with " +
                   std::to_string(answer.score[i]) + "; a score is a number from 0 to 1";
    return {};
}

// ---- what people see

void Loaded::count(std::string_view outcome) {
    if (metrics_) metrics_->add(metric::calls, 1, {name_, std::string(outcome)});
}

void Loaded::took(std::int64_t us) {
    times_.push_back(us);
    if (times_.size() > times_kept) times_.pop_front();
    if (metrics_) metrics_->observe(metric::call_time, static_cast<double>(us) / 1e6, {name_});
}

void Loaded::fill(Row& row) const {
    row.name = name_, row.version = version_, row.description = description_;
    row.state = state_, row.reason = reason_, row.since = since_;
    row.calls = calls_, row.late = late_calls_;
    if (times_.empty()) return;
    std::vector<std::int64_t> sorted(times_.begin(), times_.end());
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) * 99 / 100);
    std::nth_element(sorted.begin(), at, sorted.end());
    row.p99 = Micros(*at);
}

}  // namespace crater::plugin
