#include "explain/glance.h"

#include <algorithm>
#include <bit>

namespace crater::engine {
namespace {

struct Answered {
    // Of the cards as they are, then of what is free and used of them.
    Lacks hardware = all_of({"gpu_model", "gpu_cards", "gpu_capability", "gpu_precision", "gpu_card_size", "gpu_inference_part"});
    Lacks health = lack("gpu_health"), card_memory = lack("gpu_memory"), whole = lack("gpu_count"), compute = lack("gpu_compute"),
          tasks = lack("gpu_tasks"), watermark = lack("gpu_watermark"), load = lack("gpu_load");
    Lacks exclusive = lack("node_exclusive"), cpu = lack("cpu"), memory = lack("memory"), together = lack("together");
    Lacks cards() const { return hardware | health | card_memory | whole | compute | tasks | watermark | load; }
};
const Answered& answered() {
    static const Answered made;
    return made;
}

constexpr std::array<std::string_view, Glance::amount_count> amount_names{"cpu", "memory", "gpu_memory", "gpu_count", "gpu_cards", "gpu_card_size"};

double measured(Lacks filter, const Look& look) { return first_of(filter).measure(look).has; }

}  // namespace

Glance::Amount Glance::amount_of(std::string_view filter) {
    return static_cast<Amount>(std::find(amount_names.begin(), amount_names.end(), filter) - amount_names.begin());
}

Glance::Glance(const Shape& shape) : failed_(Sheet::failed(shape)) {
    answers_ = Sheet::covered() | answered().cards() | answered().exclusive | answered().cpu | answered().memory;
    if (parts_suffice(shape)) answers_ |= answered().together;
    answers_ &= asked_by(shape);
}

const Glance::Kind& Glance::kind_of(const Shape& shape, const Cluster& cluster, const Sheet::Row& row, int n) {
    const auto same = [&](const Kind& kind) { return kind.type == row.card_type && kind.cards == row.cards; };
    if (const auto known = std::find_if(kinds_.begin(), kinds_.end(), same); known != kinds_.end()) return *known;
    const Look look(shape, cluster, n);
    Kind kind{row.card_type, row.cards, 0, look.cards.inference, {}, 0, 0};
    for (Lacks left = answers_ & answered().hardware; left; left &= left - 1)
        if (const Lacks filter = left & -left; !first_of(filter).passes(look)) kind.lacks |= filter;
    if (row.cards > 0) kind.need = shape.need(cluster, row.card_type);
    kind.has_cards = measured(lack(amount_names[gpu_cards]), look);
    kind.has_size = measured(lack(amount_names[gpu_card_size]), look);
    return kinds_.emplace_back(kind);
}

Glance::Seen Glance::at(const Shape& shape, const Cluster& cluster, const Sheet::Row& row, int n) {
    Seen seen;
    seen.lacks = failed_[row.fails];
    const NodeUse& used = cluster.used().nodes[static_cast<std::size_t>(n)];
    auto cpu_free = row.cpu - used.cpu;
    if (shape.cards == 0) cpu_free = std::min(cpu_free, row.cpu_only - used.cpu_only);
    cpu_free = std::max<std::int64_t>(0, cpu_free);
    const auto memory_free = std::max<std::int64_t>(0, row.memory - used.memory);
    if (shape.node.exclusive ? used.tasks != 0 : used.exclusive != 0) seen.lacks |= answered().exclusive;
    if (shape.cpu > cpu_free) seen.lacks |= answered().cpu;
    if (shape.memory > memory_free) seen.lacks |= answered().memory;
    seen.has[cpu] = static_cast<double>(cpu_free) / 1000;
    seen.has[memory] = static_cast<double>(memory_free);
    if (shape.cards > 0) see_cards(shape, cluster, row, kind_of(shape, cluster, row, n), seen);
    return seen;
}

// As Look narrows the cards down, one condition after the other.
void Glance::see_cards(const Shape& shape, const Cluster& cluster, const Sheet::Row& row, const Kind& kind, Seen& seen) const {
    const CardNeed& need = kind.need;
    const CardUse* const used = cluster.used().cards.data() + row.cards_at;
    const auto tasks_max = cluster.settings().max_tasks_per_gpu;
    const std::int64_t limit = need.limit, memory_needed = need.memory, compute_needed = need.compute;
    const bool whole = need.whole;
    int healthy = 0, with_memory = 0, unused = 0, with_compute = 0, open = 0, below = 0, calm = 0;
    std::int64_t most = 0;
    for (Mask left = kind.right & row.usable; left; left &= left - 1) {
        const auto c = static_cast<std::size_t>(std::countr_zero(left));
        const CardUse& use = used[c];
        const std::int64_t free = use.exclusive > 0 ? 0 : std::max<std::int64_t>(0, limit - use.memory);
        most = std::max(most, free);
        ++healthy;
        bool serves = whole | ((use.exclusive <= 0) & (memory_needed <= free));
        with_memory += serves;
        serves &= !whole | (use.tasks <= 0);
        unused += serves;
        serves &= use.compute + compute_needed <= 1000;
        with_compute += serves;
        serves &= whole | (use.tasks < tasks_max);
        open += serves;
        serves &= static_cast<bool>(row.below >> c & 1);
        below += serves;
        calm += serves & static_cast<bool>(row.calm >> c & 1);
    }
    const auto lacking = [&](int cards, Lacks filter) { return cards < shape.cards ? filter : 0; };
    seen.lacks |= kind.lacks | lacking(healthy, answered().health) | lacking(with_memory, answered().card_memory) | lacking(unused, answered().whole) |
                  lacking(with_compute, answered().compute) | lacking(open, answered().tasks) | lacking(below, answered().watermark) |
                  lacking(calm, answered().load);
    seen.has[gpu_memory] = static_cast<double>(most);
    seen.has[gpu_count] = unused;
    seen.has[gpu_cards] = kind.has_cards;
    seen.has[gpu_card_size] = kind.has_size;
}

}  // namespace crater::engine
