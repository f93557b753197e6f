// What asking a placement plugin costs a decision: views of nodes with 8 cards each written, the process
// woken, its verdicts checked.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "crater/plugin/protocol.h"
#include "crater/plugin/registry.h"

namespace crater {
namespace {

struct Question {
    engine::EngineJob job;
    std::vector<NodeInventory> inventories;
    engine::NodeBook book;
    std::vector<engine::NodeView> nodes;

    explicit Question(std::size_t count) : inventories(count) {
        JobSpec spec;
        spec.resources.gpu.count = MilliGpu(4000);
        job = {.id = "job-000000000001",
               .spec = std::make_shared<JobSpec>(spec),
               .queue = "training",
               .tenant = "lab/a"};
        book.cards.resize(8);
        for (std::size_t i = 0; i < count; ++i) {
            NodeInventory& node = inventories[i];
            node.name = "node-" + std::to_string(i);
            node.labels = {
                {"rack", "r" + std::to_string(i / 8)}, {"zone", "a"}, {"kind", "gpu"}, {"owner", "lab"}};
            for (int c = 0; c < 8; ++c) {
                Gpu gpu{.index = c, .model = "a100-sxm4-80gb", .memory = Mebibytes(81920)};
                for (int peer = 0; peer < 8; ++peer)
                    if (peer != c) gpu.nvlink_peers.push_back(peer);
                node.gpus.push_back(std::move(gpu));
            }
        }
    }
    void view() {
        nodes.clear();
        for (const NodeInventory& node : inventories)
            nodes.push_back(engine::view_of(node, book, {1, 0}, 0.5));
    }
};

struct Times {
    double p50, p99;
};
template <class F>
Times measured(const Clock& clock, int times, F work) {
    std::vector<double> us;
    for (int i = 0; i < times; ++i) {
        constexpr int together = 4;  // the clock counts whole microseconds
        const std::int64_t began = clock.ticks_us();
        for (int n = 0; n < together; ++n) work();
        us.push_back(static_cast<double>(clock.ticks_us() - began) / together);
    }
    std::sort(us.begin(), us.end());
    return {us[us.size() / 2], us[us.size() * 99 / 100]};
}

int run(const std::string& host, const std::string& folder) {
    const auto clock = system_clock();
    plugin::Registry registry({.folder = folder, .host = host, .budget = Millis(1'000)}, *clock);
    registry.settle(Millis(10'000));
    std::vector<std::byte> memory(plugin::shared_bytes);
    constexpr int times = 2'000;
    std::printf("{");
    for (const std::size_t count : {1, 16, 64, 256}) {
        Question question(count);
        const Times views = measured(*clock, times, [&] { question.view(); });
        const Times image = measured(*clock, times, [&] {
            plugin::write_image(memory, {&question.job, JobType::training, 1}, question.nodes);
        });
        std::printf("%s\"nodes_%zu\": {\"views_p50_us\": %.1f, \"image_p50_us\": %.1f",
                    count == 1 ? "" : ", ", count, views.p50, image.p50);
        for (const char* name : {"spread_tenant", "nvlink_first"}) {
            const Times asked = measured(*clock, times, [&] {
                engine::PlacementHook* hook = registry.find(name);
                if (!hook || !hook->ask({&question.job, JobType::training, 1}, question.nodes).given)
                    std::fprintf(stderr, "%s did not answer\n", name), std::exit(1);
            });
            std::printf(", \"%s_p50_us\": %.1f, \"%s_p99_us\": %.1f", name, asked.p50, name, asked.p99);
        }
        std::printf("}");
    }
    std::printf("}\n");
    return 0;
}

}  // namespace
}  // namespace crater

int main(int argc, char** argv) {
    if (argc != 3) return std::fprintf(stderr, "usage: bench-plugins HOST FOLDER\n"), 2;
    return crater::run(argv[1], argv[2]);
}
