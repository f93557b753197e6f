// One version of one plugin: its process, what it may still do, how it did so far.
//
// loading -> active -> quarantined, or loading -> refused. A quarantined plugin has no process any more.
#pragma once

#include <deque>
#include <optional>

#include "crater/plugin/registry.h"
#include "host_process.h"

namespace crater::plugin {

class Loaded final : public engine::PlacementHook {
  public:
    Loaded(const HostProcess::Command& command, const Options& options, const Clock& clock, Metrics* metrics);

    std::string_view name() const override { return name_; }
    engine::HookAnswer ask(const engine::JobView& job, std::span<const engine::NodeView> nodes) override;

    // Takes note of what came or did not come meanwhile. Waits for nothing.
    void look();
    // Waits until its process has said anything.
    void wait(std::int64_t us) const;
    void wait_for_late_answer(Millis patience) const;

    State state() const { return state_; }
    const std::string& reason() const { return reason_; }
    void fill(Row& row) const;

    void retire();
    bool gone();  // after `retire`: its process ended, in peace or not
    void wait_gone(Millis patience);

  private:
    void greet(const Hello& hello);
    void refuse(const std::string& why);
    void quarantine(const std::string& why);
    bool free_to_ask();
    void take_late_answer();
    void late();
    std::optional<Answer> answer_in_time();
    engine::HookAnswer verdicts(const ImageHead& head, std::span<const engine::NodeView> nodes);
    std::string wrong_score(const engine::HookAnswer& answer, std::span<const engine::NodeView> nodes) const;
    void count(std::string_view outcome);
    void took(std::int64_t us);

    const std::string name_;
    const Options options_;
    const Clock& clock_;
    Metrics* metrics_;
    std::unique_ptr<HostProcess> process_;

    State state_ = State::loading;
    std::string reason_, version_, description_;
    std::uint32_t hooks_ = no_hook;
    Instant since_;
    std::int64_t began_us_ = 0;  // loading, the last question, or the last time it was found late
    std::uint64_t sequence_ = 0;
    bool owes_answer_ = false;  // a question went unanswered and its process is still busy with it
    int late_ = 0, good_ = 0;
    std::int64_t calls_ = 0, late_calls_ = 0;
    std::deque<std::int64_t> times_;  // µs, of the last calls
};

}  // namespace crater::plugin
