// What the nodes lack for a job, from the survey of its shape: the sentence, the bars, who holds it.
#include <algorithm>
#include <array>
#include <bit>
#include <climits>

#include "engine_impl.h"
#include "explain/data_words.h"
#include "explain/found.h"

namespace crater::engine {
namespace {

constexpr std::size_t nodes_shown = 1000, holders_shown = 10;

// How much of what is missing the slices hold, and in words.
struct Share {
    std::int64_t amount = 0;
    std::string (*words)(const Node&, const Slices&) = nullptr;
};
std::string words_of_cards(const Node& node, const Slices& s) {
    const auto whole =
        std::count_if(s.cards.begin(), s.cards.end(), [](const auto& c) { return c.exclusive; });
    if (whole > 0 || s.cards.empty()) return count_words(whole, "card", "cards");
    return mib_words(s.cards.front().memory) + " on card " +
           std::to_string(node.cards[static_cast<std::size_t>(s.cards.front().card)].index);
}
Share share_of(const Slices& s, std::string_view missing) {
    if (missing.starts_with("gpu")) {
        std::int64_t memory = 0;
        for (const auto& slice : s.cards) memory += slice.memory;
        return {memory, words_of_cards};
    }
    if (missing.starts_with("cpu"))
        return {s.cpu, [](const Node&, const Slices& x) { return core_words(x.cpu); }};
    if (missing == "memory" || missing == "memory_load")
        return {s.memory, [](const Node&, const Slices& x) { return bytes_words(x.memory) + " of memory"; }};
    if (missing == "memory_bandwidth")
        return {s.bandwidth, [](const Node&, const Slices& x) { return rate_words(x.bandwidth); }};
    if (missing == "disk_space")
        return {s.disk_size,
                [](const Node&, const Slices& x) { return bytes_words(x.disk_size) + " of disk"; }};
    if (missing == "disk_iops")
        return {s.disk_iops,
                [](const Node&, const Slices& x) { return std::to_string(x.disk_iops) + " IOPS"; }};
    if (missing == "disk_bandwidth")
        return {s.disk_bandwidth, [](const Node&, const Slices& x) { return rate_words(x.disk_bandwidth); }};
    if (missing == "disk_load")
        return {s.disk_bandwidth + s.disk_iops,
                [](const Node&, const Slices& x) { return std::to_string(x.disk_iops) + " IOPS"; }};
    if (missing == "node_exclusive" || missing == "anti_affinity")
        return {1, [](const Node&, const Slices& x) {
                    return std::string(x.node_exclusive ? "the whole node" : "a task");
                }};
    return {};
}

// The nodes nearest to taking the job: those that lack the fewest things, of these the ones that have most of
// what binds.
class Nearest {
  public:
    void offer(std::size_t rank, Lacks lacks, double has) {
        if (more_than(lacking_most_, lacks)) return;
        const Row row{std::popcount(lacks), -has, static_cast<int>(rank)};
        if (rows_.size() == nearest_max && !(row < rows_.back())) return;
        if (rows_.size() == nearest_max) rows_.pop_back();
        rows_.insert(std::upper_bound(rows_.begin(), rows_.end(), row), row);
        if (rows_.size() == nearest_max) lacking_most_ = rows_.back().lacking;
    }
    std::vector<int> ranks() const {
        std::vector<int> out;
        for (const auto& row : rows_) out.push_back(row.rank);
        return out;
    }

  private:
    // Counting them all would cost more than all the rest.
    static bool more_than(int most, Lacks lacks) {
        for (; most > 0 && lacks; --most) lacks &= lacks - 1;
        return lacks != 0;
    }

    static constexpr std::size_t nearest_max = 16;
    struct Row {
        int lacking;
        double less;
        int rank;
        auto operator<=>(const Row&) const = default;
    };
    std::vector<Row> rows_;
    int lacking_most_ = INT_MAX;  // that still gets in
};

}  // namespace

Engine::Impl::Found Engine::Impl::explain_nodes(const JobSlot& slot, const Survey& survey, std::int64_t room,
                                                const WhyQuestion& question, Why& out) {
    const Shape& shape = shapes_.at(slot.shape);
    const Lacks fixed = lacks_of(filter::Kind::fixed);
    struct Tally {
        std::int64_t nodes = 0;
        int first = -1;
    };
    std::array<Tally, 64> tallies{};  // by the first thing lacking, in the order of filters
    Found found;
    std::int64_t present = 0, right_kind = 0;
    for (std::size_t rank = 0; rank < survey.size(); ++rank) {
        present += survey.present(rank);
        right_kind += survey.right_kind(rank);
        const Lacks lacks = survey.at(rank);
        out.fitting += survey.fits(rank);
        if (lacks == 0) continue;
        Tally& tally = tallies[static_cast<std::size_t>(std::countr_zero(lacks))];
        if (tally.nodes++ == 0) tally.first = static_cast<int>(rank);
    }
    const auto look_at = [&](int rank) {
        return Look(shape, cluster_, cluster_.by_name()[static_cast<std::size_t>(rank)]);
    };
    // What binds is what nodes of the right kind that take work lack; where there are none, that they do not,
    // or the kind itself.
    std::size_t binding = tallies.size();
    for (const Lacks these : {~(fixed | Survey::closed()), Survey::closed(), fixed}) {
        for (std::size_t f = 0; f < tallies.size(); ++f) {
            if (tallies[f].nodes == 0 || (these >> f & 1) == 0) continue;
            if (binding == tallies.size() || tallies[f].nodes > tallies[binding].nodes) binding = f;
        }
        if (binding < tallies.size()) break;
    }
    for (std::size_t f = 0; f < tallies.size(); ++f) {
        if (tallies[f].nodes == 0) continue;
        const auto& row = first_of(Lacks{1} << f);
        const Look look = look_at(tallies[f].first);
        out.rejections.push_back({std::string(row.name), tallies[f].nodes, look.node.name, row.says(look)});
    }
    std::stable_sort(out.rejections.begin(), out.rejections.end(),
                     [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
    add_requirements(shape, survey, out);
    if (question.nodes) list_nodes(slot, survey, out);

    if (present == 0) {
        out.binding = "node_state";
        out.summary = "No node has registered yet.";
        return found;
    }
    if (binding == tallies.size() && room >= slot.waiting) return found;
    const bool gang = out.fitting > 0 && slot.waiting > 1;
    found.binding = binding == tallies.size() ? 0 : Lacks{1} << binding;
    const auto& row = found.binding ? first_of(found.binding) : filter::at(filter::in_order().front());
    out.binding = found.binding ? std::string(row.name) : "tasks";
    for (auto& requirement : out.requirements) requirement.binding = !gang && requirement.name == out.binding;
    if (gang) {
        out.requirements.insert(out.requirements.begin(), {"tasks",
                                                           "tasks",
                                                           static_cast<double>(slot.waiting),
                                                           static_cast<double>(room),
                                                           static_cast<double>(slot.waiting),
                                                           {},
                                                           0,
                                                           true});
        out.summary = "Its " + std::to_string(slot.waiting) + " tasks start together; there is room for " +
                      std::to_string(room) + " of them now" +
                      (found.binding ? ". Short of: " + std::string(row.help) : ".");
    } else if (found.binding) {
        out.summary = sentence(shape, row, right_kind, out);
    }
    if (shape.data && shape.data->required) out.summary += " " + data_sentence(shape);

    const Survey::Bar* bar = nullptr;
    for (const auto& candidate : survey.bars())
        if (candidate.lack & found.binding) bar = &candidate;
    Nearest nearest;
    for (std::size_t rank = 0; rank < survey.size(); ++rank)
        if (survey.right_kind(rank) && survey.at(rank) != 0)
            nearest.offer(rank, survey.at(rank), bar ? bar->has[rank] : 0);
    found.nearest = nearest.ranks();
    add_holders(
        slot,
        out.binding == "together" || out.binding == "tasks" ? (shape.cards > 0 ? "gpu" : "cpu") : out.binding,
        found.nearest, out);
    return found;
}

void Engine::Impl::list_nodes(const JobSlot& slot, const Survey& survey, Why& out) const {
    const Shape& shape = shapes_.at(slot.shape);
    const bool own = shape.own_tasks_matter();
    for (std::size_t rank = 0; rank < survey.size() && out.nodes.size() < nodes_shown; ++rank) {
        if (!survey.present(rank)) continue;
        const int n = cluster_.by_name()[rank];
        NodeVerdict shown{cluster_.node(n).name, {}, {}};
        if (survey.at(rank) != 0) {
            const auto& row = first_of(survey.at(rank));
            shown.filter = row.name;
            shown.detail = row.says(
                Look(shape, cluster_, n, When::now, own ? own_tasks_[static_cast<std::size_t>(n)] : 0));
        }
        out.nodes.push_back(std::move(shown));
    }
}

// "Needs a card with 16 GiB free; the 4 nodes of its kind have at most 10 GiB free on one card."
std::string Engine::Impl::sentence(const Shape& shape, const filter::Filter& row, std::int64_t right_kind,
                                   const Why& facts) const {
    const Requirement* bar = nullptr;
    for (const auto& requirement : facts.requirements)
        if (requirement.binding) bar = &requirement;
    const std::string kind = right_kind == 1
                                 ? "the 1 node of its kind has"
                                 : "the " + std::to_string(right_kind) + " nodes of its kind have";
    const auto whole = [](double v) { return static_cast<std::int64_t>(v); };
    std::string what;
    // Where some node has enough of it and lacks something else, "at most" would say nothing.
    if (bar && row.kind != filter::Kind::fixed && bar->best_has < bar->needs) {
        const auto needs = whole(bar->needs), has = whole(bar->best_has);
        if (row.name == "gpu_memory")
            what = (shape.cards == 1 ? "a card with " : std::to_string(shape.cards) + " cards with ") +
                   mib_words(needs) + " free; " + kind + " at most " + mib_words(has) + " free on one card";
        else if (row.name == "gpu_count")
            what = count_words(needs, "whole card", "whole cards") + " on one node; " + kind + " at most " +
                   std::to_string(has) + " free on one";
        else if (row.name == "cpu")
            what = core_words(whole(bar->needs * 1000 + 0.5)) + " on one node; " + kind + " at most " +
                   core_words(whole(bar->best_has * 1000 + 0.5)) + " free";
        else if (bar->unit == "bytes")
            what = bytes_words(needs) + " of " + (row.name == "memory" ? "memory" : "disk space") +
                   " on one node; " + kind + " at most " + bytes_words(has) + " free";
        else if (bar->unit == "bytes/s")
            what = rate_words(needs) + " of " + (row.name == "disk_bandwidth" ? "disk" : "memory") +
                   " bandwidth; " + kind + " at most " + rate_words(has) + " free";
        else if (bar->unit == "IOPS")
            what = std::to_string(needs) + " IOPS on one disk; " + kind + " at most " + std::to_string(has) +
                   " free";
    }
    if (!what.empty()) return "Needs " + what + ".";
    for (const auto& rejection : facts.rejections)
        if (rejection.filter == row.name) {
            std::string text = rejection.first_node + ": " + rejection.detail;
            if (rejection.nodes > 1)
                text +=
                    "; " + count_words(rejection.nodes - 1, "other node likewise", "other nodes likewise");
            return text + ".";
        }
    return std::string(row.help);
}

// What it requires of caches narrows the choice, whatever is lacking in the end.
std::string Engine::Impl::data_sentence(const Shape& shape) const {
    const WantedData& wanted = *shape.data;
    const auto& nodes = cluster_.by_name();
    const auto all = std::count_if(nodes.begin(), nodes.end(), [&](int n) {
        return cluster_.node(n).present && wanted.all_in(cluster_.node(n).data);
    });
    const bool several = wanted.datasets.size() + wanted.models.size() > 1;
    return "It runs only where its data is: " + cached_where_words(wanted, cluster_) +
           (several ? "; all of it on " + (all == 0 ? std::string("none") : count_words(all, "node", "nodes"))
                    : "") +
           ".";
}

// For each amount asked for, the node that has most of it free.
void Engine::Impl::add_requirements(const Shape& shape, const Survey& survey, Why& out) const {
    for (const auto& bar : survey.bars()) {
        if (survey.size() == 0) continue;
        const auto rank = bar.best();
        if (bar.has[rank] < 0) continue;
        const Look look(shape, cluster_, cluster_.by_name()[rank]);
        const auto measure = bar.row->measure(look);
        Requirement requirement{std::string(bar.row->name),
                                std::string(measure.unit),
                                measure.needs,
                                measure.has,
                                measure.total,
                                look.node.name,
                                0,
                                false};
        requirement.nodes_short = survey.nodes_lacking(bar.lack);
        out.requirements.push_back(std::move(requirement));
    }
}

// On the nodes where the least is missing, the largest first.
void Engine::Impl::add_holders(const JobSlot& slot, std::string_view binding, const std::vector<int>& nearest,
                               Why& out) const {
    struct Row {
        Share share;
        const JobSlot* holder;
        const Slices* slices;
    };
    std::vector<Row> rows;
    for (const int rank : nearest)
        for (const auto& held :
             held_on_[static_cast<std::size_t>(cluster_.by_name()[static_cast<std::size_t>(rank)])]) {
            const Slices& slices = job(held.job).tasks[static_cast<std::size_t>(held.task)].slices;
            const Share share = share_of(slices, binding);
            if (held.job != slot.position && share.amount > 0)
                rows.push_back({share, &job(held.job), &slices});
        }
    const auto shown = std::min(holders_shown, rows.size());
    std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
                      [&](const Row& a, const Row& b) {
                          if (a.share.amount != b.share.amount) return a.share.amount > b.share.amount;
                          if (a.holder != b.holder) return a.holder->info.id < b.holder->info.id;
                          return cluster_.rank(a.slices->node) < cluster_.rank(b.slices->node);
                      });
    for (std::size_t i = 0; i < shown; ++i) {
        const Node& node = cluster_.node(rows[i].slices->node);
        out.holders.push_back(
            {rows[i].holder->info.id, node.name, rows[i].share.words(node, *rows[i].slices)});
    }
}

}  // namespace crater::engine
