// Where a task goes, and what it gets there.
#include <set>

#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

class Place : public ::testing::Test {
  protected:
    Engine engine;
    void node(const NodeInventory& inventory) { engine.apply(NodeSet{inventory}); }
    Plan run(std::initializer_list<EngineJob> jobs) {
        for (const auto& job : jobs) engine.apply(JobAdded{job});
        return engine.pass(noon);
    }
};

TEST_F(Place, whole_cards_are_shared_with_nobody) {
    node(make_node("n1", 2));
    const auto plan = run({a_job("a").gpus(1000), a_job("b").gpus(1000).at(1), a_job("c").gpus(1000).at(2)});
    ASSERT_EQ(plan.placements.size(), 2u);
    EXPECT_NE(allocation_of(engine, plan, "a")->gpus[0].index,
              allocation_of(engine, plan, "b")->gpus[0].index);
    EXPECT_TRUE(allocation_of(engine, plan, "a")->gpus[0].exclusive);
    EXPECT_EQ(allocation_of(engine, plan, "a")->gpus[0].memory.value, 40960);
    EXPECT_EQ(allocation_of(engine, plan, "c"), nullptr);
}

TEST_F(Place, memory_below_the_cards_size_shares_it_rounded_up_and_weighted) {
    node(make_node("n1", 1));
    const auto plan =
        run({a_job("a").gpus(1000).gpu_memory(16384), a_job("b").gpus(1000).gpu_memory(16384).at(1),
             a_job("c").gpus(1000).gpu_memory(16384).at(2)});
    ASSERT_EQ(plan.placements.size(), 2u);
    const auto slice = allocation_of(engine, plan, "a")->gpus.at(0);
    EXPECT_EQ(slice.memory.value, 16640);  // 13 steps of 1280
    EXPECT_EQ(slice.compute.value, 406);
    EXPECT_FALSE(slice.exclusive);
    EXPECT_FALSE(slice.capped);
}

TEST_F(Place, a_request_of_the_nominal_size_means_the_whole_card) {
    node(make_node("n1", 1, 1, 40536));
    const auto plan = run({a_job("a").gpus(1000).gpu_memory(40960)});
    ASSERT_EQ(plan.placements.size(), 1u);
    EXPECT_TRUE(allocation_of(engine, plan, "a")->gpus[0].exclusive);
    EXPECT_EQ(allocation_of(engine, plan, "a")->gpus[0].memory.value, 40536);
}

TEST_F(Place, two_halves_fit_on_one_card_whatever_its_driver_reports) {
    node(make_node("n1", 1, 1, 40537));
    EXPECT_EQ(run({a_job("a").gpus(500), a_job("b").gpus(500)}).placements.size(), 2u);
}

TEST_F(Place, compute_is_a_hard_cap_only_when_given) {
    node(make_node("n1", 1));
    auto capped = a_job("a").gpus(1000).gpu_memory(8192);
    capped.spec.resources.gpu.compute = MilliGpu(300);
    const auto plan = run({capped});
    EXPECT_TRUE(allocation_of(engine, plan, "a")->gpus[0].capped);
    EXPECT_EQ(allocation_of(engine, plan, "a")->gpus[0].compute.value, 300);
}

TEST_F(Place, at_most_max_tasks_per_gpu_share_a_card) {
    node(make_node("n1", 1));
    for (int i = 0; i < 12; ++i)
        engine.apply(JobAdded{a_job("j" + std::to_string(i)).gpus(1000).gpu_memory(1024).cpu(100)});
    EXPECT_EQ(engine.pass(noon).placements.size(), 8u);
}

TEST_F(Place, gives_gpu_tasks_whole_cores_next_to_their_card) {
    node(make_node("n1", 2, 2));
    auto second = a_job("b").gpus(1000).cpu(4000).at(1);
    const auto plan = run({a_job("a").gpus(1000).cpu(4000), second});
    for (const char* id : {"a", "b"}) {
        const auto got = allocation_of(engine, plan, id);
        ASSERT_NE(got, nullptr);
        const bool first_domain = got->gpus[0].index == 0;
        EXPECT_EQ(got->numa_node, first_domain ? 0 : 1);
        EXPECT_EQ(got->cpu_set, (first_domain ? std::vector<std::int64_t>{0, 1, 2, 3}
                                              : std::vector<std::int64_t>{8, 9, 10, 11}));
    }
}

TEST_F(Place, gives_shares_where_whole_cores_do_not_come_out_even_and_to_cpu_only_work) {
    node(make_node("n1", 1, 1));
    const auto plan = run(
        {a_job("a").gpus(500).cpu(1000), a_job("b").gpus(500).cpu(1500).at(1), a_job("c").cpu(2000).at(2)});
    for (const char* id : {"a", "b", "c"}) {
        ASSERT_NE(allocation_of(engine, plan, id), nullptr) << id;
        EXPECT_TRUE(allocation_of(engine, plan, id)->cpu_set.empty()) << id;
    }
}

TEST_F(Place, cpu_only_work_leaves_the_preprocessing_reserve_of_gpu_nodes_alone) {
    node(make_node("n1", 1, 1));  // 8 cores, 1.6 of them reserved
    EXPECT_EQ(run({a_job("a").cpu(6400)}).placements.size(), 1u);
    engine.apply(TaskFreed{"a", 0});
    engine.apply(JobRemoved{"a"});
    EXPECT_EQ(run({a_job("b").cpu(6500)}).placements.size(), 0u);
    EXPECT_EQ(engine.why("b", noon)->binding, "cpu");
}

TEST_F(Place, strict_numa_refuses_what_would_cross_domains) {
    node(make_node("n1", 4, 2));
    auto job = a_job("a").gpus(3000);
    job.spec.numa_binding_policy = NumaPolicy::strict;
    auto two = a_job("b").gpus(2000).cpu(8000);
    two.spec.numa_binding_policy = NumaPolicy::strict;
    const auto plan = run({job, two});
    EXPECT_EQ(allocation_of(engine, plan, "a"), nullptr);
    ASSERT_NE(allocation_of(engine, plan, "b"), nullptr);
    EXPECT_GE(allocation_of(engine, plan, "b")->numa_node, 0);
}

TEST_F(Place, memory_bandwidth_is_used_up_per_domain) {
    node(make_node("n1", 0, 2));
    std::vector<EngineJob> jobs;
    for (int i = 0; i < 3; ++i) {
        auto job = a_job("j" + std::to_string(i));
        job.spec.resources.memory.bandwidth = BytesPerSecond(100'000'000'000);
        engine.apply(JobAdded{job});
    }
    const auto plan = engine.pass(noon);
    ASSERT_EQ(plan.placements.size(), 2u);
    EXPECT_NE(allocation_of(engine, plan, "j0")->numa_node, allocation_of(engine, plan, "j1")->numa_node);
}

TEST_F(Place, nvlink_takes_only_cards_that_are_linked) {
    auto inventory = make_node("n1", 4, 2);
    inventory.gpus[1].nvlink_peers = {2};
    inventory.gpus[2].nvlink_peers = {1};
    node(inventory);
    auto job = a_job("a").gpus(2000);
    job.spec.resources.gpu.interconnect = Interconnect::nvlink;
    auto another = a_job("b").gpus(2000).at(1);
    another.spec.resources.gpu.interconnect = Interconnect::nvlink;
    const auto plan = run({job, another});
    ASSERT_NE(allocation_of(engine, plan, "a"), nullptr);
    EXPECT_EQ(allocation_of(engine, plan, "a")->gpus[0].index, 1);
    EXPECT_EQ(allocation_of(engine, plan, "a")->gpus[1].index, 2);
    EXPECT_EQ(engine.why("b", noon)->binding, "gpu_interconnect");
}

TEST_F(Place, disks_are_reserved_by_iops_and_chosen_by_latency) {
    auto inventory = make_node("n1", 0, 1);
    Disk slow = inventory.disks[0];
    slow.name = "sda";
    slow.latency = Micros(4000);
    slow.iops = Iops(300);
    inventory.disks.insert(inventory.disks.begin(), slow);
    node(inventory);
    auto job = a_job("a");
    job.spec.resources.disk.iops = Iops(600'000);
    job.spec.resources.disk.latency_us_max = Micros(200);
    auto more = job;
    more.job.id = "b";
    const auto plan = run({job, more});
    ASSERT_NE(allocation_of(engine, plan, "a"), nullptr);
    EXPECT_EQ(allocation_of(engine, plan, "a")->disk, "nvme0n1");
    EXPECT_EQ(allocation_of(engine, plan, "a")->disk_iops.value, 600'000);
    EXPECT_EQ(engine.why("b", noon)->binding, "disk_iops");
}

TEST_F(Place, images_go_where_docker_is_and_avx512_means_avx512f) {
    auto plain = make_node("n1", 0, 1);
    plain.runtimes = {"process"};
    node(plain);
    auto old = make_node("n2", 0, 1);
    old.cpu_features = {"avx2"};
    node(old);
    auto image = a_job("a");
    image.spec.image = "pytorch:2";
    auto wide = a_job("b");
    wide.spec.resources.cpu.features = {"AVX512"};
    const auto plan = run({image, wide});
    EXPECT_EQ(node_of(engine, plan, "a"), "n2");
    EXPECT_EQ(node_of(engine, plan, "b"), "n1");
}

TEST_F(Place, labels_pools_names_and_draining_are_kept) {
    for (const char* name : {"n1", "n2", "n3", "n4"}) {
        auto inventory = make_node(name, 0, 1);
        inventory.labels["zone"] = name;
        if (std::string(name) == "n3") inventory.pools = {"fast"};
        node(inventory);
    }
    engine.apply(NodeFlags{"n1", true, false});
    auto labelled = a_job("label"), pooled = a_job("pool"), named = a_job("name"),
         excluded = a_job("exclude");
    labelled.spec.node.labels["zone"] = "n2";
    pooled.spec.node.pool = "fast";
    named.spec.node.include = {"n1"};
    excluded.spec.node.exclude = {"n2", "n3"};
    const auto plan = run({labelled, pooled, named, excluded});
    EXPECT_EQ(node_of(engine, plan, "label"), "n2");
    EXPECT_EQ(node_of(engine, plan, "pool"), "n3");
    EXPECT_EQ(node_of(engine, plan, "name"), "");
    EXPECT_EQ(node_of(engine, plan, "exclude"), "n4");
    engine.apply(NodeFlags{"n1", false, false});
    EXPECT_TRUE(engine.wants_pass());
    EXPECT_EQ(node_of(engine, engine.pass(noon), "name"), "n1");
}

TEST_F(Place, a_job_may_have_a_node_to_itself) {
    node(make_node("n1", 0, 1));
    auto alone = a_job("alone").tasks(2);
    alone.spec.node.exclusive = true;
    auto plan = run({alone, a_job("other").at(1)});
    EXPECT_EQ(node_of(engine, plan, "alone"), "n1");
    EXPECT_EQ(node_of(engine, plan, "other"), "");
    engine.apply(TaskFreed{"alone", 0});
    EXPECT_EQ(engine.pass(noon).placements.size(), 0u);
    engine.apply(TaskFreed{"alone", 1});
    EXPECT_EQ(node_of(engine, engine.pass(noon), "other"), "n1");
}

TEST_F(Place, live_load_above_the_threshold_keeps_work_away_until_it_eases) {
    node(make_node("n1", 0, 1));
    NodeSample busy;
    busy.cpu_percent = 95;
    engine.apply(LoadSampled{"n1", busy});
    EXPECT_EQ(run({a_job("a")}).placements.size(), 0u);
    EXPECT_EQ(engine.why("a", noon)->binding, "cpu_load");
    EXPECT_FALSE(engine.wants_pass());
    busy.cpu_percent = 10;
    engine.apply(LoadSampled{"n1", busy});
    EXPECT_TRUE(engine.wants_pass());
    EXPECT_EQ(engine.pass(noon).placements.size(), 1u);
}

TEST_F(Place, policies_pack_or_spread) {
    add_queue(engine, "packed", Policy::binpack);
    add_queue(engine, "wide", Policy::spread);
    for (const char* name : {"n1", "n2", "n3"}) node(make_node(name, 4));
    std::set<std::string> packed, wide;
    for (int i = 0; i < 3; ++i) {
        engine.apply(JobAdded{a_job("p" + std::to_string(i)).gpus(1000).queue("packed")});
        packed.insert(node_of(engine, engine.pass(noon), "p" + std::to_string(i)));
    }
    for (int i = 0; i < 2; ++i) {
        engine.apply(JobAdded{a_job("w" + std::to_string(i)).gpus(1000).queue("wide")});
        wide.insert(node_of(engine, engine.pass(noon), "w" + std::to_string(i)));
    }
    EXPECT_EQ(packed.size(), 1u);
    EXPECT_EQ(wide.size(), 2u);
    EXPECT_FALSE(wide.contains(*packed.begin()));
}

// What a queue weighs itself counts, for its jobs alone; what it does not name stays its policy's, or the
// settings'.
TEST_F(Place, a_queue_has_weights_of_its_own) {
    node(make_node("n1", 4));
    node(make_node("n2", 4));
    const auto only_on = [](JobMaker job, const char* name) {
        job.spec.node.include = {name};
        return job;
    };
    run({only_on(a_job("cards").gpus(3000).cpu(1000), "n1"), only_on(a_job("cores").cpu(20'000), "n2")});
    const auto goes_to = [&](const PlacementWeights& weights) {
        engine.apply(QueueSet{{.name = "wide", .policy = Policy::spread, .weights = weights}});
        const auto trace = engine.would_place(a_job("asked").gpus(1000).queue("wide"), noon);
        EXPECT_TRUE(trace && !trace->candidates.empty());
        return trace->candidates.at(0);
    };
    PlacementWeights load_alone = no_weights();
    load_alone.load = 7;
    auto cards = load_alone, cores = load_alone;
    cards.w_cpu = cards.w_mem = cards.w_disk = 0;
    cores.w_gpu = cores.w_mem = cores.w_disk = 0;
    EXPECT_EQ(goes_to(cards).node, "n2");
    EXPECT_EQ(goes_to(cores).node, "n1");
    ASSERT_EQ(goes_to(cores).terms.size(), 1u);
    EXPECT_EQ(goes_to(cores).terms[0].name, "load");
    EXPECT_EQ(goes_to(cores).terms[0].weight, 7);

    EXPECT_EQ(goes_to({}).node, "n2") << "the policy's own weights";
    EXPECT_EQ(goes_to({.fit = 100, .load = 0}).node, "n1") << "the fewest cards are left there";
    EXPECT_GT(goes_to({.fit = 100, .load = 0}).terms.size(), 2u);
}

// Data that is preferred draws a job of any queue to where most of it is; what is required keeps it away from
// everywhere else.
TEST_F(Place, jobs_go_to_their_data) {
    add_queue(engine, "near", Policy::affinity);
    add_queue(engine, "wide", Policy::spread);
    auto some = make_node("n2", 4), all = make_node("n3", 4);
    some.cache.datasets = {{"imagenet", {}}};
    all.cache = {{{"imagenet", {}}, {"tokens", {}}}, {{"llama-7b:3", Bytes(13 * gib)}}};
    node(make_node("n1", 4));
    node(some);
    node(all);
    int next = 0;
    const auto goes_to = [&](const std::string& queue, std::vector<std::string> datasets,
                             std::vector<std::string> models, DataLocality how) {
        auto job = a_job("j" + std::to_string(next++)).gpus(1000).queue(queue);
        job.spec.datasets = std::move(datasets), job.spec.models = std::move(models),
        job.spec.data_locality = how;
        const auto trace = engine.would_place(job, noon);
        return trace->candidates.empty() ? std::string() : trace->candidates[0].node;
    };
    for (const char* queue : {"training", "near", "wide"}) {
        EXPECT_EQ(goes_to(queue, {}, {}, DataLocality::preferred), "n1") << queue;
        EXPECT_EQ(goes_to(queue, {"tokens", "imagenet"}, {}, DataLocality::preferred), "n3") << queue;
        EXPECT_EQ(goes_to(queue, {}, {"llama-7b:3"}, DataLocality::preferred), "n3") << queue;
        EXPECT_EQ(goes_to(queue, {"imagenet"}, {}, DataLocality::required), "n2") << queue;
        EXPECT_EQ(goes_to(queue, {"imagenet"}, {"llama-7b:3"}, DataLocality::required), "n3") << queue;
        EXPECT_EQ(goes_to(queue, {"llama-7b:3"}, {}, DataLocality::required), "") << "a model is no dataset";
    }
    auto job = a_job("told").gpus(1000);
    job.spec.datasets = {"imagenet", "tokens"};
    const auto trace = engine.would_place(job, noon);
    std::map<std::string, double> parts;
    for (const auto& candidate : trace->candidates)
        for (const auto& term : candidate.terms)
            if (term.name == "dataset_locality") parts[candidate.node] = term.value;
    EXPECT_EQ(parts, (std::map<std::string, double>{{"n1", 0}, {"n2", 0.5}, {"n3", 1}}));
    for (const auto& term : trace->candidates[0].terms)
        EXPECT_NE(term.name, "model_cache") << "it names no model";
}

TEST_F(Place, a_cache_that_changes_leaves_what_runs_and_what_was_measured_alone) {
    auto real = make_node("n1", 2);
    real.cache.datasets = {{"imagenet", {}}};
    node(real);
    auto job = a_job("a").gpus(1000);
    job.spec.datasets = {"imagenet"}, job.spec.data_locality = DataLocality::required;
    auto late = job;
    late.job.id = "b";
    EXPECT_EQ(run({job}).placements.size(), 1u);
    NodeSample busy{.at = noon, .cpu_percent = 90};
    engine.apply(LoadSampled{"n1", busy});
    real.cache.datasets.clear();
    real.disks[0].free = Bytes(real.disks[0].free.value - gib);
    engine.apply(NodeSet{real});
    EXPECT_EQ(engine.book("n1")->tasks, 1);
    EXPECT_EQ(run({late}).placements.size(), 0u);
    EXPECT_EQ(engine.why("b", noon)->binding, "data_locality");
    real.cache.datasets = {{"imagenet", {}}};
    engine.apply(NodeSet{real});
    EXPECT_TRUE(engine.wants_pass());
    EXPECT_EQ(engine.pass(noon).placements.size(), 0u);
    EXPECT_EQ(engine.why("b", noon)->binding, "cpu_load") << "what was measured stands";
    busy.cpu_percent = 10;
    engine.apply(LoadSampled{"n1", busy});
    EXPECT_EQ(engine.pass(noon).placements.size(), 1u);
}

TEST_F(Place, warm_cards_and_nodes_with_faults_come_last) {
    add_queue(engine, "wide", Policy::spread);
    auto faulty = make_node("n1", 4);
    faulty.gpus[3].healthy = false;
    node(faulty);
    node(make_node("n2", 4));
    node(make_node("n3", 4));
    NodeSample warm{.at = noon}, cool{.at = noon};
    for (int c = 0; c < 4; ++c) {
        warm.gpus.push_back({.index = c, .temperature_celsius = 88});
        cool.gpus.push_back({.index = c, .utilization_percent = 60, .temperature_celsius = 50});
    }
    engine.apply(LoadSampled{"n2", warm});
    engine.apply(LoadSampled{"n3", cool});
    PlacementWeights health_alone = no_weights();
    health_alone.health = 1;
    engine.apply(QueueSet{{.name = "wide", .policy = Policy::spread, .weights = health_alone}});
    const auto trace = engine.would_place(a_job("a").gpus(1000).queue("wide"), noon);
    ASSERT_EQ(trace->candidates.size(), 3u);
    EXPECT_EQ(trace->candidates[0].node, "n3");
    EXPECT_EQ(trace->candidates[1].node, "n1");
    EXPECT_NEAR(trace->candidates[1].score, 0.75, 1e-6);
    EXPECT_NEAR(trace->candidates[2].score, 0.25, 1e-6);

    auto standby = a_job("standby").gpus(1000);
    standby.spec.prefer_low_utilization = true;
    EXPECT_NE(engine.would_place(standby, noon)->candidates.at(0).node, "n3") << "its cards are in use";
}

TEST_F(Place, work_without_a_gpu_stays_off_gpu_nodes_while_others_have_room) {
    node(make_node("a-gpu", 4));
    node(make_node("b-plain", 0, 1));
    EXPECT_EQ(node_of(engine, run({a_job("a")}), "a"), "b-plain");
}

TEST_F(Place, leaves_a_trace_of_the_winner_and_the_next_five) {
    for (int i = 0; i < 8; ++i) node(make_node("n" + std::to_string(i), 1));
    node(make_node("plain", 0, 1));
    const auto plan = run({a_job("a").gpus(1000)});
    const auto trace = engine.words(plan.placements.at(0).trace);
    EXPECT_EQ(trace.policy, "price");
    ASSERT_EQ(trace.candidates.size(), 6u);
    EXPECT_EQ(trace.candidates[0].node, "n0");
    EXPECT_FALSE(trace.candidates[0].terms.empty());
    ASSERT_EQ(trace.rejections.size(), 1u);
    EXPECT_EQ(trace.rejections[0].filter, "gpu_cards");
    EXPECT_EQ(trace.rejections[0].detail, "needs 1 card, it has no GPU");
}

}  // namespace
}  // namespace crater::engine
