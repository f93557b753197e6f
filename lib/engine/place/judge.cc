#include "place/judge.h"

#include <array>
#include <cmath>

#include "filter/filter.h"
#include "score/score.h"

namespace crater::engine {
namespace {

bool is_asked(const Shape& shape, std::size_t position) { return shape.asked >> position & 1; }

// Of a weighted policy, in millionths: compared as whole numbers, so that no last bit of a sum decides.
std::int32_t score_of(const Look& look) {
    const Choice& choice = *look.choice();
    const auto& weights = look.shape.weights;
    const auto scores = score::table();
    double sum = 0, total = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        if (weights[i] == 0) continue;
        sum += weights[i] * scores[i]->value(look, choice);
        total += weights[i];
    }
    return total > 0 ? static_cast<std::int32_t>(std::lround(sum / total * 1e6)) : 0;
}

Mask fitting_cards(const CardNeed& need, const Room& room, const CardRoom* cards, std::size_t count) {
    if (need.whole) return room.idle;
    Mask out = 0;
    for (std::size_t c = 0; c < count; ++c)
        if (cards[c].memory >= need.room() && cards[c].compute >= need.compute) out |= Mask{1} << c;
    return out;
}

}  // namespace

int Judge::fixed_filter(const Look& look) {
    const auto rows = filter::table();
    for (const auto position : filter::in_order()) {
        const auto& row = *rows[position];
        if (row.kind == filter::Kind::fixed && is_asked(look.shape, position) && !row.passes(look))
            return position;
    }
    return -1;
}

int Judge::standing_filter(const Look& look) {
    const auto rows = filter::table();
    for (const auto position : filter::in_order()) {
        const auto& row = *rows[position];
        if (row.order >= filter::standing_below) break;
        if (is_asked(look.shape, position) && !row.passes(look)) return position;
    }
    return -1;
}

int Judge::filter_failed(const Look& look, bool known_fixed) {
    const auto rows = filter::table();
    for (const auto position : filter::in_order()) {
        const auto& row = *rows[position];
        if (!is_asked(look.shape, position) || (known_fixed && row.kind == filter::Kind::fixed)) continue;
        if (!row.passes(look)) return position;
    }
    return -1;
}

Verdict Judge::verdict(int position, const Look& look, bool known_fixed) const {
    if (!look.node.present) return {-1, absent};
    if (const int failed = filter_failed(look, known_fixed); failed >= 0)
        return {-1, static_cast<std::uint8_t>(failed)};
    switch (ranking_of(look.shape.policy)) {
        case Ranking::weighted: return {score_of(look)};
        case Ranking::ordered: return {fit_level(look).value};
        case Ranking::learned: break;
    }
    if (!is_plain(look.shape) || look.node.mixed) return {pricing_.level(position, look).value};
    std::array<CardRoom, cards_per_node_max> cards;
    const Room room = room_of(cluster_, look.n, cards.data());
    const Level found = level(position, look.n, room, cards.data());
    return {found.value, 0, found.card};
}

Level Judge::level(int position, int n, const Room& room, const CardRoom* cards) const {
    const Shape& asked = shape(position);
    const int type = room.card_type;
    const CardNeed* need = type < 0 ? nullptr : &asked.need(cluster_, type);
    const auto count = cluster_.node(n).cards.size();
    if (ranking_of(asked.policy) == Ranking::ordered)
        return fit_level(asked, need, type < 0 ? 0 : cluster_.card_limit(cluster_.type(type).memory), room,
                         cards, count);
    const bool room_beside =
        asked.cpu <= (asked.cards > 0 ? room.cpu : room.cpu_only) && asked.memory <= room.memory;
    const Mask fitting = asked.cards > 0 ? fitting_cards(*need, room, cards, count) : 0;
    if (!room_beside || (asked.cards > 0 && fitting == 0)) return {};  // plain shapes want one card at most
    return pricing_.level(position, asked, n, room, cards, fitting);
}

}  // namespace crater::engine
