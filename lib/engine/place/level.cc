#include "place/level.h"

#include <algorithm>
#include <bit>

namespace crater::engine {
namespace {

// Parts of a level, the most important first.
constexpr int quality_at = 12, left_at = 3;
constexpr std::size_t left_max = 255;

std::int32_t pack(int quality, std::size_t left, std::size_t cores) {
    return static_cast<std::int32_t>(static_cast<std::size_t>(quality) << quality_at |
                                     (left_max - std::min(left, left_max)) << left_at |
                                     (cpu_classes - 1 - cores));
}

}  // namespace

std::size_t cpu_class(std::int64_t milli_cpu) {
    return std::min<std::size_t>(
        cpu_classes - 1,
        static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(milli_cpu / 1000))));
}

std::size_t left_step(const CardNeed& need, std::int64_t card_memory) {
    const auto memory = card_memory > 0 ? need.memory * 1000 / card_memory : 0;
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(std::min(need.compute, memory) / left_step_size, 0, left_steps));
}

bool is_square(const CardNeed& need, std::int64_t card_memory) {
    return need.whole || card_memory <= 0 ||
           (need.beyond == 0 && std::abs(need.compute - need.memory * 1000 / card_memory) <= 1);
}

bool is_plain(const Shape& shape) {
    return shape.cards <= 1 && !shape.wants_disk && shape.bandwidth == 0 &&
           shape.numa != NumaPolicy::strict && !shape.node.exclusive && !shape.spread_tasks &&
           shape.crowd < 0;
}

Level fit_level(const Shape& shape, const CardNeed* need, std::int64_t card_memory, const Room& room,
                const CardRoom* cards, std::size_t count) {
    if (shape.cards == 0) {
        if (shape.cpu > room.cpu_only || shape.memory > room.memory) return {};
        const auto idle = static_cast<std::size_t>(room.idle_count);
        return {pack(2, count == 0 ? 0 : 1 + idle, cpu_class(room.cpu_only))};
    }
    if (shape.cpu > room.cpu || shape.memory > room.memory) return {};
    if (need->whole) {
        if (room.idle_count < 1) return {};
        return {pack(2, static_cast<std::size_t>(room.idle_count - 1), cpu_class(room.cpu))};
    }
    std::size_t best = count;
    for (std::size_t c = 0; c < count; ++c)
        if (cards[c].memory >= need->room() && cards[c].compute >= need->compute &&
            (best == count || cards[c].left < cards[best].left))
            best = c;
    if (best == count) return {};
    const auto step = static_cast<std::size_t>(cards[best].left / left_step_size);
    return {pack(2, step - std::min(step, left_step(*need, card_memory)), cpu_class(room.cpu))};
}

Level fit_level(const Look& look) {
    const Choice& choice = *look.choice();
    const Shape& shape = look.shape;
    std::size_t idle = 0, left = 0;
    bool whole = false;
    const Mask open = look.cluster.open_cards(look.n);  // as the room counts them
    for (std::size_t c = 0; c < look.node.cards.size(); ++c) {
        const std::int64_t compute = 1000 - look.card(c).compute;
        const bool chosen = choice.cards >> c & 1;
        if ((open >> c & 1) && look.card(c).tasks == 0 && compute == 1000 && !chosen) ++idle;
        if (!chosen) continue;
        const CardNeed& need = look.need(c);
        whole |= need.whole;
        const auto step = static_cast<std::size_t>(look.card_left(c) / left_step_size);
        left = std::max(left,
                        step - std::min(step, left_step(need, look.cluster.card_limit(look.card_memory(c)))));
    }
    if (shape.cards == 0)
        return {pack(2, look.node.cards.empty() ? 0 : 1 + idle, cpu_class(look.cpu_free()))};
    const int quality = shape.cards == 1 || choice.linked ? 2 : choice.home >= 0 ? 1 : 0;
    return {pack(quality, whole ? idle : left, cpu_class(look.cpu_free()))};
}

std::int32_t fit_level_of(std::size_t left, std::size_t cores) { return pack(2, left, cores); }

std::vector<ScoreTerm> fit_terms(std::int32_t level) {
    const auto left = static_cast<std::size_t>(level >> left_at) & 511;
    return {{"interconnect", (level >> quality_at) / 2.0, 4},
            {"fit", static_cast<double>(left) / left_max, 2},
            {"load", (static_cast<std::size_t>(level) & (cpu_classes - 1)) / (cpu_classes - 1.0), 1}};
}

}  // namespace crater::engine
