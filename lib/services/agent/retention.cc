#include "retention.h"

#include <algorithm>

#include "crater/base/log.h"

namespace crater::agent {
namespace {

constexpr Millis disk_period{60'000}, age_period{3'600'000};

bool old(Instant at, Millis keep, Instant now) { return keep > Millis(0) && at && now - at > keep; }

}  // namespace

Retention::Retention(RetentionConfig config, Loop& loop, const Clock& clock, run::Runtime& runtime)
    : config_(config), loop_(loop), clock_(clock), runtime_(runtime) {}

Retention::~Retention() { stop(); }

void Retention::start() {
    timer_ = loop_.after(disk_period, [this] { look(); });
}

void Retention::stop() {
    loop_.cancel(timer_);
    loop_.cancel(step_);
    timer_ = step_ = 0;
}

void Retention::reload(RetentionConfig config) {
    config_ = config;
    next_ages_ = {};
}

bool Retention::disk_short() const {
    const run::Space space = runtime_.space();
    if (space.total.value <= 0 || config_.disk_free_min_percent <= 0) return false;
    return static_cast<double>(space.free.value) * 100 <
           config_.disk_free_min_percent * static_cast<double>(space.total.value);
}

void Retention::look() {
    timer_ = loop_.after(disk_period, [this] { look(); });
    if (step_) return;  // still at it
    const Instant now = clock_.now();
    if (!next_ages_ || now >= next_ages_) {
        next_ages_ = now + age_period;
        gather_old();
    }
    spare_.clear();
    if (disk_short()) {
        const auto kept = runtime_.kept();
        spare_.assign(kept.begin(), kept.end());
        std::stable_sort(spare_.begin(), spare_.end(),
                         [](const auto& a, const auto& b) { return a.ended < b.ended; });
        if (spare_.empty() && !short_said_) {
            log::warning("the disk is short, and no ended task has left anything that could go",
                         {{"free_min_percent", config_.disk_free_min_percent}});
            short_said_ = true;
        }
    } else {
        short_said_ = false;
    }
    drop_next();
}

void Retention::gather_old() {
    const Instant now = clock_.now();
    for (const run::Kept& kept : runtime_.kept())
        if (old(kept.ended, config_.logs, now)) old_.push_back(kept);
    for (const run::JobFolder& folder : runtime_.job_folders())
        if (old(folder.used,
                folder.kind == run::JobFolder::Kind::output ? config_.output : config_.checkpoints, now))
            old_folders_.push_back(folder);
}

void Retention::drop_next() {
    step_ = 0;
    if (!old_.empty()) {
        runtime_.forget(old_.front().id);
        old_.pop_front();
        ++attempts_;
    } else if (!old_folders_.empty()) {
        ++(old_folders_.front().kind == run::JobFolder::Kind::output ? outputs_ : checkpoints_);
        runtime_.drop(old_folders_.front());
        old_folders_.pop_front();
    } else if (!spare_.empty() && disk_short()) {
        runtime_.forget(spare_.front().id);
        spare_.pop_front();
        ++spared_;
    } else {
        if (attempts_ + checkpoints_ + outputs_ > 0)
            log::info("what ended tasks left was dropped: it is older than it is kept",
                      {{"attempts", attempts_},
                       {"checkpoints", checkpoints_},
                       {"outputs", outputs_},
                       {"logs_kept", format(config_.logs)},
                       {"checkpoints_kept", format(config_.checkpoints)},
                       {"output_kept", format(config_.output)}});
        if (spared_ > 0)
            log::warning("logs and folders of ended tasks were dropped before their time: the disk is short",
                         {{"attempts", spared_}, {"free_min_percent", config_.disk_free_min_percent}});
        attempts_ = checkpoints_ = outputs_ = spared_ = 0;
        return;
    }
    step_ = loop_.after(Millis(0), [this] { drop_next(); });
}

}  // namespace crater::agent
