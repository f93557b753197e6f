#include "crater/replay/timed.h"

#include <gtest/gtest.h>

#include <sstream>

#include "books.h"
#include "crater/replay/generate.h"
#include "crater/replay/mix.h"
#include "crater/replay/report.h"

namespace crater::replay {
namespace {

struct StoppedClock final : Clock {
    Instant now() const override { return {}; }
    std::int64_t ticks_us() const override { return 0; }
};

TimedJob job_at(int second, int seconds, int cards) {
    TimedJob out;
    out.submitted = Millis(second * 1000), out.run_time = Millis(seconds * 1000), out.cards = cards;
    return out;
}

// Four cards; a wide job blocks, a short and a long narrow one come behind it.
Workload blocked_head() {
    Workload out;
    out.name = "blocked head", out.fleet = {1, 4, 40 * 1024};
    out.jobs = {job_at(0, 100, 3), job_at(1, 10, 4), job_at(2, 50, 1), job_at(3, 200, 1)};
    return out;
}

TimedFigures run(const std::string& name, const Workload& workload, TimedOptions options = {}) {
    auto figures = run_named(name, workload, options, {}, StoppedClock());
    EXPECT_TRUE(figures) << figures.error().text();
    return figures ? *figures : TimedFigures{};
}
double mean_seconds(const TimedFigures& figures) { return figures.completion_h.mean * 3600; }

TEST(Timed, in_order_of_arrival_nobody_passes) {
    // 0-100, 100-110, 110-160, 110-310.
    EXPECT_NEAR(mean_seconds(run("peer:fifo", blocked_head())), (100 + 109 + 158 + 307) / 4.0, 1e-6);
}

TEST(Timed, easy_lets_pass_only_what_does_not_delay_the_head) {
    // The third passes, 2-52; the fourth would hold a card of the second's.
    EXPECT_NEAR(mean_seconds(run("peer:easy", blocked_head())), (100 + 109 + 50 + 307) / 4.0, 1e-6);
}

TEST(Timed, who_has_waited_long_enough_comes_before_the_shortest) {
    Workload many;
    many.fleet = {1, 1, 1024};
    for (int hour = 0; hour < 400; ++hour) many.jobs.push_back(job_at(hour * 3600, 3600, 1));
    many.jobs.push_back(job_at(10, 7200, 1));  // longer than all others, of which one comes each hour
    const auto first_wait = [&](const char* order) { return run(order, many).first_wait_h.longest; };
    EXPECT_NEAR(first_wait("peer:sjf"), 400, 1);
    EXPECT_NEAR(first_wait("peer:sjf_aged"), 200, 2);
}

TEST(Timed, whoever_has_least_left_goes_first_and_pays_for_each_resume) {
    TimedOptions free_of_cost;
    free_of_cost.resume_cost = Millis(0);
    const auto figures = run("peer:srtf", blocked_head(), free_of_cost);
    EXPECT_NEAR(mean_seconds(figures), (110 + 10 + 59 + 258) / 4.0, 1e-6);
    EXPECT_DOUBLE_EQ(figures.preemptions_per_job, 0.25);
    TimedOptions ten;
    ten.resume_cost = Millis(10'000);
    EXPECT_NEAR(mean_seconds(run("peer:srtf", blocked_head(), ten)), (120 + 10 + 59 + 258) / 4.0, 1e-6);
}

TEST(Timed, what_ran_since_the_last_checkpoint_is_lost) {
    TimedOptions options;
    options.resume_cost = Millis(0), options.checkpoint = Millis(40'000);
    Workload two;
    two.fleet = {1, 1, 1024};
    two.jobs = {job_at(0, 100, 1), job_at(50, 10, 1)};
    // stopped at 50 with 40 kept: 60 left, from 60 to 120
    const auto figures = run("peer:srtf", two, options);
    EXPECT_NEAR(mean_seconds(figures), (120 + 10) / 2.0, 1e-6);
    EXPECT_NEAR(figures.lost_card_hours * 3600, 10, 1e-6);
}

TEST(Timed, two_queues_by_card_time_received) {
    Workload two;
    two.fleet = {1, 1, 1024};
    two.jobs = {job_at(0, 30'000, 1), job_at(10'000, 100, 1), job_at(20'000, 100, 1)};
    TimedOptions options;
    options.resume_cost = Millis(0);
    // The first has had less than 18,000 s at 10,000 and goes on; at 20,000 it stands in the second queue.
    const auto figures = run("peer:las2", two, options);
    EXPECT_DOUBLE_EQ(figures.preemptions_per_job, 1 / 3.0);
    // The second waits until the third comes and the first gives way: there is no pass in between.
    EXPECT_NEAR(figures.completion_h.longest * 3600, 30'200, 1e-6);
}

TEST(Timed, the_engine_runs_every_job_and_decides_the_same_again) {
    const auto workload =
        generate("poisson:jobs=300,load=1.2,run=20m,cards=1/1/2/8/16,share=0.4", Fleet{4, 8, 40 * 1024}, 7);
    ASSERT_TRUE(workload) << workload.error().text();
    for (const char* order : {"fair", "fifo", "shortest", "las", "shortest@keep"}) {
        const auto first = run(order, *workload), second = run(order, *workload);
        EXPECT_EQ(first.ended, 300) << order;
        EXPECT_EQ(first.completion_h.mean, second.completion_h.mean) << order;
        EXPECT_EQ(first.preemptions_per_job, second.preemptions_per_job) << order;
        EXPECT_GT(first.used, 0) << order;
    }
    EXPECT_EQ(run("shortest@keep", *workload).preemptions_per_job, 0);
    EXPECT_LT(run("shortest", *workload).completion_h.mean, run("fifo", *workload).completion_h.mean);
}

TEST(Timed, services_share_cards_in_the_engine_and_hold_whole_ones_elsewhere) {
    Workload four;
    four.fleet = {1, 2, 40 * 1024};
    for (int i = 0; i < 4; ++i) {
        TimedJob job = job_at(0, 3600, 1);
        job.service = true, job.memory_mib = 8 * 1024, job.compute = job.used = 200;
        four.jobs.push_back(job);
    }
    const auto ours = run("fair", four), whole = run("peer:whole_card", four);
    EXPECT_NEAR(ours.makespan_h, 1, 1e-9);
    EXPECT_NEAR(whole.makespan_h, 2, 1e-9);
    EXPECT_NEAR(whole.stranded, 0.8, 1e-9);  // 32 of 40 GiB on each card
    EXPECT_NEAR(whole.used, 0.2, 1e-9);
    EXPECT_EQ(ours.stranded, 0);
}

TEST(Timed, with_relaxed_locality_a_job_starts_wherever_its_cards_are_and_on_one_node_where_it_can) {
    Workload two;
    two.fleet = {2, 2, 40 * 1024};
    // The second leaves one card of each node free; later all are.
    two.jobs = {job_at(0, 1000, 1), job_at(0, 10, 1), job_at(0, 1000, 1), job_at(20, 100, 2),
                job_at(2000, 100, 2)};
    const auto strict = run("fifo", two);
    EXPECT_NEAR(strict.first_wait_h.longest * 3600, 980, 1e-6);
    EXPECT_EQ(strict.spread_jobs, 0);
    relax_locality(two);
    EXPECT_EQ(two.jobs[3].tasks, 2);
    EXPECT_EQ(two.jobs[0].tasks, 1);
    const auto relaxed = run("fifo", two);
    EXPECT_EQ(relaxed.first_wait_h.longest, 0);
    EXPECT_DOUBLE_EQ(relaxed.spread_jobs, 0.5);
    EXPECT_DOUBLE_EQ(relaxed.spread_card_hours, 0.5);
}

TEST(CardBooks, what_no_shape_could_use_is_stranded_and_nothing_is_booked_twice) {
    Workload workload;
    workload.fleet = {1, 2, 40 * 1024};
    TimedJob small = job_at(0, 1, 1), greedy = job_at(0, 1, 1);
    small.memory_mib = 2 * 1024, small.compute = 100, small.used = 50;
    greedy.memory_mib = 10 * 1024, greedy.compute = 950, greedy.used = 900;
    workload.jobs = {small, greedy};
    CardBooks books(workload);
    books.take(greedy, {0});
    EXPECT_NEAR(books.stranded(), 0.75, 1e-9);  // 50 thousandths of compute are too few for the small one
    books.give_back(greedy, {0});
    books.take(small, {0});
    EXPECT_EQ(books.stranded(), 0);
    EXPECT_NEAR(books.used(), 0.05, 1e-9);
    EXPECT_DEATH(books.take(greedy, {0}), "overbooked");
}

TEST(Philly, lines_are_read_in_order_of_time_and_refused_with_their_place) {
    const std::string head = "timestamp,duration,num_gpus,gpu_time,cluster\n";
    std::istringstream good(head + "2017-10-09 07:01:55,66.0,1,66.0,a\n2017-10-09 07:00:55,0.2,16,9,b\n");
    const auto workload = parse_philly(good, "philly.csv");
    ASSERT_TRUE(workload) << workload.error().text();
    EXPECT_EQ(workload->jobs[0].tasks * workload->jobs[0].cards, 16);
    EXPECT_EQ(workload->jobs[0].cards, 8);
    EXPECT_EQ(workload->jobs[0].run_time, Millis(1000));
    EXPECT_EQ(workload->jobs[1].submitted, Millis(60'000));
    std::istringstream bad(head + "yesterday,66.0,1,66.0,a\n");
    EXPECT_EQ(parse_philly(bad, "philly.csv").error().field, "philly.csv line 2");
    std::istringstream wide(head + "2017-10-09 07:01:55,66.0,1024,66.0,a\n");
    EXPECT_NE(parse_philly(wide, "philly.csv").error().message.find("1 to 512"), std::string::npos);
}

TEST(Generate, kueues_own_configuration_has_its_published_size) {
    const auto workload = generate("kueue-baseline", Fleet{}, 1);
    ASSERT_TRUE(workload);
    EXPECT_EQ(workload->jobs.size(), 15'000u);
    double card_seconds = 0;
    for (const auto& job : workload->jobs)
        card_seconds += static_cast<double>(job.run_time.count()) / 1000 * job.all_cards();
    EXPECT_NEAR(card_seconds / workload->fleet.total(), 66, 1e-9);
}

TEST(Generate, errors_name_the_nearest) {
    EXPECT_EQ(generate("poison", Fleet{}, 1).error().hint, "did you mean 'poisson'?");
    EXPECT_EQ(generate("poisson:laod=1", Fleet{}, 1).error().hint, "did you mean 'load'?");
    EXPECT_NE(generate("poisson:jobs=none", Fleet{}, 1).error().message.find("1 to 10000000"),
              std::string::npos);
    EXPECT_EQ(run_named("peer:eazy", {}, {}, {}, StoppedClock()).error().hint, "did you mean 'easy'?");
    EXPECT_EQ(run_named("shortets", {}, {}, {}, StoppedClock()).error().hint, "did you mean 'shortest'?");
}

TEST(Mix, is_what_its_document_says) {
    Workload philly;
    for (int i = 0; i < 4000; ++i) philly.jobs.push_back(job_at(i * 300, 1800 + i, i % 9 == 0 ? 8 : 1));
    RequestRate rate{{0.5, 1.5}};
    MixOptions options;
    options.load = 2;
    const Workload mix = compose_mix(philly, rate, options);
    double services = 0, all = 0, small = 0, count = 0, first_half = 0;
    for (const auto& job : mix.jobs) {
        const double card_s = static_cast<double>(job.run_time.count()) / 1000 * job.all_cards();
        all += card_s;
        if (!job.service) continue;
        services += card_s, ++count;
        small += job.memory_mib == 2048;
        first_half += job.submitted.count() % 86'400'000 < 43'200'000;
        EXPECT_TRUE(job.used >= 50 && job.used <= 250 && job.used == job.compute);
    }
    EXPECT_NEAR(services / all, 0.5, 0.02);
    EXPECT_NEAR(all / (7 * 86'400.0 * 512), 2, 0.02);
    EXPECT_NEAR(small / count, 0.3, 0.03);
    EXPECT_NEAR(first_half / count, 0.25, 0.03);
    EXPECT_EQ(compose_mix(philly, rate, options).jobs.size(), mix.jobs.size());
    options.span = Millis(2 * 86'400'000LL);
    const double part = services_for_three_quarters(philly, rate, options);
    EXPECT_TRUE(part > 0.1 && part < 0.9) << part;
}

TEST(Report, is_one_page_that_no_name_can_break_out_of) {
    const auto page = report_page(R"({"workload":"</script>"})");
    EXPECT_EQ(page.find("</script>\"}"), std::string::npos);
    EXPECT_NE(page.find("\\u003c/script>"), std::string::npos);
    EXPECT_EQ(page.find("https://"), std::string::npos);
}

}  // namespace
}  // namespace crater::replay
