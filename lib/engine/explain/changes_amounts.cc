// Less of one thing: how much less would do.
#include <algorithm>

#include "explain/changes.h"
#include "explain/found.h"

namespace crater::engine {
namespace {

std::string plain_number(std::int64_t amount) { return std::to_string(amount); }

}  // namespace

void Engine::Impl::Changes::amounts() {
    const Lacks together = lack("together");
    gpu_memory();
    gpu_count();
    const auto row = [&](std::size_t rank) -> const Sheet::Row& {
        return e_.surveys_.sheet().at(e_.cluster_.by_name()[rank]);
    };
    try_amount({"cpu", "cores", lack("cpu") | together, shape_.cpu, 100, 1000, core_words, "a task",
                [](Shape& s, std::int64_t v) { s.cpu = v; },
                [&](std::size_t rank) {
                    return row(rank).taken ? 0 : shape_.cards == 0 ? row(rank).cpu_only : row(rank).cpu;
                }});
    try_amount({"memory", "bytes", lack("memory") | together, shape_.memory, 128LL << 20, 1, bytes_words,
                "of memory a task", [](Shape& s, std::int64_t v) { s.memory = v; },
                [&](std::size_t rank) { return row(rank).taken ? 0 : row(rank).memory; }});
    try_amount({"memory_bandwidth", "bytes/s", lack("memory_bandwidth") | together, shape_.bandwidth,
                1'000'000'000, 1, rate_words, "of memory bandwidth",
                [](Shape& s, std::int64_t v) { s.bandwidth = v; }, [](std::size_t) { return INT64_MAX; }});
    try_amount({"disk", "bytes", lack("disk_space") | together, shape_.disk_size, 1LL << 30, 1, bytes_words,
                "of disk space", [](Shape& s, std::int64_t v) { s.disk_size = v; },
                [](std::size_t) { return INT64_MAX; }});
    try_amount({"disk_iops", "IOPS", lack("disk_iops") | together, shape_.disk_iops, 100, 1, plain_number,
                "IOPS", [](Shape& s, std::int64_t v) { s.disk_iops = v; },
                [](std::size_t) { return INT64_MAX; }});
    try_amount({"disk_bandwidth", "bytes/s", lack("disk_bandwidth") | together, shape_.disk_bandwidth,
                10'000'000, 1, rate_words, "of disk bandwidth",
                [](Shape& s, std::int64_t v) { s.disk_bandwidth = v; },
                [](std::size_t) { return INT64_MAX; }});
}

// In the least step of the cards that could serve; where the request was for whole cards, a slice of them.
void Engine::Impl::Changes::gpu_memory() {
    if (shape_.cards == 0 || shape_.gpu_exclusive || (shape_.gpu_memory == 0 && shape_.part < 1000)) return;
    const Cluster& cluster = e_.cluster_;
    std::int64_t step = INT64_MAX, largest = 0, part_max = 0;
    for (int t = 0; t < cluster.type_count(); ++t) {
        const auto fails = shape_.need(cluster, t).fails;
        if (fails == CardNeed::model || fails == CardNeed::capability || fails == CardNeed::precision)
            continue;
        step = std::min(step, memory_granule(cluster.settings(), cluster.type(t)));
        largest = std::max(largest, cluster.type(t).memory);
        part_max =
            std::max(part_max, static_cast<std::int64_t>(static_cast<double>(cluster.type(t).nominal) *
                                                         cluster.settings().inference_max_gpu_fraction));
    }
    if (largest == 0) return;
    std::int64_t from = shape_.gpu_memory > 0 ? shape_.gpu_memory : largest;
    // One that serves takes at most a part of a card; between that and the whole card there is nothing.
    if (shape_.inference && from > part_max) from = part_max + 1;
    const auto asked = shape_.gpu_memory > 0 ? shape_.gpu_memory : largest;
    Amount amount{
        "gpu_memory",
        "MiB",
        all_of({"gpu_memory", "gpu_count", "gpu_compute", "gpu_card_size", "gpu_inference_part", "gpu_cards",
                "gpu_tasks", "gpu_watermark", "gpu_load", "gpu_health", "gpu_interconnect", "together"}),
        from,
        step,
        1,
        mib_words,
        "of GPU memory on each card",
        [](Shape& s, std::int64_t v) { s.gpu_memory = v; },
        [&](std::size_t rank) { return static_cast<std::int64_t>(e_.rooms_.at(rank).card_memory); }};
    const auto before = out_.changes.size();
    try_amount(amount);
    if (out_.changes.size() == before) return;
    Change& change = out_.changes.back();
    change.from = static_cast<double>(asked);
    change.text = "ask for " + mib_words(static_cast<std::int64_t>(change.to)) +
                  " of GPU memory on each card instead of " +
                  (shape_.gpu_memory > 0 ? mib_words(asked) : std::string("whole cards"));
}

// Fewer cards a task; below one card tenths of it.
void Engine::Impl::Changes::gpu_count() {
    if (shape_.cards == 0) return;
    const Lacks cures = all_of({"gpu_memory", "gpu_count", "gpu_compute", "gpu_tasks", "gpu_watermark",
                                "gpu_load", "gpu_interconnect", "gpu_health", "gpu_cards", "gpu_capability",
                                "gpu_precision", "gpu_card_size", "gpu_inference_part", "together"});
    auto& rooms = e_.rooms_;
    const Cluster& cluster = e_.cluster_;
    if (shape_.cards > 1) {
        return try_amount({"gpu_count", "cards", cures, shape_.cards * 1000, 1000, 1000, card_words, "a task",
                           [](Shape& s, std::int64_t v) {
                               s.cards = static_cast<int>(v / 1000);
                               if (s.cards == 1) s.interconnect = Interconnect::any;
                           },
                           [&](std::size_t rank) {
                               const auto whole = shape_.gpu_exclusive || shape_.gpu_memory == 0;
                               const auto cards =
                                   whole ? static_cast<std::int64_t>(rooms.at(rank).idle_count)
                                         : static_cast<std::int64_t>(
                                               cluster.node(cluster.by_name()[rank]).cards.size());
                               return cards * 1000;
                           }});
    }
    if (shape_.gpu_exclusive || (shape_.part == 1000 && shape_.gpu_memory > 0)) return;
    try_amount({"gpu_count", "cards", cures, shape_.part, 100, 1000, card_words, "a task",
                [](Shape& s, std::int64_t v) { s.part = v; },
                [&](std::size_t rank) {
                    return shape_.compute_cap > 0 ? INT64_MAX
                                                  : static_cast<std::int64_t>(rooms.at(rank).card_compute);
                }});
}

void Engine::Impl::Changes::try_amount(const Amount& amount) {
    if (amount.from <= amount.step) return;
    // The most that is still less than what is asked for, and within the quota.
    std::int64_t steps = (amount.from - 1) / amount.step;
    if (outcome_.kind == Outcome::over_quota && !within_quota(altered(amount, steps), slot_.waiting)) {
        std::int64_t low = 0;
        while (low < steps) {
            const auto middle = (low + steps) / 2;
            if (within_quota(altered(amount, middle + 1), slot_.waiting))
                low = middle + 1;
            else
                steps = middle;
        }
    }
    std::vector<Place> places;
    for (std::size_t rank = 0; rank < survey_.size() && steps > 0; ++rank) {
        if (!survey_.present(rank) || (survey_.at(rank) & ~amount.cures)) continue;
        if (const auto bound = amount.bound(rank); bound >= amount.step)
            places.push_back({bound, static_cast<int>(rank)});
    }
    if (places.empty()) return;
    unsure_ = false;
    const auto best =
        slot_.waiting == 1 ? most_on_one(amount, places, steps) : most_of_gang(amount, places, steps);
    if (unsure_) more_ = true;
    if (best == 0 || cut_ || unsure_) return;
    const auto to = best * amount.step;
    const std::string text = "ask for " + amount.words(to) + " " + std::string(amount.of) + " instead of " +
                             amount.words(amount.from);
    out_.changes.push_back({std::string(amount.kind),
                            text,
                            static_cast<double>(amount.from) / amount.shown,
                            static_cast<double>(to) / amount.shown,
                            std::string(amount.unit),
                            {}});
}

// Node by node, those first that could take most: what a node takes is found by halving, and no other node
// can take more than its bound.
std::int64_t Engine::Impl::Changes::most_on_one(const Amount& amount, std::vector<Place>& places,
                                                std::int64_t steps) {
    std::int64_t best = 0;
    std::make_heap(places.begin(), places.end());
    for (auto end = places.end(); end != places.begin(); --end) {
        std::pop_heap(places.begin(), end);
        const Place& place = *(end - 1);
        auto high = std::min(steps, place.bound / amount.step);
        if (high <= best) break;
        if (!afford()) return 0;
        const int n = e_.cluster_.by_name()[static_cast<std::size_t>(place.rank)];
        if (!takes(altered(amount, best + 1), n)) continue;
        auto low = best + 1;
        while (low < high) {
            const auto middle = (low + high + 1) / 2;
            if (takes(altered(amount, middle), n))
                low = middle;
            else
                high = middle - 1;
        }
        best = low;
    }
    return best;
}

std::int64_t Engine::Impl::Changes::most_of_gang(const Amount& amount, const std::vector<Place>& places,
                                                 std::int64_t steps) {
    if (e_.predicts()) return cut_ = true, 0;
    const auto enough = [&](std::int64_t count) {
        std::vector<int> ranks;
        for (const auto& place : places)
            if (place.bound / amount.step >= count) ranks.push_back(place.rank);
        return starts(altered(amount, count), ranks);
    };
    std::int64_t low = 0;
    while (low < steps) {
        if (!afford()) return 0;
        const auto middle = (low + steps + 1) / 2;
        if (enough(middle))
            low = middle;
        else
            steps = middle - 1;
    }
    return low;
}

}  // namespace crater::engine
