#include "crater/replay/timed.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "books.h"
#include "draw.h"

namespace crater::replay {
namespace {

constexpr double ms_per_hour = 3'600'000;

enum class What : std::uint8_t { end, arrive, checkpoint, wake, sample };
struct Event {
    Millis at{0};
    What what = What::wake;
    int job = -1;
    int start = 0;  // which start of the job it belongs to: a later one makes it void
};
// The earliest on top; at the same time ends come before arrivals.
struct Later {
    bool operator()(const Event& a, const Event& b) const {
        return std::tuple(a.at, a.what, a.job) > std::tuple(b.at, b.what, b.job);
    }
};

struct JobState {
    Millis kept{0};   // of its run time, from earlier starts
    Millis began{0};  // this start; work begins after the resume was paid
    Millis works{0};
    Millis held{0};  // how long it had cards, all starts together
    Millis first{-1}, ended{-1};
    std::vector<int> cards;  // empty: waits, or is over
    int starts = 0, stops = 0;
    bool spread = false, was_spread = false;  // over several nodes: now, ever
};

class Run {
  public:
    Run(const Workload& workload, TimedDecider& decider, const TimedOptions& options, const Clock& clock)
        : workload_(workload),
          decider_(decider),
          options_(options),
          clock_(clock),
          books_(workload),
          jobs_(workload.jobs.size()),
          told_(told_durations(workload, options)) {}

    TimedFigures operator()(const Progress& progress) {
        const auto begun = clock_.ticks_us();
        for (std::size_t j = 0; j < jobs_.size(); ++j)
            events_.push({workload_.jobs[j].submitted, What::arrive, static_cast<int>(j)});
        events_.push({options_.sample, What::sample});
        const auto all = static_cast<std::int64_t>(jobs_.size());
        const auto step = std::max<std::int64_t>(1, all / 500);
        while (!events_.empty() && !over()) {
            advance_to(events_.top().at);
            bool news = false;
            while (!events_.empty() && events_.top().at == now_) {
                const Event event = events_.top();
                events_.pop();
                news |= happen(event);
            }
            if (news) decide();
            if (progress && ended_ >= shown_ + step) progress(shown_ = ended_, all);
        }
        auto out = figures();
        out.seconds = static_cast<double>(clock_.ticks_us() - begun) / 1e6;
        if (progress) progress(all, all);
        return out;
    }

  private:
    const TimedJob& spec(int j) const { return workload_.jobs[static_cast<std::size_t>(j)]; }
    JobState& state(int j) { return jobs_[static_cast<std::size_t>(j)]; }
    bool over() const {
        if (options_.until.count() > 0) return events_.top().at > options_.until;
        return ended_ == static_cast<std::int64_t>(jobs_.size());
    }

    void advance_to(Millis at) {
        const auto span = static_cast<double>((at - now_).count());
        held_ms_ += span * books_.held();
        used_ms_ += span * books_.used();
        stranded_ms_ += span * books_.stranded();
        now_ = at;
    }

    // Whether a scheduler has anything to decide about.
    bool happen(const Event& event) {
        switch (event.what) {
            case What::sample:
                sample();
                events_.push({now_ + options_.sample, What::sample});
                return false;
            case What::wake: return true;
            case What::arrive:
                ++waiting_, waiting_cards_ += spec(event.job).all_cards();
                decider_.arrived(event.job, told_[static_cast<std::size_t>(event.job)], now_);
                return true;
            case What::checkpoint:
                if (!current(event)) return false;
                decider_.checkpointed(event.job, now_);
                events_.push({now_ + options_.checkpoint, What::checkpoint, event.job, event.start});
                return false;
            case What::end:
                if (!current(event)) return false;
                end(event.job);
                return true;
        }
        return false;
    }
    bool current(const Event& event) {
        const JobState& job = state(event.job);
        return job.starts == event.start && !job.cards.empty();
    }

    void decide() {
        for (int rounds = 0;; ++rounds) {
            CRATER_CHECK(rounds < 1'000'000, "a scheduler decides without end at one moment");
            const TimedPlan plan = decider_.pass(now_);
            for (const auto& one : plan.starts) start(one);
            for (const int j : plan.stops) stop(j);
            if (plan.more || !plan.stops.empty()) continue;
            if (plan.wake && *plan.wake > now_ && (!wake_ || *plan.wake < *wake_ || *wake_ <= now_)) {
                wake_ = plan.wake;
                events_.push({*plan.wake, What::wake});
            }
            return;
        }
    }

    void start(const TimedStart& one) {
        JobState& job = state(one.job);
        CRATER_CHECK(job.cards.empty() && job.ended.count() < 0, "a job is started that does not wait");
        books_.take(spec(one.job), one.cards);
        job.cards = one.cards;
        job.began = now_;
        job.works = now_ + (job.starts > 0 ? options_.resume_cost : Millis(0));
        if (job.starts == 0) job.first = now_;
        ++job.starts;
        job.spread = on_several_nodes(job.cards);
        job.was_spread |= job.spread;
        --waiting_, waiting_cards_ -= spec(one.job).all_cards();
        events_.push({job.works + spec(one.job).run_time - job.kept, What::end, one.job, job.starts});
        if (options_.checkpoint.count() > 0)
            events_.push({job.works + options_.checkpoint, What::checkpoint, one.job, job.starts});
    }

    bool could_be_spread(const TimedJob& job) const {
        return job.all_cards() > 1 && job.all_cards() <= workload_.fleet.cards;
    }
    bool on_several_nodes(const std::vector<int>& cards) const {
        const int per_node = workload_.fleet.cards;
        return std::any_of(cards.begin(), cards.end(),
                           [&](int c) { return c / per_node != cards.front() / per_node; });
    }

    void leave(int j) {
        JobState& job = state(j);
        if (could_be_spread(spec(j))) {
            const auto card_ms = static_cast<double>((now_ - job.began).count()) * spec(j).all_cards();
            several_card_ms_ += card_ms;
            if (job.spread) spread_card_ms_ += card_ms;
        }
        books_.give_back(spec(j), job.cards);
        job.cards.clear();
        job.held += now_ - job.began;
    }
    void stop(int j) {
        JobState& job = state(j);
        CRATER_CHECK(!job.cards.empty(), "a job is stopped that does not run");
        const Millis ran = std::max(Millis(0), now_ - job.works);
        const Millis kept = options_.checkpoint.count() > 0 ? ran - ran % options_.checkpoint : ran;
        lost_card_ms_ += static_cast<double>((ran - kept).count()) * spec(j).all_cards();
        job.kept += kept;
        ++job.stops;
        leave(j);
        ++waiting_, waiting_cards_ += spec(j).all_cards();
        decider_.stopped(j, job.kept, now_);
    }
    void end(int j) {
        leave(j);
        state(j).ended = now_;
        ++ended_;
        decider_.ended(j, now_);
    }

    void sample() {
        TimedPoint point;
        const double all = workload_.fleet.total();
        point.hour = static_cast<double>(now_.count()) / ms_per_hour;
        point.held = books_.held() / all, point.used = books_.used() / all;
        point.stranded = books_.stranded() / all;
        point.waiting = waiting_, point.waiting_cards = waiting_cards_;
        curve_.push_back(point);
    }

    static Spread spread_of(std::vector<double> values) {
        if (values.empty()) return {};
        std::sort(values.begin(), values.end());
        const auto at = [&](double part) {
            return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
        };
        double sum = 0;
        for (const double v : values) sum += v;
        return {sum / static_cast<double>(values.size()), at(0.5), at(0.9), at(0.99), values.back()};
    }
    static std::vector<double> quantiles_of(std::vector<double> values) {
        std::sort(values.begin(), values.end());
        std::vector<double> out;
        for (std::size_t q = 0; q <= 100 && !values.empty(); ++q)
            out.push_back(values[q * (values.size() - 1) / 100]);
        return out;
    }

    TimedFigures figures() {
        TimedFigures out;
        std::vector<double> completion, wait, completion_big, wait_big, first;
        std::int64_t stops = 0;
        int several = 0, spread = 0;
        for (std::size_t j = 0; j < jobs_.size(); ++j) {
            JobState& job = jobs_[j];
            const TimedJob& spec = workload_.jobs[j];
            if (spec.submitted > now_) continue;
            ++out.jobs;
            stops += job.stops;
            if (could_be_spread(spec)) ++several, spread += job.was_spread;
            const bool over = job.ended.count() >= 0;
            const Millis end = over ? job.ended : now_;
            const Millis held = job.held + (over || job.cards.empty() ? Millis(0) : now_ - job.began);
            // A job that still waits has waited so long at least.
            const double waited = static_cast<double>((end - spec.submitted - held).count()) / ms_per_hour;
            wait.push_back(waited);
            const Millis started = job.starts > 0 ? job.first : now_;
            first.push_back(static_cast<double>((started - spec.submitted).count()) / ms_per_hour);
            if (spec.all_cards() >= options_.big) wait_big.push_back(waited);
            if (!over) continue;
            ++out.ended;
            completion.push_back(static_cast<double>((end - spec.submitted).count()) / ms_per_hour);
            if (spec.all_cards() >= options_.big) completion_big.push_back(completion.back());
        }
        out.completion_quantiles = quantiles_of(completion), out.wait_quantiles = quantiles_of(wait);
        out.completion_h = spread_of(std::move(completion)), out.wait_h = spread_of(std::move(wait));
        out.completion_big_h = spread_of(std::move(completion_big));
        out.wait_big_h = spread_of(std::move(wait_big));
        out.first_wait_h = spread_of(std::move(first));
        out.preemptions_per_job = out.jobs > 0 ? static_cast<double>(stops) / out.jobs : 0;
        out.spread_jobs = several > 0 ? static_cast<double>(spread) / several : 0;
        out.spread_card_hours = several_card_ms_ > 0 ? spread_card_ms_ / several_card_ms_ : 0;
        out.lost_card_hours = lost_card_ms_ / ms_per_hour;
        const double span = std::max(1.0, static_cast<double>(now_.count())) * workload_.fleet.total();
        out.held = held_ms_ / span, out.used = used_ms_ / span, out.stranded = stranded_ms_ / span;
        out.makespan_h = static_cast<double>(now_.count()) / ms_per_hour;
        out.curve = std::move(curve_);
        return out;
    }

    const Workload& workload_;
    TimedDecider& decider_;
    const TimedOptions& options_;
    const Clock& clock_;
    CardBooks books_;
    std::vector<JobState> jobs_;
    std::vector<Millis> told_;
    std::priority_queue<Event, std::vector<Event>, Later> events_;
    Millis now_{0};
    std::optional<Millis> wake_;
    std::int64_t ended_ = 0, shown_ = 0;
    int waiting_ = 0, waiting_cards_ = 0;
    double held_ms_ = 0, used_ms_ = 0, stranded_ms_ = 0, lost_card_ms_ = 0, several_card_ms_ = 0,
           spread_card_ms_ = 0;
    std::vector<TimedPoint> curve_;
};

}  // namespace

TimedFigures run_timed(const Workload& workload, TimedDecider& decider, const TimedOptions& options,
                       const Clock& clock, const Progress& progress) {
    return Run(workload, decider, options, clock)(progress);
}

}  // namespace crater::replay
