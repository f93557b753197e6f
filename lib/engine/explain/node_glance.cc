#include "explain/node_glance.h"

#include <algorithm>
#include <bit>

namespace crater::engine {
namespace {

struct Answered {
    // Of the cards as they are, then of what is free and used of them.
    Lacks hardware = all_of(
        {"gpu_model", "gpu_cards", "gpu_capability", "gpu_precision", "gpu_card_size", "gpu_inference_part"});
    Lacks health = lack("gpu_health"), card_memory = lack("gpu_memory"), whole = lack("gpu_count"),
          compute = lack("gpu_compute"), tasks = lack("gpu_tasks"), watermark = lack("gpu_watermark"),
          load = lack("gpu_load");
    Lacks exclusive = lack("node_exclusive"), cpu = lack("cpu"), memory = lack("memory"),
          together = lack("together");
    Lacks cards() const {
        return hardware | health | card_memory | whole | compute | tasks | watermark | load;
    }
};
const Answered& answered() {
    static const Answered made;
    return made;
}

constexpr std::array<std::string_view, NodeGlance::amount_count> amount_names{
    "cpu", "memory", "gpu_memory", "gpu_count", "gpu_cards", "gpu_card_size"};

// Whether a node that has each part of the request can always give all of them at once: what must be on one
// disk or in one NUMA domain may be there in parts.
bool parts_suffice(const Shape& shape) { return !shape.wants_disk && shape.numa != NumaPolicy::strict; }

double measured(Lacks filter, const Look& look) { return first_of(filter).measure(look).has; }

}  // namespace

NodeGlance::Amount NodeGlance::amount_of(std::string_view filter) {
    return static_cast<Amount>(std::find(amount_names.begin(), amount_names.end(), filter) -
                               amount_names.begin());
}

NodeGlance::NodeGlance(const Shape& shape) : failed_(Sheet::failed(shape)) {
    answers_ =
        Sheet::covered() | answered().cards() | answered().exclusive | answered().cpu | answered().memory;
    if (parts_suffice(shape)) answers_ |= answered().together;
    answers_ &= asked_by(shape);
}

const NodeGlance::Kind& NodeGlance::kind_of(const Shape& shape, const Cluster& cluster, const Sheet::Row& row,
                                            int n) {
    const auto same = [&](const Kind& kind) { return kind.type == row.card_type && kind.cards == row.cards; };
    if (const auto known = std::find_if(kinds_.begin(), kinds_.end(), same); known != kinds_.end())
        return *known;
    const Look look(shape, cluster, n);
    Kind kind{row.card_type, row.cards, 0, look.cards.inference != 0, {}, 0, 0};
    for (Lacks left = answers_ & answered().hardware; left; left &= left - 1)
        if (const Lacks filter = left & -left; !first_of(filter).passes(look)) kind.lacks |= filter;
    if (row.cards > 0) kind.need = shape.need(cluster, row.card_type);
    kind.has_cards = measured(lack(amount_names[gpu_cards]), look);
    kind.has_size = measured(lack(amount_names[gpu_card_size]), look);
    return kinds_.emplace_back(kind);
}

NodeGlance::Seen NodeGlance::at(const Shape& shape, const Cluster& cluster, const Sheet& sheet, int n) {
    const Answered& of = answered();
    const Sheet::Row& row = sheet.at(n);
    Seen seen;
    seen.cpu = shape.cards > 0 ? row.cpu : row.cpu_only;
    seen.memory = row.memory;
    const bool elsewhere = shape.node.exclusive ? row.shared : row.taken;
    seen.lacks = failed_[row.fails] | (elsewhere ? of.exclusive : 0) | (shape.cpu > seen.cpu ? of.cpu : 0) |
                 (shape.memory > seen.memory ? of.memory : 0);
    if (shape.cards > 0) see_cards(shape, cluster, sheet, n, seen);
    return seen;
}

void NodeGlance::see_cards(const Shape& shape, const Cluster& cluster, const Sheet& sheet, int n,
                           Seen& seen) {
    const Sheet::Row& row = sheet.at(n);
    const Kind& kind = kind_of(shape, cluster, row, n);
    const CardNeed& need = kind.need;
    const bool shareable = kind.right && row.least_used != Sheet::nothing_left;
    const auto most = shareable ? std::max<std::int64_t>(0, need.limit - row.least_used) : 0;
    Cards left;
    if (kind.right && need.whole)
        left = whole_cards(cluster, row);
    else if (shareable && need.memory <= most)
        left = parts_of_cards(cluster, sheet, n, need);
    else if (kind.right)
        left.healthy = row.healthy;
    const Answered& of = answered();
    const auto lacking = [&](int cards, Lacks filter) { return cards < shape.cards ? filter : 0; };
    seen.lacks |= kind.lacks | lacking(left.healthy, of.health) | lacking(left.memory, of.card_memory) |
                  lacking(left.whole, of.whole) | lacking(left.compute, of.compute) |
                  lacking(left.slots, of.tasks) | lacking(left.watermark, of.watermark) |
                  lacking(left.load, of.load);
    seen.card_memory = most;
    seen.whole_cards = left.whole;
    seen.right_cards = kind.has_cards;
    seen.card_size = kind.has_size;
}

NodeGlance::Cards NodeGlance::whole_cards(const Cluster& cluster, const Sheet::Row& row) {
    Cards left{row.healthy, row.healthy, row.unused, row.idle, row.idle, row.idle, row.idle};
    if (row.quiet) return left;
    left.watermark = left.load = 0;
    const CardUse* const used = cluster.used().cards.data() + row.cards_at;
    for (Mask these = row.usable & row.below; these; these &= these - 1) {
        const auto c = static_cast<std::size_t>(std::countr_zero(these));
        const bool idle = used[c].tasks <= 0 && used[c].compute <= 0;
        left.watermark += idle;
        left.load += idle && (row.calm >> c & 1);
    }
    return left;
}

NodeGlance::Cards NodeGlance::parts_of_cards(const Cluster& cluster, const Sheet& sheet, int n,
                                             const CardNeed& need) {
    const Sheet::Row& row = sheet.at(n);
    const std::int64_t used_at_most = need.memory > 0 ? need.limit - need.memory : INT64_MAX,
                       compute_at_most = 1000 - need.compute;
    const auto tasks_max = cluster.settings().max_tasks_per_gpu;
    Cards left{.healthy = row.healthy};
    if (row.laned) {
        const Sheet::Lanes& lanes = sheet.lanes(n);
        const auto memory_most =
            static_cast<std::int32_t>(std::min<std::int64_t>(used_at_most, Sheet::nothing_left - 1));
        const auto compute_most = static_cast<std::int32_t>(compute_at_most);
        for (std::size_t c = 0; c < Sheet::Lanes::count; ++c) {
            const int with_memory = lanes.memory[c] <= memory_most;
            left.memory += with_memory;
            left.compute += with_memory & (lanes.compute[c] <= compute_most);
        }
        left.whole = left.memory;
        left.slots = left.watermark = left.load = left.compute;
        return left;
    }
    const CardUse* const used = cluster.used().cards.data() + row.cards_at;
    for (Mask these = row.usable; these; these &= these - 1) {
        const auto c = static_cast<std::size_t>(std::countr_zero(these));
        const CardUse& use = used[c];
        bool serves = (use.memory <= used_at_most) & (use.exclusive <= 0);
        left.memory += serves;
        serves &= use.compute <= compute_at_most;
        left.compute += serves;
        serves &= use.tasks < tasks_max;
        left.slots += serves;
        serves &= static_cast<bool>(row.below >> c & 1);
        left.watermark += serves;
        left.load += serves & static_cast<bool>(row.calm >> c & 1);
    }
    left.whole = left.memory;
    return left;
}

}  // namespace crater::engine
