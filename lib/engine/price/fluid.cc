#include "price/fluid.h"

#include <algorithm>
#include <cmath>

namespace crater::engine::price {
namespace {

constexpr double step_first = 0.02, step_decline = 4;
constexpr double served_most = 6;  // times its share: more does not lower a price faster
constexpr double price_most_without_cards = 1e6;
constexpr double price_least = 1.0 / unit;
constexpr double price_most =
    3;  // times its size: what is asked for in vain must not make all else look cheap

struct Low {
    std::int32_t value;
    int lane;  // the first of those
};

// The least worth of a node of the group over all lanes.
CRATER_VECTOR_CLONES
Low lowest(const Tables& table, const Group& group) {
    constexpr int blocks = lanes / 8;
    const Row* value = table.value(group.cls);
    const float amount = group.amounts[table.companion()];
    Eight sum[blocks];
    for (int b = 0; b < blocks; ++b) {
        EightRates rates;
        load(rates, table.rates().lane + 8 * b);
        sum[b] = __builtin_convertvector(rates * amount, Eight);
    }
    for (const int row : group.rows)
        for (int b = 0; b < blocks; ++b) add(sum[b], value[row].lane + 8 * b);
    Eight low = sum[0];
    for (int b = 1; b < blocks; ++b) low = sum[b] < low ? sum[b] : low;
    const std::int32_t out = least(low);
    Eight at = Eight{} + lanes;
    for (int b = blocks - 1; b >= 0; --b) at = sum[b] == out ? Eight{0, 1, 2, 3, 4, 5, 6, 7} + 8 * b : at;
    return {out, least(at)};
}

// Good enough for small x, and the same on every machine.
double grown(double x) { return 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4))); }

}  // namespace

Fluid::Fluid(std::vector<Good>& goods, const Classes& classes, std::vector<Tables>& tables,
             std::vector<Group> groups)
    : goods_(goods), classes_(classes), tables_(tables), groups_(std::move(groups)), served_(goods.size()) {}

void Fluid::build() {
    for (Tables& table : tables_) table.build(goods_, classes_);
}

Cells Fluid::cells(std::size_t table, int cls) {
    const auto size = static_cast<std::size_t>(tables_[table].rows() * lanes);
    const auto at = table * static_cast<std::size_t>(classes_.count()) + static_cast<std::size_t>(cls);
    return {std::span(fills_).subspan(at * size, size)};
}

Fluid::Fill Fluid::best_fill(const Group& group) const {
    Fill out;
    std::int32_t least_value = std::numeric_limits<std::int32_t>::max();
    for (std::size_t t = 0; t < tables_.size(); ++t) {
        const Low low = lowest(tables_[t], group);
        if (low.value >= least_value) continue;
        least_value = low.value;
        out.table = t;
        out.lane = out.other = low.lane;
    }
    const double has = group.amounts[tables_[out.table].companion()];
    const Rates* rows = tables_[out.table].use(group.cls);
    const auto use = [&](int lane) {
        float sum = 0;
        for (const int row : group.rows) sum += rows[row].lane[lane];
        return double{sum};
    };
    const double used = use(out.lane);
    double other = used;
    if (used > has) {
        while (out.other + 1 < lanes && other > has) other = use(++out.other);
    } else {
        while (out.other > 0 && other <= has) other = use(--out.other);
        if (other <= has) out.other = out.lane, other = used;
    }
    if (used != other) out.share = std::clamp((has - other) / (used - other), 0.0, 1.0);
    out.spare = has - out.share * used - (1 - out.share) * other;
    return out;
}

void Fluid::serve(const Group& group, const Fill& fill) {
    const Cells here = cells(fill.table, group.cls);
    for (const int row : group.rows) {
        here.at(row, fill.lane) += group.count * fill.share;
        if (fill.share < 1) here.at(row, fill.other) += group.count * (1 - fill.share);
    }
    serve_without_cards(group, fill);
}

// To tasks without cards, those that pay best first.
void Fluid::serve_without_cards(const Group& group, const Fill& fill) {
    if (fill.spare <= 0) return;
    const auto companion = static_cast<std::size_t>(tables_[fill.table].companion());
    for (const int g : without_cards_[companion]) {
        const double amount = goods_[static_cast<std::size_t>(g)].amounts[companion];
        if (group.amounts[companion] < amount) continue;
        served_[static_cast<std::size_t>(g)] += group.count * fill.spare / amount;
        return;
    }
}

void Fluid::rank_without_cards() {
    for (const Tables& table : tables_) {
        const auto companion = static_cast<std::size_t>(table.companion());
        const auto gain = [&](int g) {
            const Good& good = goods_[static_cast<std::size_t>(g)];
            return good.price / double{good.amounts[companion]};
        };
        auto& ranked = without_cards_[companion];
        ranked.clear();
        for (int g = 0; g < static_cast<int>(goods_.size()); ++g) {
            const Good& good = goods_[static_cast<std::size_t>(g)];
            if (good.cards == 0 && good.amounts[companion] > 0) ranked.push_back(g);
        }
        std::stable_sort(ranked.begin(), ranked.end(), [&](int a, int b) { return gain(a) > gain(b); });
    }
}

void Fluid::count_served() {
    const auto cards = static_cast<std::size_t>(classes_.count());
    fills_.assign(tables_.size() * cards * static_cast<std::size_t>(tables_[0].rows() * lanes), 0.0);
    std::fill(served_.begin(), served_.end(), 0.0);
    rank_without_cards();
    for (const Group& group : groups_) serve(group, best_fill(group));
    for (std::size_t t = 0; t < tables_.size(); ++t) {
        for (int cls = 0; cls < classes_.count(); ++cls)
            tables_[t].count(goods_, cls, cells(t, cls), served_);
    }
}

void Fluid::adjust(double step) {
    const auto size = [&](std::size_t g) {
        return goods_[g].cards > 0 ? goods_[g].size() : double{goods_[g].amounts[cpu]} / 8;
    };
    double got = 0, asked = 0;
    for (std::size_t g = 0; g < goods_.size(); ++g) {
        got += size(g) * served_[g];
        asked += size(g) * goods_[g].mix;
    }
    const double copies = got / std::max(1e-9, asked);
    for (std::size_t g = 0; g < goods_.size(); ++g) {
        const double share = std::min(served_[g] / std::max(1e-12, copies * goods_[g].mix), served_most);
        goods_[g].price *= grown(-step * (share - 1));
    }
    normalise();
}

// So that on average a card costs what it is.
void Fluid::normalise() {
    double size = 0, price = 0;
    for (const Good& good : goods_) {
        size += good.mix * good.size();
        price += good.mix * good.price;
    }
    if (size <= 0) return;
    for (Good& good : goods_) {
        const double most = good.cards > 0 ? price_most * good.size() : price_most_without_cards;
        good.price = std::clamp(good.price * size / price, price_least, most);
    }
}

void Fluid::run(int steps) {
    std::vector<double> sum(goods_.size());
    int counted = 0;
    for (int i = 0; i < steps && !groups_.empty(); ++i) {
        build();
        count_served();
        adjust(step_first / (1 + i * step_decline / steps));
        if (i <= steps / 2) continue;
        ++counted;
        for (std::size_t g = 0; g < goods_.size(); ++g) sum[g] += goods_[g].price;
    }
    if (counted > 0) {
        for (std::size_t g = 0; g < goods_.size(); ++g) goods_[g].price = sum[g] / counted;
    }
    build();
}

}  // namespace crater::engine::price
