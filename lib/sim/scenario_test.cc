// The tools around the world: what a seed draws, how it is kept, how it is made smaller.
#include "crater/sim/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "crater/sim/crew.h"
#include "crater/sim/regressions.h"
#include "crater/sim/shrink.h"

namespace crater::sim {
namespace {

std::size_t submits(const Scenario& scenario) {
    return static_cast<std::size_t>(std::count_if(scenario.steps.begin(), scenario.steps.end(),
                                                  [](const Step& step) { return step.act == Act::submit; }));
}
bool submits_job(const Scenario& scenario, const std::string& id) {
    return std::any_of(scenario.steps.begin(), scenario.steps.end(),
                       [&](const Step& step) { return step.act == Act::submit && step.job == id; });
}
bool strikes(const Scenario& scenario, Fault fault) {
    return std::any_of(scenario.faults.begin(), scenario.faults.end(),
                       [&](const Injection& injection) { return injection.fault == fault; });
}
Scenario with_faults(std::uint64_t seed) {
    Scenario scenario = draw(seed);
    scenario.faults.push_back({.fault = Fault::power_loss, .at = scenario.length / 3});
    scenario.faults.push_back({.fault = Fault::partition, .at = scenario.length / 2, .span = Millis(9'000)});
    return tidied(std::move(scenario));
}

TEST(Draw, a_seed_is_the_same_day_twice_and_another_seed_another) {
    EXPECT_EQ(write_scenario(draw(7)), write_scenario(draw(7)));
    EXPECT_NE(write_scenario(draw(7)), write_scenario(draw(8)));
}

TEST(Draw, days_are_full_on_average) {
    std::size_t faults = 0, jobs = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed)
        faults += draw(seed).faults.size(), jobs += submits(draw(seed));
    EXPECT_GE(faults / 50, 20u);
    EXPECT_GE(jobs / 50, 20u);
}

TEST(Draw, every_kind_of_fault_and_of_step_comes_up_and_none_always) {
    std::map<Fault, int> faults;
    std::map<Act, int> acts;
    constexpr int seeds = 60;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Scenario scenario = draw(seed);
        for (const FaultRow& row : fault_table()) faults[row.fault] += strikes(scenario, row.fault);
        std::set<Act> here;
        for (const Step& step : scenario.steps) here.insert(step.act);
        for (const Act act : here) ++acts[act];
    }
    for (const FaultRow& row : fault_table()) {
        EXPECT_GT(faults[row.fault], 0) << row.name;
        EXPECT_LT(faults[row.fault], seeds) << row.name;
    }
    for (const auto& row : enum_names(Act{})) EXPECT_GT(acts[row.value], 0) << row.name;
}

TEST(ScenarioFile, comes_back_as_it_was) {
    for (const std::uint64_t seed : {1, 2, 3}) {
        const std::string text = write_scenario(draw(seed));
        const auto read = read_scenario(text);
        ASSERT_TRUE(read) << read.error().text();
        EXPECT_EQ(write_scenario(*read), text);
        EXPECT_EQ(story(*read), story(draw(seed)));
    }
}

TEST(ScenarioFile, a_wrong_word_is_named) {
    const auto read = read_scenario("options: {nodes: [{name: n1}]}\nfaults: [{fault: agent_krash}]\n");
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().text().find("faults[0].fault"), std::string::npos) << read.error().text();
    EXPECT_NE(read.error().text().find("agent_crash"), std::string::npos) << read.error().text();
    EXPECT_FALSE(read_scenario("options: {nodes: []}"));
    const auto far = read_scenario("options: {nodes: [{name: n1}]}\nsteps: [{act: drain, node: 1}]\n");
    ASSERT_FALSE(far);
    EXPECT_NE(far.error().text().find("steps[0].node"), std::string::npos) << far.error().text();
}

TEST(Tidied, nothing_names_what_is_not_there) {
    Scenario scenario;
    scenario.options.nodes.resize(1);
    JobSpec late;
    late.after_ok = {"gone"};
    scenario.steps = {{.at = Millis(5), .act = Act::cancel, .job = "gone"},
                      {.at = Millis(4), .act = Act::submit, .job = "a", .spec = late},
                      {.at = Millis(3), .act = Act::cancel, .job = "a"},
                      {.at = Millis(2), .act = Act::drain, .node = 1}};
    scenario.faults = {{.fault = Fault::agent_crash, .node = 1},
                       {.fault = Fault::scheduler_crash, .node = 1}};
    scenario = tidied(std::move(scenario));
    ASSERT_EQ(scenario.steps.size(), 1u);
    EXPECT_TRUE(scenario.steps[0].spec.after_ok.empty());
    ASSERT_EQ(scenario.faults.size(), 1u);
    EXPECT_EQ(scenario.faults[0].fault, Fault::scheduler_crash);
}

TEST(Play, a_seed_is_the_same_twice_and_nothing_is_wrong) {
    const Outcome first = play(draw(11)), second = play(draw(11));
    EXPECT_EQ(first.counts.events, second.counts.events);
    EXPECT_EQ(first.trace_hash, second.trace_hash);
    EXPECT_NE(first.trace_hash, play(draw(12)).trace_hash);
    for (const Violation& v : first.violations)
        ADD_FAILURE() << v.checker << ": " << v.text << "\n" << first.trace;
}

// A failure that needs one job, its cancel and one fault: everything else has to go.
TEST(Shrink, leaves_what_the_failure_needs) {
    Scenario big = with_faults(3);
    JobSpec gang;
    gang.tasks = 4;
    big.steps.push_back({.at = Millis(20'000), .act = Act::submit, .job = "guilty", .spec = gang});
    big.steps.push_back({.at = Millis(30'000), .act = Act::cancel, .job = "guilty"});
    big = tidied(std::move(big));
    int asked = 0;
    const auto fails = [&](const Scenario& s) {
        ++asked;
        const bool cancelled = std::any_of(s.steps.begin(), s.steps.end(), [](const Step& step) {
            return step.act == Act::cancel && step.job == "guilty";
        });
        return cancelled && strikes(s, Fault::partition);
    };
    const Shrunk small = shrink(big, fails, 2'000);
    EXPECT_EQ(small.runs, asked);
    EXPECT_EQ(small.scenario.steps.size(), 2u);
    EXPECT_EQ(small.scenario.steps[0].spec.tasks, 1);
    EXPECT_EQ(small.scenario.faults.size(), 1u);
    EXPECT_EQ(small.scenario.options.nodes.size(), 1u);
    EXPECT_LT(small.scenario.length, big.length);
    EXPECT_EQ(write_scenario(shrink(big, fails, 2'000).scenario), write_scenario(small.scenario));
}

TEST(Shrink, asks_no_more_than_it_may) {
    int asked = 0;
    const auto fails = [&](const Scenario& s) { return ++asked, submits_job(s, "t3"); };
    const Shrunk small = shrink(draw(4), fails, 25);
    EXPECT_LE(asked, 25);
    EXPECT_TRUE(submits_job(small.scenario, "t3"));
}

// What ends a process of the crew is found like anything else, and the others go on.
TEST(Crew, a_check_that_fails_is_a_violation_of_that_scenario_alone) {
    std::uint64_t next = 0;
    std::map<std::uint64_t, Report> reports;
    Crew(2).play(
        [&]() -> std::optional<Assignment> {
            if (next == 3) return std::nullopt;
            const auto number = next++;
            return Assignment{number, [number] {
                                  CRATER_CHECK(number != 1, "planted");
                                  Scenario quiet;
                                  quiet.options.nodes.push_back(draw(1).options.nodes.front());
                                  quiet.length = Millis(5'000);
                                  return quiet;
                              }};
        },
        [&](const Assignment& what, Report report) { reports[what.number] = std::move(report); });
    ASSERT_EQ(reports.size(), 3u);
    ASSERT_EQ(reports[1].outcome.violations.size(), 1u);
    EXPECT_EQ(reports[1].outcome.violations[0].checker, "crash");
    EXPECT_NE(reports[1].outcome.violations[0].text.find("planted"), std::string::npos)
        << reports[1].outcome.violations[0].text;
    for (const std::uint64_t sound : {0, 2}) {
        EXPECT_TRUE(reports[sound].outcome.violations.empty());
        EXPECT_GT(reports[sound].outcome.counts.events, 0u);
    }
    EXPECT_EQ(reports[0].outcome.trace_hash, reports[2].outcome.trace_hash);
}

// What a process says of a day is what the day was.
TEST(Crew, a_report_says_what_was_played) {
    const Outcome here = play(draw(5));
    const Report there = play_alone({5, [] { return draw(5); }, true});
    EXPECT_TRUE(there.twice);
    EXPECT_EQ(there.outcome.trace_hash, here.trace_hash);
    EXPECT_EQ(there.outcome.counts.events, here.counts.events);
    EXPECT_EQ(there.outcome.counts.faults, here.counts.faults);
    EXPECT_EQ(there.outcome.elapsed, here.elapsed);
    EXPECT_EQ(there.outcome.coverage.table(), here.coverage.table());
}

TEST(Regressions, are_seeds_and_files_with_their_reasons) {
    const auto read =
        read_regressions("# all of them\n\n4711 lost a job # in spring\nsmall.yaml  started twice\n");
    ASSERT_TRUE(read) << read.error().text();
    ASSERT_EQ(read->size(), 2u);
    EXPECT_EQ((*read)[0].seed, 4711u);
    EXPECT_EQ((*read)[1].file, "small.yaml");
    EXPECT_EQ((*read)[1].what, "started twice");
    const auto wrong = read_regressions("12\n");
    ASSERT_FALSE(wrong);
    EXPECT_NE(wrong.error().text().find("line 1"), std::string::npos);
    EXPECT_FALSE(read_regressions("12x lost a job\n"));
}

}  // namespace
}  // namespace crater::sim
