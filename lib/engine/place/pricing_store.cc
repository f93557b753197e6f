// What was learned as text and back, to the last bit: written once as a walk over all fields, which serves
// both ways. Card types go by what they are, because their positions depend on the order in which nodes
// registered.
#include <charconv>
#include <cstdio>

#include "place/pricing.h"

namespace crater::engine {
namespace {

constexpr std::string_view head = "crater-learned-1";

class Writer {
  public:
    void add(std::string_view word) { text_ += word, text_ += ' '; }
    void number(std::integral auto& value) { add(std::to_string(value)); }
    void number(double& value) {
        char buffer[40];
        std::snprintf(buffer, sizeof buffer, "%a", value);
        add(buffer);
    }
    void number(float& value) {
        double wide = value;
        number(wide);
    }
    void types(std::uint64_t& mask) { number(mask); }
    template <class T>
    void by_type(T& amounts) {
        for (auto& amount : amounts) number(amount);
    }
    template <class T, class F>
    void list(std::vector<T>& items, F each) {
        auto size = items.size();
        number(size);
        for (auto& item : items) each(item);
    }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

class Reader {
  public:
    Reader(std::string_view text, const std::vector<int>& type_of) : text_(text), type_of_(type_of) {}

    std::string_view word() {
        const auto end = text_.find(' ');
        if (end == std::string_view::npos) {
            bad_ = true;
            return {};
        }
        const auto out = text_.substr(0, end);
        text_.remove_prefix(end + 1);
        return out;
    }
    void number(std::integral auto& value) {
        const auto digits = word();
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc{} || end != digits.data() + digits.size()) bad_ = true;
    }
    void number(double& value) {
        const std::string digits(word());
        char* end = nullptr;
        value = std::strtod(digits.c_str(), &end);
        if (digits.empty() || *end) bad_ = true;
    }
    void number(float& value) {
        double wide = 0;
        number(wide);
        value = static_cast<float>(wide);
    }
    // Types that the cluster does not have any more are left out.
    void types(std::uint64_t& mask) {
        std::uint64_t stored = 0;
        number(stored);
        if (stored == ~std::uint64_t{0}) {
            mask = stored;
            return;
        }
        mask = 0;
        for (std::size_t t = 0; t < type_of_.size() && t < 64; ++t)
            if (stored >> t & 1 && type_of_[t] >= 0 && type_of_[t] < 64)
                mask |= std::uint64_t{1} << type_of_[t];
    }
    template <class T>
    void by_type(T& amounts) {
        T stored{};
        for (auto& amount : stored) number(amount);
        amounts = {};
        for (std::size_t t = 0; t < type_of_.size() && t < stored.size(); ++t)
            if (type_of_[t] >= 0 && static_cast<std::size_t>(type_of_[t]) < amounts.size())
                amounts[static_cast<std::size_t>(type_of_[t])] = stored[t];
    }
    template <class T, class F>
    void list(std::vector<T>& items, F each) {
        std::size_t size = 0;
        number(size);
        if (bad_ || size > text_.size()) {
            bad_ = true;
            return;
        }
        items.resize(size);
        for (auto& item : items) each(item);
    }
    bool bad() const { return bad_; }
    bool done() const { return text_.empty(); }

  private:
    std::string_view text_;
    const std::vector<int>& type_of_;
    bool bad_ = false;
};

template <class V>
void walk(V& v, price::Demand& kind) {
    v.number(kind.cards), v.number(kind.milli), v.types(kind.types);
    for (auto& amount : kind.amounts) v.number(amount);
}

template <class V>
void walk(V& v, price::Good& good) {
    v.number(good.cards), v.number(good.milli), v.types(good.types);
    for (auto& amount : good.amounts) v.number(amount);
    v.number(good.mix), v.number(good.price);
}

template <class V>
void walk(V& v, price::Learned& learned) {
    v.list(learned.kinds, [&](price::Demand& kind) { walk(v, kind); });
    v.list(learned.weight, [&](double& weight) { v.number(weight); });
    v.list(learned.price, [&](double& price) { v.number(price); });
    v.list(learned.order, [&](int& kind) { v.number(kind); });
    v.list(learned.goods, [&](price::Good& good) { walk(v, good); });
    v.list(learned.targets, [&](price::Target& target) { walk(v, target.kind), v.number(target.share); });
    v.list(learned.scarce, [&](int& companion) { v.number(companion); });
    for (auto& scale : learned.scale) v.number(scale);
    v.by_type(learned.reserve);
    v.types(learned.types);
    v.number(learned.idle_max), v.number(learned.cards), v.number(learned.arrivals),
        v.number(learned.priced_at), v.number(learned.targets_at);
    v.number(learned.arrived), v.number(learned.departed), v.number(learned.turnover),
        v.number(learned.version);
}

std::string name_of_type(const CardType& type) {
    std::string out = type.model + "|" + std::to_string(type.memory) + "|" + std::to_string(type.capability);
    for (const auto& precision : type.precisions) out += "|" + precision;
    for (char& c : out)
        if (c == ' ') c = '_';
    return out;
}

constexpr std::int64_t cluster_cards_most = 1'000'000'000'000;
constexpr Policy learning[] = {Policy::price, Policy::fragmentation};

bool is_demand(const price::Demand& kind) {
    return kind.cards >= 0 && kind.cards <= 1'000'000 && kind.milli >= 0 && kind.milli <= price::whole_card &&
           (kind.cards == 0 || kind.milli > 0);
}

// What arithmetic relies on; the text may be another version's, or damaged.
bool is_sound(const price::Learned& learned) {
    const auto kinds = learned.kinds.size();
    if (learned.weight.size() != kinds || learned.price.size() != kinds) return false;
    for (const auto& kind : learned.kinds)
        if (!is_demand(kind)) return false;
    for (const int kind : learned.order)
        if (kind < 0 || static_cast<std::size_t>(kind) >= kinds) return false;
    for (const auto& target : learned.targets)
        if (!is_demand(target.kind)) return false;
    for (const auto& good : learned.goods)
        if (!is_demand({good.cards, good.milli, 0, {}})) return false;
    for (const int companion : learned.scarce)
        if (companion < 0 || companion >= price::companions) return false;
    if (learned.priced_at < 0 || learned.priced_at > learned.arrivals ||
        learned.targets_at > learned.arrivals)
        return false;
    if (!learned.goods.empty() && learned.priced_at == 0) return false;
    if (learned.cards < 0 || learned.cards > cluster_cards_most) return false;
    return (learned.goods.empty() || !learned.scarce.empty()) && learned.idle_max >= 1 &&
           learned.idle_max <= cards_per_node_max;
}

}  // namespace

std::string Pricing::save() const {
    Writer out;
    out.add(head);
    auto types = cluster_.type_count();
    out.number(types);
    for (int t = 0; t < types; ++t) out.add(name_of_type(cluster_.type(t)));
    for (const Policy policy : learning) {
        int present = learner(policy).prices ? 1 : 0;
        out.number(present);
        if (!present) continue;
        price::Learned learned = learner(policy).prices->learned();
        walk(out, learned);
    }
    return out.take();
}

Result<void> Pricing::load(std::string_view text) {
    const auto broken = [] {
        return fail(Code::invalid, "what the placement policies had learned cannot be read; they learn anew");
    };
    std::vector<int> type_of;
    Reader in(text, type_of);
    if (in.word() != head) return broken();
    int types = 0;
    in.number(types);
    for (int t = 0; t < types && !in.bad(); ++t) {
        const auto name = in.word();
        type_of.push_back(-1);
        for (int now = 0; now < cluster_.type_count(); ++now)
            if (name_of_type(cluster_.type(now)) == name) type_of.back() = now;
    }
    std::array<std::optional<price::Learned>, 2> read;
    for (const Policy policy : learning) {
        int present = 0;
        in.number(present);
        if (in.bad() || !present) continue;
        walk(in, read[index(policy)].emplace());
        if (!is_sound(*read[index(policy)])) return broken();
    }
    if (in.bad() || !in.done()) return broken();
    for (const Policy policy : learning)
        if (auto& learned = read[index(policy)]) restore(policy, std::move(*learned));
    return {};
}

}  // namespace crater::engine
