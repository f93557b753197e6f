// Delta debugging (Zeller and Hildebrandt): parts of a list are left out, first large ones, then ever smaller
// ones, and what can be left out without losing the failure stays out. Passes over what else can be less are
// repeated until none helps.
#include "crater/sim/shrink.h"

#include <algorithm>

namespace crater::sim {
namespace {

class Shrinker {
  public:
    Shrinker(Scenario scenario, const StillFails& still_fails, int runs_max)
        : best_(tidied(std::move(scenario))),
          still_fails_(still_fails),
          left_(runs_max),
          runs_max_(runs_max) {}

    Shrunk run() {
        for (bool better = true; better && left_ > 0;) {
            better = cut_the_end();
            better |= thin_out(&Scenario::faults);
            better |= thin_out(&Scenario::steps);
            better |= fewer_nodes();
            better |= calmer();
            better |= plainer_jobs();
        }
        return {std::move(best_), runs_max_ - left_};
    }

  private:
    bool try_this(Scenario candidate) {
        if (left_ <= 0) return false;
        candidate = tidied(std::move(candidate));
        --left_;
        if (!still_fails_(candidate)) return false;
        best_ = std::move(candidate);
        return true;
    }
    // The same after one change; false also when the change changes nothing.
    template <class Change>
    bool try_change(Change change) {
        Scenario candidate = best_;
        return change(candidate) && try_this(std::move(candidate));
    }

    bool cut_the_end() {
        bool better = false;
        for (Millis cut = best_.length / 2; cut >= Millis(1'000) && left_ > 0;) {
            const Millis length = best_.length - cut;
            if (length > Millis(0) && try_change([&](Scenario& s) { return s.length = length, true; }))
                better = true;
            else
                cut /= 2;
        }
        return better;
    }

    template <class List>
    bool thin_out(List list) {
        bool better = false;
        for (std::size_t part = std::max<std::size_t>(1, (best_.*list).size() / 2); part > 0 && left_ > 0;
             part /= 2) {
            for (std::size_t at = 0; at < (best_.*list).size() && left_ > 0;) {
                const auto leave_out = [&](Scenario& s) {
                    auto& from = s.*list;
                    const auto first = from.begin() + static_cast<std::ptrdiff_t>(at);
                    from.erase(first, first + static_cast<std::ptrdiff_t>(std::min(part, from.size() - at)));
                    return true;
                };
                if (try_change(leave_out))
                    better = true;
                else
                    at += part;
            }
        }
        return better;
    }

    bool fewer_nodes() {
        bool better = false;
        while (best_.options.nodes.size() > 1 &&
               try_change([](Scenario& s) { return s.options.nodes.pop_back(), true; }))
            better = true;
        return better;
    }

    bool calmer() {
        bool better = false;
        const auto put = [&](auto Weather::*what, auto value) {
            better |= try_change([&](Scenario& s) {
                if (s.options.weather.*what == value) return false;
                s.options.weather.*what = value;
                return true;
            });
        };
        put(&Weather::message_loss, 0.0);
        put(&Weather::callback_failures_percent, 0);
        put(&Weather::task_failures_percent, 0);
        put(&Weather::clock_skew_max, Millis(0));
        better |= try_change([](Scenario& s) {
            return !s.options.settings.queues.empty() && (s.options.settings.queues.clear(), true);
        });
        better |= try_change([](Scenario& s) {
            return s.options.settings.defragment_every > Millis(0) &&
                   (s.options.settings.defragment_every = Millis(0), true);
        });
        return better;
    }

    // What a job asks for beside cards, cores, memory and time.
    bool plainer_jobs() {
        bool better = false;
        for (std::size_t i = 0; i < best_.steps.size() && left_ > 0; ++i) {
            if (best_.steps[i].act != Act::submit) continue;
            const auto put = [&](auto JobSpec::*what, const auto& value) {
                better |= try_change([&](Scenario& s) {
                    auto& now = s.steps[i].spec.*what;
                    if (now == value) return false;
                    now = value;
                    return true;
                });
            };
            put(&JobSpec::tasks, std::int64_t{1});
            put(&JobSpec::time_limit, Millis(0));
            put(&JobSpec::max_queue_time, Millis(0));
            put(&JobSpec::after_ok, std::vector<std::string>());
            put(&JobSpec::after_any, std::vector<std::string>());
            put(&JobSpec::tenant, std::string());
            put(&JobSpec::duration, Millis(1'000));
        }
        return better;
    }

    Scenario best_;
    const StillFails& still_fails_;
    int left_, runs_max_;
};

}  // namespace

Shrunk shrink(Scenario scenario, const StillFails& still_fails, int runs_max) {
    return Shrinker(std::move(scenario), still_fails, runs_max).run();
}

}  // namespace crater::sim
