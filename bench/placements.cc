// Placements per second of the production engine: a cluster kept at 93 % of its GPUs while tasks come and go.
// `--path pass` measures the call the scheduler makes: `pass` with its filters, its trace and the hash of the
// state, and the release of what ended. Queueing a job
// (`JobAdded`) is done before the clock runs, making the stored text's allocations (`allocations`) after it;
// both are told beside it.
// `--path index` measures the parts that choose and book alone (index_path.h). Prints one JSON object.
#include <cstdlib>

#include "index_path.h"
#include "support/cluster.h"

namespace crater::bench {
namespace {

// The baseline: best fit over every node by scanning packed columns, nothing else: no filters beyond four
// amounts, no trace, no books.
double plain_scan(int nodes, const std::vector<Request>& mix, double seconds) {
    std::vector<std::int16_t> cards(static_cast<std::size_t>(nodes)), cpu(cards.size()), memory(cards.size()),
        part(cards.size());
    SeededRng rng{7};
    for (std::size_t n = 0; n < cards.size(); ++n) {
        cards[n] = static_cast<std::int16_t>(rng.below(10) == 0 ? rng.below(3) : 0);
        cpu[n] = static_cast<std::int16_t>(rng.below(400));
        memory[n] = static_cast<std::int16_t>(rng.below(400));
        part[n] = static_cast<std::int16_t>(rng.below(600));
    }
    std::int64_t decisions = 0, found = 0;
    const double began = Cluster::cpu_seconds();
    double spent = 0;
    while (spent < seconds) {
        for (const auto& r : mix) {
            const auto want_cards = static_cast<std::int16_t>(r.milli == 1000 ? r.cards : 0);
            const auto want_part = static_cast<std::int16_t>(r.milli < 1000 ? r.milli : 0);
            const auto want_cpu = static_cast<std::int16_t>(r.cpu / 100),
                       want_memory = static_cast<std::int16_t>(r.memory_mib / 1024);
            std::int16_t best = INT16_MAX;
            for (std::size_t n = 0; n < cards.size(); ++n) {
                const std::int16_t lacks = (cards[n] < want_cards) | (cpu[n] < want_cpu) |
                                           (memory[n] < want_memory) | (part[n] < want_part);
                const std::int16_t left =
                    static_cast<std::int16_t>((cpu[n] - want_cpu + (cards[n] << 6)) | (lacks << 14));
                best = left < best ? left : best;
            }
            found += best < 1 << 14;
            ++decisions;
        }
        spent = Cluster::cpu_seconds() - began;
    }
    volatile std::int64_t sink = found;
    (void)sink;
    return static_cast<double>(decisions) / spent;
}

int run(int argc, char** argv) {
    std::string shared = "../shared/bench", policy = "best_fit", path = "pass";
    int nodes = 5000;
    std::int64_t background = 0;
    double seconds = 2, load = 0.93;
    bool profiled = false;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string key = argv[i];
        if (key == "--shared") shared = argv[i + 1];
        if (key == "--path") path = argv[i + 1];
        if (key == "--policy") policy = argv[i + 1];
        if (key == "--nodes") nodes = std::atoi(argv[i + 1]);
        if (key == "--seconds") seconds = std::atof(argv[i + 1]);
        if (key == "--background") background = std::atoll(argv[i + 1]);
        if (key == "--profiled") profiled = std::atoi(argv[i + 1]) != 0;
        if (key == "--load") load = std::atof(argv[i + 1]);
    }
    const auto mix = requests_of(shared);
    const auto chosen = policy_named(policy);
    if (!chosen) {
        std::fprintf(stderr, "%s\n", chosen.error().text().c_str());
        return 2;
    }
    if (path == "index") {
        IndexPath index(nodes, *chosen, mix);
        index.fill(load);
        index.churn(seconds / 4, load);
        const double rate = index.churn(seconds, load), scan = plain_scan(nodes, mix, 0.5);
        std::printf(
            "{\"path\": \"index\", \"policy\": \"%s\", \"nodes\": %d, \"placements_per_second\": %.0f, \"plain_scan_per_second\": %.0f, \"ratio\": %.3f, \"looked_per_placement\": %.2f}\n",
            policy.c_str(), nodes, rate, scan, rate / scan, index.looked_per_placement);
        return 0;
    }
    Cluster bench(nodes, *chosen, mix);
    if (profiled) bench.know_profiles();
    bench.background(background);
    bench.fill(load);
    bench.churn(seconds / 4, load);
    const auto rate = bench.churn(seconds, load);
    const double scan = plain_scan(nodes, mix, 0.5);
    std::printf(
        "{\"path\": \"pass\", \"policy\": \"%s\", \"nodes\": %d, \"background\": %ld, \"placements_per_second\": %.0f, \"plain_scan_per_second\": %.0f, \"ratio\": %.3f, "
        "\"queueing_ns\": %.0f, \"allocating_ns\": %.0f, \"gpu_load\": %.4f, \"running\": %zu, \"placed\": %ld, \"refused\": %ld, \"requests\": %zu}\n",
        policy.c_str(), nodes, background, rate.per_second, scan, rate.per_second / scan, rate.queueing_ns,
        rate.allocating_ns, rate.load, bench.running.size(), rate.placed, rate.refused, mix.size());
    return 0;
}

}  // namespace
}  // namespace crater::bench

int main(int argc, char** argv) { return crater::bench::run(argc, argv); }
