// A survey against a look at every node: whatever happened before, it lacks what the filters say and has what
// they measure.
#include "explain/survey.h"

#include "crater/base/clock.h"
#include "testing.h"

namespace crater::engine {
namespace {

using namespace testing;

constexpr std::int64_t minute = 60'000;

// Nodes of every kind, on which everything happens that may.
struct Grounds {
    explicit Grounds(std::uint64_t seed) : rng(seed), cluster(settings()) {
        for (int n = 0; n < 14; ++n) come("n" + std::to_string(n));
    }

    static Settings settings() {
        Settings out;
        out.max_tasks_per_gpu = 3;
        out.gpu_threshold = 0.6;
        out.gpu_preprocessing_reserve = 0.1;
        out.memory_overcommit_ratio = 1.1;
        return out;
    }

    bool one_in(std::uint64_t n) { return rng.below(n) == 0; }
    std::int64_t up_to(std::uint64_t n) { return static_cast<std::int64_t>(rng.below(n + 1)); }

    NodeInventory inventory(const std::string& name) {
        const std::array<int, 6> counts{0, 1, 4, 8, 8, 12};
        const bool small = one_in(3);
        NodeInventory node =
            make_node(name, counts[rng.below(counts.size())], static_cast<int>(1 + rng.below(2)),
                      small ? 16384 : 40960, small ? "t4" : "a100-pcie-40gb");
        for (auto& gpu : node.gpus) {
            if (one_in(20)) gpu.healthy = false;
            if (small) gpu.compute_capability = "7.5", gpu.precisions = {"fp16"};
            if (gpu.index > 0 && one_in(2)) gpu.nvlink_peers = {gpu.index - 1};
        }
        if (node.gpus.size() == 4 && one_in(3)) node.gpus[1].model = "l4";
        if (node.gpus.size() == 1 && one_in(2)) cut_into_instances(node.gpus[0]);
        if (one_in(4)) node.runtimes = {"docker"};
        if (one_in(3)) node.labels["zone"] = "a";
        if (one_in(3)) node.pools = {"night"};
        return node;
    }

    int come(const std::string& name) {
        const int n = cluster.set_node(std::make_shared<const NodeInventory>(inventory(name)));
        if (one_in(2)) surveys.node_registered(cluster, n);
        return n;
    }

    JobSpec any_request() {
        JobMaker job("j");
        job.cpu(up_to(40) * 500).memory(up_to(60) * gib);
        auto& gpu = job.spec.resources.gpu;
        switch (rng.below(5)) {
            case 0: break;
            case 1: job.gpus((1 + up_to(8)) * 100); break;
            case 2: job.gpus((1 + up_to(2)) * 1000).gpu_memory((1 + up_to(40)) * 1024); break;
            default: job.gpus((1 + up_to(9)) * 1000);
        }
        if (one_in(6)) gpu.compute = MilliGpu((1 + up_to(9)) * 100);
        if (one_in(8)) gpu.model = one_in(2) ? "a100" : "h100";
        if (one_in(8)) gpu.exclusive = true;
        if (one_in(8)) gpu.min_compute_capability = "8.0";
        if (one_in(8)) gpu.precision = "bf16";
        if (one_in(6)) gpu.interconnect = one_in(2) ? Interconnect::nvlink : Interconnect::same_numa;
        if (one_in(8)) job.type(JobType::inference);
        if (one_in(6)) job.spec.resources.disk.size = Bytes(up_to(5000) * gib);
        if (one_in(8)) job.spec.resources.memory.bandwidth = BytesPerSecond(up_to(150) * 1'000'000'000);
        if (one_in(6)) job.spec.numa_binding_policy = NumaPolicy::strict;
        if (one_in(8)) job.spec.node.exclusive = true;
        if (one_in(8)) job.spec.node.labels["zone"] = "a";
        if (one_in(8)) job.spec.node.pool = "night";
        if (one_in(8)) job.spec.node.exclude = {"n1", "n2"};
        if (one_in(5)) job.spec.image = "image";
        if (one_in(5)) job.spec.tolerations = {{"dedicated", {}}};
        if (one_in(4)) job.spec.time_limit = Millis(up_to(100) * minute);
        job.spec.tasks = 1 + up_to(2);
        job.spec.anti_affinity.spread_tasks = one_in(5);
        return job.spec;
    }
    Shape any_shape() {
        return make_shape(any_request(), Policy::best_fit, cluster,
                          {.maintenance = true, .overcommit = one_in(2) ? 1000 : 0});
    }

    int node() { return static_cast<int>(rng.below(static_cast<std::uint64_t>(cluster.size()))); }
    bool holds_nothing(int n) {
        return std::none_of(held.begin(), held.end(), [&](const auto& slices) { return slices->node == n; });
    }

    void sample(int n) {
        NodeSample now{.at = {1}};
        now.cpu_percent = static_cast<double>(up_to(100));
        now.disk_busy_percent = static_cast<double>(up_to(100));
        now.memory_total = Bytes(gib), now.memory_used = Bytes(up_to(1000) * (gib / 1000));
        for (const auto& gpu : cluster.node(n).inventory->gpus)
            now.gpus.push_back({.index = gpu.index,
                                .utilization_percent = static_cast<double>(up_to(100)),
                                .memory_used = Mebibytes(up_to(41000))});
        cluster.set_sample(n, now);
    }

    // A task that is known to hold a card, which the node does not report any more.
    void hold_lost_card(int n) {
        Allocation allocation;
        allocation.node = cluster.node(n).name;
        allocation.cpu = MilliCpu(1000);
        allocation.gpus.push_back({.index = 63,
                                   .uuid = "lost",
                                   .compute = MilliGpu(1000),
                                   .memory = Mebibytes(1024),
                                   .exclusive = true});
        held.push_back(std::make_unique<Slices>(cluster.from_allocation(allocation)));
        cluster.book(*held.back(), 1);
    }

    void place(const Shape& shape) {
        for (int tries = 0; tries < 5; ++tries) {
            const Look look(shape, cluster, node());
            if (!Judge::fits(look)) continue;
            held.push_back(std::make_unique<Slices>(look.slices()));
            cluster.book(*held.back(), 1);
            return;
        }
    }

    void free_something() {
        if (held.empty()) return;
        const auto at = static_cast<std::ptrdiff_t>(rng.below(held.size()));
        const auto slices = std::move(held[static_cast<std::size_t>(at)]);
        held.erase(held.begin() + at);
        cluster.book(*slices, -1);
        cluster.emptied(*slices);
    }

    void something_happens() {
        const int n = node();
        switch (rng.below(20)) {
            case 0: cluster.set_flags(n, one_in(2), one_in(4)); break;
            case 1:
                cluster.set_taints(n,
                                   one_in(2) ? std::vector<Taint>{{"dedicated", "x"}} : std::vector<Taint>{});
                break;
            case 2: {
                const Maintenance window{{noon.ms + up_to(90) * minute}, {noon.ms + 100 * minute}};
                cluster.set_windows(n, one_in(2) ? std::vector{window} : std::vector<Maintenance>{}, noon);
                break;
            }
            case 3: cluster.advance({noon.ms + up_to(120) * minute}); break;
            case 4:
            case 5: sample(n); break;
            case 6:
                if (holds_nothing(n)) come(cluster.node(n).name);
                break;
            case 7:
                if (holds_nothing(n) && cluster.node(n).present) cluster.remove_node(n);
                break;
            case 8:
                if (one_in(5)) come("m" + std::to_string(cluster.size()));
                break;
            case 9:
                if (one_in(3) && cluster.node(n).present) hold_lost_card(n);
                break;
            case 10: {
                Settings other = cluster.settings();
                other.cpu_threshold = one_in(2) ? 0.5 : 0.9;
                other.max_tasks_per_gpu = 2 + up_to(2);
                cluster.set_settings(other);
                break;
            }
            case 11:
            case 12: free_something(); break;
            default: place(any_shape());
        }
    }

    SeededRng rng;
    Cluster cluster;
    Shapes shapes;
    Pricing pricing{cluster};
    Judge judge{cluster, shapes, pricing};
    Seats seats{judge};
    Surveys surveys;
    Rooms rooms{cluster, seats};
    std::vector<std::unique_ptr<Slices>> held;
};

// What the filters say of one node, one after the other.
Lacks looked_for(const Look& look) {
    Lacks lacks = 0;
    const Lacks together = lack("together");
    for (Lacks left = asked_by(look.shape); left; left &= left - 1)
        if (const Lacks one = left & -left; (one != together || lacks == 0) && !first_of(one).passes(look))
            lacks |= one;
    return lacks;
}

void compare(const Survey& survey, const Shape& shape, const Cluster& cluster,
             const std::vector<std::int64_t>& own) {
    const Lacks fixed = lacks_of(filter::Kind::fixed), closed = lack("node_state") | lack("maintenance");
    std::vector<std::int64_t> short_of(survey.bars().size());
    for (std::size_t rank = 0; rank < survey.size(); ++rank) {
        const int n = cluster.by_name()[rank];
        ASSERT_EQ(survey.present(rank), cluster.node(n).present);
        const Look look(shape, cluster, n, When::now, own[static_cast<std::size_t>(n)]);
        const Lacks lacks = survey.present(rank) ? looked_for(look) : 0;
        ASSERT_EQ(survey.at(rank), lacks)
            << look.node.name << " lacks " << (lacks ? first_of(lacks).name : "nothing") << ", "
            << shape.cards << " cards";
        ASSERT_EQ(survey.fits(rank), survey.present(rank) && Judge::fits(look));
        for (std::size_t b = 0; b < survey.bars().size(); ++b) {
            const auto& bar = survey.bars()[b];
            const bool counts = survey.present(rank) && (lacks & closed) == 0 &&
                                ((lacks & fixed) == 0 || bar.row->kind == filter::Kind::fixed);
            ASSERT_EQ(bar.has[rank], counts ? bar.row->measure(look).has : -1)
                << look.node.name << ": " << bar.row->name;
            short_of[b] += (lacks & bar.lack) != 0;
        }
    }
    for (std::size_t b = 0; b < survey.bars().size(); ++b) {
        const auto& bar = survey.bars()[b];
        ASSERT_EQ(survey.nodes_lacking(bar.lack), short_of[b]);
        ASSERT_EQ(bar.best(), static_cast<std::size_t>(std::max_element(bar.has.begin(), bar.has.end()) -
                                                       bar.has.begin()));
    }
}

void compare_rooms(Grounds& grounds) {
    std::array<CardRoom, cards_per_node_max> cards;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(grounds.cluster.size()); ++rank) {
        const Room& known = grounds.rooms.at(rank);
        const Room wanted = room_of(grounds.cluster, grounds.cluster.by_name()[rank], cards.data());
        ASSERT_EQ(known.cpu, wanted.cpu);
        ASSERT_EQ(known.cpu_only, wanted.cpu_only);
        ASSERT_EQ(known.memory, wanted.memory);
        ASSERT_EQ(known.idle, wanted.idle);
        ASSERT_EQ(known.card_memory, wanted.card_memory);
        ASSERT_EQ(known.card_compute, wanted.card_compute);
    }
}

void watch(std::uint64_t seed) {
    Grounds grounds(seed);
    std::vector<Shape> shapes;
    for (int s = 0; s < 12; ++s) shapes.push_back(grounds.any_shape());
    int types = grounds.cluster.type_count();
    for (int step = 0; step < 150; ++step) {
        grounds.something_happens();
        if (std::exchange(types, grounds.cluster.type_count()) != types)
            for (auto& shape : shapes) shape.forget_needs();
        // What is only tried is seen, and seen to be gone again.
        const auto s = static_cast<std::size_t>(grounds.rng.below(shapes.size()));
        const auto mark = grounds.cluster.mark();
        if (!grounds.held.empty() && grounds.one_in(3)) grounds.cluster.try_book(*grounds.held.front(), -1);
        const std::vector<std::int64_t> nothing(static_cast<std::size_t>(grounds.cluster.size()));
        const Survey& survey = grounds.surveys.of(static_cast<int>(s), shapes[s], grounds.cluster);
        ASSERT_NO_FATAL_FAILURE(compare(survey, shapes[s], grounds.cluster, nothing))
            << "seed " << seed << " step " << step;
        auto own = nothing;
        own[static_cast<std::size_t>(grounds.node())] = 1;
        Survey of_job = survey;
        of_job.see_own(shapes[s], grounds.cluster, own);
        ASSERT_NO_FATAL_FAILURE(compare(of_job, shapes[s], grounds.cluster, own))
            << "seed " << seed << " step " << step;
        grounds.cluster.undo_to(mark);
        if (int looked = 0; grounds.one_in(5))
            (void)grounds.seats.best(grounds.shapes.take(grounds.any_shape()), looked);
        ASSERT_NO_FATAL_FAILURE(compare_rooms(grounds)) << "seed " << seed << " step " << step;
    }
}

TEST(Survey, tells_what_a_look_at_every_node_would_tell) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) ASSERT_NO_FATAL_FAILURE(watch(seed));
}

}  // namespace
}  // namespace crater::engine
