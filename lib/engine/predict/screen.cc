// The third stage: whether what would be used on a candidate stays below the safety watermark. A light model.
// What a task uses at its peak is what its profile says, else what it holds. Tasks without a profile that
// have run for the prediction window show in the live use what they will use, so that together they count no
// more than that.
//
// It is about tasks that disturb each other: a job that has a card or a node for itself is not turned down.
// Where nothing is known of anybody and what is declared fits the hardware, there is nothing to predict.
#include <algorithm>
#include <array>

#include "engine_impl.h"
#include "place/level.h"

namespace crater::engine {
namespace {

// What the tasks of a card, or of a node, will use.
struct Foreseen {
    std::int64_t profiled = 0;  // of those with a profile
    std::int64_t young = 0;     // held by those that may not have grown to what they will use
    std::int64_t settled = 0;   // held by those whose use shows
    std::int64_t booked = 0;    // held by all of these
    bool known = false;         // somebody has a profile
    bool others = false;        // somebody of another job

    void add(std::int64_t held, std::optional<std::int64_t> profile, bool is_settled, bool is_own) {
        booked += held;
        others |= !is_own;
        known |= profile.has_value();
        (profile ? profiled : is_settled ? settled : young) += profile.value_or(held);
    }
    // What the books have beyond the tasks is kept for somebody.
    void add_pledges(std::int64_t in_books) {
        if (in_books > booked) others = true, young += in_books - booked;
    }
    // `live` -1: not known.
    std::int64_t peak(std::int64_t live) const {
        const auto sum = profiled + young + (live >= 0 ? std::min(settled, live) : settled);
        return std::max(sum, live);
    }
};

constexpr std::int64_t most = 1'000'000'000'000'000;  // sums of these do not overflow

template <class T>
std::optional<std::int64_t> amount(const std::optional<T>& of) {
    return of ? std::optional(std::clamp<std::int64_t>(of->value, 0, most)) : std::nullopt;
}

bool passes(std::int64_t used, std::int64_t of, double watermark) {
    return static_cast<double>(used) > static_cast<double>(of) * watermark;
}

// What is looked at of a node as a whole.
struct Dimension {
    const char* name;
    std::int64_t (*held)(const Slices&);
    std::optional<std::int64_t> (*peak)(const Profile&);
    std::int64_t (*total)(const Node&);
    std::int64_t (*in_books)(const Look&);
    std::int64_t (*live)(const Node&);
    std::string (*words)(std::int64_t);
};
const Dimension dimensions[] = {
    {"CPU use", [](const Slices& s) { return s.cpu; }, [](const Profile& p) { return amount(p.cpu); },
     [](const Node& n) { return n.cpu; }, [](const Look& look) { return look.use().cpu; },
     [](const Node& n) { return n.cpu * n.live.cpu / 1000; }, core_words},
    {"memory use", [](const Slices& s) { return s.memory; },
     [](const Profile& p) { return amount(p.memory); }, [](const Node& n) { return n.memory; },
     [](const Look& look) { return look.use().memory; },
     [](const Node& n) { return n.memory / 1000 * n.live.memory; }, bytes_words},
    {"disk traffic", [](const Slices& s) { return s.disk_bandwidth; },
     [](const Profile& p) { return amount(p.disk_rate); },
     [](const Node& n) {
         std::int64_t sum = 0;
         for (const auto& disk : n.disks) sum += disk.bandwidth;
         return sum;
     },
     [](const Look& look) {
         std::int64_t sum = 0;
         for (std::size_t k = 0; k < look.node.disks.size(); ++k) sum += look.disk(k).bandwidth;
         return sum;
     },
     [](const Node& n) { return n.live.disk_rate; }, rate_words},
    {"memory traffic", [](const Slices& s) { return s.bandwidth; },
     [](const Profile& p) { return amount(p.memory_bandwidth); },
     [](const Node& n) {
         std::int64_t sum = 0;
         for (const auto& domain : n.domains) sum += domain.bandwidth;
         return sum;
     },
     [](const Look& look) {
         std::int64_t sum = 0;
         for (std::size_t d = 0; d < look.node.domains.size(); ++d) sum += look.domain(d).bandwidth;
         return sum;
     },
     [](const Node&) { return std::int64_t{-1}; }, rate_words},
};

std::int64_t asked_of(const Shape& shape, std::size_t dimension) {
    return std::array{shape.cpu, shape.memory, shape.disk_bandwidth, shape.bandwidth}[dimension];
}

}  // namespace

std::optional<Mask> Engine::Impl::screen(const Look& look, const Newcomer& who, std::string& words) const {
    const Node& node = look.node;
    const double watermark = look.settings().safety_watermark;
    const Millis window{look.settings().prediction_window_minutes * 60'000};
    std::array<Foreseen, cards_per_node_max> cards;
    std::array<Foreseen, std::size(dimensions)> parts;
    const auto add = [&](const Slices& slices, const Profile* profile, bool settled, bool own) {
        for (const auto& slice : slices.cards)
            cards[static_cast<std::size_t>(slice.card)].add(
                slice.memory, profile ? amount(profile->gpu_memory) : std::nullopt, settled, own);
        for (std::size_t d = 0; d < parts.size(); ++d)
            parts[d].add(dimensions[d].held(slices), profile ? dimensions[d].peak(*profile) : std::nullopt,
                         settled, own);
    };
    for (const auto& held : held_on_[static_cast<std::size_t>(look.n)]) {
        const JobSlot& other = job(held.job);
        const TaskSlot& task = other.tasks[static_cast<std::size_t>(held.task)];
        const bool settled = node.live.at.ms > 0 && task.started + window <= node.live.at;
        add(task.slices, other.info.profile.get(), settled, held.job == who.job);
    }
    for (const auto& slices : *who.booked)
        if (slices.node == look.n) add(slices, who.profile, false, true);

    for (std::size_t d = 0; d < parts.size(); ++d) {
        const auto& of = dimensions[d];
        const auto own = who.profile ? of.peak(*who.profile) : std::nullopt;
        const auto total = of.total(node);
        parts[d].add_pledges(of.in_books(look));
        if (total <= 0 || !parts[d].others || !(parts[d].known || own)) continue;
        const auto peak =
            parts[d].peak(node.live.at.ms > 0 ? of.live(node) : -1) + own.value_or(asked_of(look.shape, d));
        if (!passes(peak, total, watermark)) continue;
        words = std::string(of.name) + " of " + node.name + " would reach " + of.words(peak) + " of " +
                of.words(total) + ", the watermark is " +
                of.words(static_cast<std::int64_t>(static_cast<double>(total) * watermark));
        return std::nullopt;
    }

    Mask open = ~Mask{0};
    for (std::size_t c = 0; c < node.cards.size(); ++c) {
        const CardUse& used = look.card(c);
        if (!(look.cards.load >> c & 1) || used.tasks == 0 || look.need(c).whole) continue;
        const auto own = who.profile ? amount(who.profile->gpu_memory) : std::nullopt;
        const auto memory = look.card_memory(c);
        cards[c].add_pledges(used.memory);
        const bool overcommitted = used.memory + look.need(c).memory > memory;
        if (!overcommitted && !(cards[c].others && (cards[c].known || own))) continue;
        const auto peak = cards[c].peak(node.live.memory_on(c)) + own.value_or(look.need(c).memory);
        if (!passes(peak, memory, watermark)) continue;
        open &= ~(Mask{1} << c);
        if (words.empty())
            words = "card " + std::to_string(node.cards[c].index) + " of " + node.name + " would reach " +
                    used_words(peak, memory) + ", the watermark is " +
                    gib_words(static_cast<std::int64_t>(static_cast<double>(memory) * watermark));
    }
    return open;
}

// On a node that fits: with the policy's card when that stays below, else with the others.
std::optional<Slices> Engine::Impl::slices_below(int shape, int n, const Newcomer& who, std::string& words,
                                                 int card) const {
    Look look(shapes_.at(shape), cluster_, n);
    const auto open = screen(look, who, words);
    if (!open) return std::nullopt;
    look.keep(*open);
    if (card >= 0 && (look.cards.load >> card & 1)) look.take(card);
    if (!look.choice()) return std::nullopt;
    return look.slices();
}

// Tasks crowd the same few best nodes, so that all of the trace may be turned down while others would do:
// then all are looked at.
std::optional<Slices> Engine::Impl::screened(int shape, const Newcomer& who, Trace& trace, int card,
                                             int& looked) const {
    auto& best = trace.best;
    std::optional<Slices> found;
    std::vector<int> seen;
    const auto turned_down = [&](int n, std::string words) {
        if (trace.predicted.nodes++ == 0)
            trace.predicted.first = n, trace.predicted.detail = std::move(words);
    };
    for (const auto& mark : best) {
        if (mark.node < 0) break;
        std::string words;
        if (!seen.empty()) card = judge_.verdict(shape, Look(shapes_.at(shape), cluster_, mark.node)).card;
        if ((found = slices_below(shape, mark.node, who, words, card))) break;
        turned_down(mark.node, std::move(words));
        seen.push_back(mark.node);
    }
    if (found) {
        std::shift_left(best.begin(), best.end(), static_cast<std::ptrdiff_t>(seen.size()));
        for (auto i = best.size() - seen.size(); i < best.size(); ++i) best[i] = {};
        return found;
    }
    if (who.only_these) return std::nullopt;
    struct Fitting {
        int node, card;
        std::int32_t level;
    };
    std::vector<Fitting> others;
    looked += cluster_.size();
    for (const int n : cluster_.by_name()) {
        if (std::find(seen.begin(), seen.end(), n) != seen.end()) continue;
        const Verdict verdict = judge_.verdict(shape, Look(shapes_.at(shape), cluster_, n));
        if (verdict.fits()) others.push_back({n, verdict.card, verdict.level});
    }
    std::stable_sort(others.begin(), others.end(),
                     [](const Fitting& a, const Fitting& b) { return a.level > b.level; });
    best = {};
    for (const auto& other : others) {
        std::string words;
        if ((found = slices_below(shape, other.node, who, words, other.card))) {
            best[0] = {other.node, other.level};
            break;
        }
        turned_down(other.node, std::move(words));
    }
    return found;
}

}  // namespace crater::engine
