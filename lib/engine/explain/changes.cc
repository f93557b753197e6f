#include "explain/changes.h"

#include <algorithm>
#include <map>
#include <set>

#include "explain/found.h"

namespace crater::engine {
namespace {

// A question looks at no more nodes than this, which bounds its time; a thorough one goes on for longer:
// decisions wait meanwhile.
constexpr std::int64_t looks_max = 800, looks_max_thorough = 200'000;

}  // namespace

Engine::Impl::Changes::Changes(Impl& engine, JobSlot& slot, const Survey& survey, const Found& found,
                               const Outcome& outcome, std::int64_t room, Instant now, bool thorough,
                               Why& out)
    : e_(engine),
      slot_(slot),
      shape_(engine.shapes_.at(slot.shape)),
      survey_(survey),
      found_(found),
      outcome_(outcome),
      room_(room),
      now_(now),
      thorough_(thorough),
      out_(out) {}

void Engine::Impl::Changes::find() {
    find_kept();
    // Who holds part of its gang keeps what it asked for; what plugins say to another request is not known
    // before it is made.
    const bool asks_plugins =
        e_.hooks_ && slot_.queue >= 0 && !e_.backlog_.queue(slot_.queue).spec.plugins.empty();
    if (slot_.held == 0 && !asks_plugins) {
        amounts();
        other_model();
        fewer_tasks();
        looser_topology();
    }
    cut_ |= asks_plugins;
    job_end();
    higher_priority();
    out_.more_changes = more_ || (cut_ && (!thorough_ || looks_ >= looks_max_thorough));
}

std::int64_t Engine::Impl::Changes::looks_left() const {
    return (thorough_ ? looks_max_thorough : looks_max) - looks_;
}

bool Engine::Impl::Changes::afford() {
    if (looks_left() > 0) return true;
    cut_ = true;
    return false;
}

// What is kept there is in the way of a job that has not ended by then, unless it fits beside, which the pass
// alone finds out.
void Engine::Impl::Changes::find_kept() {
    if (!e_.reservations_.in_force()) return;
    const Millis length = e_.left_of(slot_);
    const Instant end = length == Millis::max() ? never : now_ + length;
    // queues, its own with them
    std::vector<char> earlier(static_cast<std::size_t>(e_.backlog_.queue_count()));
    for (const int q : e_.backlog_.in_order()) {
        if (slot_.queue < 0) break;
        earlier[static_cast<std::size_t>(q)] = 1;
        if (q == slot_.queue) break;
    }
    for (const int n : e_.reservations_.nodes())
        for (const auto* place : e_.reservations_.on(n)) {
            const JobSlot& other = e_.job(place->job);
            if (place->at >= end || !other.in_class || !earlier[static_cast<std::size_t>(other.queue)] ||
                !goes_first(other.queue, *other.in_class))
                continue;
            kept_.resize(survey_.size());
            kept_[static_cast<std::size_t>(e_.cluster_.rank(n))] = 1;
        }
}

Shape Engine::Impl::Changes::altered(const Amount& amount, std::int64_t steps) const {
    Shape out = shape_;
    amount.set(out, steps * amount.step);
    out.forget_needs();
    return out;
}

bool Engine::Impl::Changes::within_quota(const Shape& shape, std::int64_t tasks) const {
    Amounts amounts = e_.least_amounts(shape);
    for (auto& amount : amounts) amount = saturating_product(amount, tasks);
    amounts[jobs_kind] = slot_.held == 0 ? 1 : 0;
    return !e_.tenants_.over(slot_.tenant, amounts);
}

bool Engine::Impl::Changes::takes(const Shape& shape, int n) {
    ++looks_;
    const bool own = shape.own_tasks_matter();
    Look look(shape, e_.cluster_, n, When::now, own ? e_.own_tasks_[static_cast<std::size_t>(n)] : 0);
    if (!Judge::fits(look)) return false;
    if (!kept_.empty() && kept_[static_cast<std::size_t>(e_.cluster_.rank(n))]) return unsure_ = true, false;
    if (!e_.predicts() || own) return true;
    std::string words;
    const std::vector<Slices> none;
    const auto open = e_.screen(look, {slot_.position, slot_.info.profile.get(), &none}, words);
    if (!open) return false;
    Look kept(shape, e_.cluster_, n);
    kept.keep(*open);
    return kept.choice().has_value();
}

bool Engine::Impl::Changes::starts(const Shape& shape, std::span<const int> ranks) {
    if (slot_.waiting == 1)
        return std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
            return afford() && takes(shape, e_.cluster_.by_name()[static_cast<std::size_t>(rank)]);
        });
    const auto mark = e_.cluster_.mark();
    std::deque<Slices> slices;
    const auto had = looks_left();
    auto left = had;
    const auto placed = e_.fill_up(slot_, shape, ranks, slot_.waiting, slices, &left);
    e_.cluster_.undo_to(mark);
    looks_ += had - left;
    cut_ |= placed < 0;
    if (placed != slot_.waiting) return false;
    if (kept_.empty()) return true;
    unsure_ |= std::any_of(slices.begin(), slices.end(), [&](const Slices& s) {
        return kept_[static_cast<std::size_t>(e_.cluster_.rank(s.node))] != 0;
    });
    return !unsure_;
}

bool Engine::Impl::Changes::starts(const Shape& shape, std::span<const int> first,
                                   std::span<const int> others) {
    if (slot_.waiting == 1) return starts(shape, first) || starts(shape, others);
    std::vector<int> all(first.begin(), first.end());
    std::copy_if(others.begin(), others.end(), std::back_inserter(all),
                 [&](int rank) { return std::find(first.begin(), first.end(), rank) == first.end(); });
    return starts(shape, all);
}

// ---- something else ---------------------------------------------------------------------------------------

void Engine::Impl::Changes::other_model() {
    if (shape_.cards == 0 || shape_.gpu_model.empty() || (slot_.waiting > 1 && e_.predicts())) return;
    const Cluster& cluster = e_.cluster_;
    // By card type: whether it is of another model, and the nodes that have it where nothing else is missing.
    const auto types_known = static_cast<std::size_t>(cluster.type_count());
    std::vector<char> other(types_known);
    std::vector<std::vector<int>> of_type(types_known);
    for (std::size_t t = 0; t < types_known; ++t)
        other[t] = shape_.need(cluster, static_cast<int>(t)).fails == CardNeed::model;
    if (std::find(other.begin(), other.end(), 1) == other.end()) return;
    const Lacks cards = all_of({"gpu_model", "gpu_cards", "gpu_capability", "gpu_precision", "gpu_card_size",
                                "gpu_inference_part", "gpu_health", "gpu_memory", "gpu_count", "gpu_compute",
                                "gpu_tasks", "gpu_watermark", "gpu_load", "gpu_interconnect", "together"});
    for (std::size_t rank = 0; rank < survey_.size(); ++rank) {
        if (!survey_.present(rank) || (survey_.at(rank) & ~cards)) continue;
        if (e_.rooms_.at(rank).card_memory <= 0) continue;
        const Node& node = cluster.node(cluster.by_name()[rank]);
        if (!node.mixed) {
            if (node.card_type >= 0 && other[static_cast<std::size_t>(node.card_type)])
                of_type[static_cast<std::size_t>(node.card_type)].push_back(static_cast<int>(rank));
            continue;
        }
        std::set<int> types;
        for (const auto& card : node.cards)
            if (other[static_cast<std::size_t>(card.type)]) types.insert(card.type);
        for (const int t : types) of_type[static_cast<std::size_t>(t)].push_back(static_cast<int>(rank));
    }
    std::map<std::string, std::vector<int>> models;
    for (std::size_t t = 0; t < of_type.size(); ++t) {
        auto& ranks = models[cluster.type(static_cast<int>(t)).model];
        ranks.insert(ranks.end(), of_type[t].begin(), of_type[t].end());
    }
    for (const auto& [model, ranks] : models) {
        Shape shape = shape_;
        shape.gpu_model = model;
        shape.forget_needs();
        unsure_ = false;
        const bool starts_so = within_quota(shape, slot_.waiting) && starts(shape, ranks);
        more_ |= unsure_;
        if (!starts_so) continue;
        out_.changes.push_back(
            {"gpu_model", "ask for " + model + " instead of " + shape_.gpu_model, 0, 0, {}, model});
        return;
    }
}

// As many as there is room and quota for.
void Engine::Impl::Changes::fewer_tasks() {
    if (slot_.waiting < 2 || e_.predicts() || shape_.topology.required) return;
    auto tasks = std::min<std::int64_t>(room_, slot_.waiting - 1);
    while (tasks > 0 && !within_quota(shape_, tasks)) --tasks;
    if (tasks == 0) return;
    // Of those that there is room for some may be where places are kept.
    if (!kept_.empty()) return void(more_ = true);
    out_.changes.push_back(
        {"tasks",
         "start " + count_words(tasks, "task", "tasks") + " instead of " + std::to_string(slot_.waiting),
         static_cast<double>(slot_.waiting),
         static_cast<double>(tasks),
         "tasks",
         {}});
}

// The next wider area, and at last anywhere.
void Engine::Impl::Changes::looser_topology() {
    if (!shape_.topology.required || room_ < slot_.waiting || outcome_.kind == Outcome::over_quota) return;
    for (auto level = shape_.topology.level;; level = Areas::above(level)) {
        const auto wider = Areas::above(level);
        JobSpec spec = *slot_.info.spec;
        spec.topology.level = wider == TopologyLevel::none ? shape_.topology.level : wider;
        spec.topology.required = wider != TopologyLevel::none;
        JobSlot probe = slot_;
        probe.shape = e_.shapes_.take(e_.shape_of(spec, slot_.info.queue, slot_.crowd));
        const auto mark = e_.cluster_.mark();
        const Outcome outcome = e_.fill(probe);
        bool starts = outcome.kind == Outcome::placed;
        if (starts && !kept_.empty()) starts = false, more_ = true;
        e_.cluster_.undo_to(mark);
        e_.shapes_.drop(probe.shape);
        if (starts) {
            const std::string value = spec.topology.required ? std::string(name_of(wider)) : "preferred";
            out_.changes.push_back({"topology",
                                    spec.topology.required
                                        ? "require one " + value + " instead of one " +
                                              std::string(name_of(shape_.topology.level))
                                        : "prefer one " + std::string(name_of(shape_.topology.level)) +
                                              " instead of requiring it",
                                    0,
                                    0,
                                    {},
                                    value});
            return;
        }
        if (wider == TopologyLevel::none) return;
    }
}

}  // namespace crater::engine
