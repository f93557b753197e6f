#include "explain/changes.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <set>

#include "explain/found.h"

namespace crater::engine {
namespace {

// A question looks at no more nodes than this, which bounds its time; a thorough one goes on for longer: decisions wait meanwhile.
constexpr std::int64_t looks_max = 800, looks_max_thorough = 200'000;
constexpr std::size_t holders_tried = 64;  // of a quota
// A search over all jobs that would give way is short on so many nodes.
constexpr int small_cluster = 256;

Lacks all_of(std::initializer_list<std::string_view> filters) {
    Lacks out = 0;
    for (const auto name : filters) out |= lack(name);
    return out;
}

std::string plain_number(std::int64_t amount) { return std::to_string(amount); }

}  // namespace

Engine::Impl::Changes::Changes(Impl& engine, JobSlot& slot, const Survey& survey, const Found& found, const Outcome& outcome, std::int64_t room,
                               Instant now, bool thorough, Why& out)
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
    e_.rooms_.refresh(e_.cluster_);
    find_kept();
    // Who holds part of its gang keeps what it asked for; what plugins say to another request is not known before it is made.
    const bool asks_plugins = e_.hooks_ && slot_.queue >= 0 && !e_.backlog_.queue(slot_.queue).spec.plugins.empty();
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

std::int64_t Engine::Impl::Changes::looks_left() const { return (thorough_ ? looks_max_thorough : looks_max) - looks_; }

bool Engine::Impl::Changes::afford() {
    if (looks_left() > 0) return true;
    cut_ = true;
    return false;
}

// What is kept there is in the way of a job that has not ended by then, unless it fits beside, which the pass alone finds out.
void Engine::Impl::Changes::find_kept() {
    if (!e_.reservations_.in_force()) return;
    const Millis length = e_.left_of(slot_);
    const Instant end = length == Millis::max() ? never : now_ + length;
    std::vector<char> earlier(static_cast<std::size_t>(e_.backlog_.queue_count()));  // queues, its own with them
    for (const int q : e_.backlog_.in_order()) {
        if (slot_.queue < 0) break;
        earlier[static_cast<std::size_t>(q)] = 1;
        if (q == slot_.queue) break;
    }
    for (const int n : e_.reservations_.nodes())
        for (const auto* place : e_.reservations_.on(n)) {
            const JobSlot& other = e_.job(place->job);
            if (place->at >= end || !other.in_class || !earlier[static_cast<std::size_t>(other.queue)] || !goes_first(other.queue, *other.in_class)) continue;
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
        return std::any_of(ranks.begin(), ranks.end(), [&](int rank) { return afford() && takes(shape, e_.cluster_.by_name()[static_cast<std::size_t>(rank)]); });
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
    unsure_ |= std::any_of(slices.begin(), slices.end(), [&](const Slices& s) { return kept_[static_cast<std::size_t>(e_.cluster_.rank(s.node))] != 0; });
    return !unsure_;
}

bool Engine::Impl::Changes::starts(const Shape& shape, std::span<const int> first, std::span<const int> others) {
    if (slot_.waiting == 1) return starts(shape, first) || starts(shape, others);
    std::vector<int> all(first.begin(), first.end());
    std::copy_if(others.begin(), others.end(), std::back_inserter(all), [&](int rank) { return std::find(first.begin(), first.end(), rank) == first.end(); });
    return starts(shape, all);
}

// ---- less of one thing -----------------------------------------------------------------------------------------------------------

void Engine::Impl::Changes::amounts() {
    const Lacks together = lack("together");
    gpu_memory();
    gpu_count();
    const auto& rooms = e_.rooms_;
    try_amount({"cpu", "cores", lack("cpu") | together, shape_.cpu, 100, 1000, core_words, "a task",
                [](Shape& s, std::int64_t v) { s.cpu = v; },
                [&, alone = shape_.cards == 0](std::size_t rank) { return alone ? rooms.at(rank).cpu_only : rooms.at(rank).cpu; }});
    try_amount({"memory", "bytes", lack("memory") | together, shape_.memory, 128LL << 20, 1, bytes_words, "of memory a task",
                [](Shape& s, std::int64_t v) { s.memory = v; }, [&](std::size_t rank) { return rooms.at(rank).memory; }});
    try_amount({"memory_bandwidth", "bytes/s", lack("memory_bandwidth") | together, shape_.bandwidth, 1'000'000'000, 1, rate_words, "of memory bandwidth",
                [](Shape& s, std::int64_t v) { s.bandwidth = v; }, [](std::size_t) { return INT64_MAX; }});
    try_amount({"disk", "bytes", lack("disk_space") | together, shape_.disk_size, 1LL << 30, 1, bytes_words, "of disk space",
                [](Shape& s, std::int64_t v) { s.disk_size = v; }, [](std::size_t) { return INT64_MAX; }});
    try_amount({"disk_iops", "IOPS", lack("disk_iops") | together, shape_.disk_iops, 100, 1, plain_number, "IOPS",
                [](Shape& s, std::int64_t v) { s.disk_iops = v; }, [](std::size_t) { return INT64_MAX; }});
    try_amount({"disk_bandwidth", "bytes/s", lack("disk_bandwidth") | together, shape_.disk_bandwidth, 10'000'000, 1, rate_words, "of disk bandwidth",
                [](Shape& s, std::int64_t v) { s.disk_bandwidth = v; }, [](std::size_t) { return INT64_MAX; }});
}

// In the least step of the cards that could serve; where the request was for whole cards, a slice of them.
void Engine::Impl::Changes::gpu_memory() {
    if (shape_.cards == 0 || shape_.gpu_exclusive || (shape_.gpu_memory == 0 && shape_.part < 1000)) return;
    const Cluster& cluster = e_.cluster_;
    std::int64_t step = INT64_MAX, largest = 0, part_max = 0;
    for (int t = 0; t < cluster.type_count(); ++t) {
        const auto fails = shape_.need(cluster, t).fails;
        if (fails == CardNeed::model || fails == CardNeed::capability || fails == CardNeed::precision) continue;
        step = std::min(step, memory_granule(cluster.settings(), cluster.type(t)));
        largest = std::max(largest, cluster.type(t).memory);
        part_max = std::max(part_max, static_cast<std::int64_t>(static_cast<double>(cluster.type(t).nominal) * cluster.settings().inference_max_gpu_fraction));
    }
    if (largest == 0) return;
    std::int64_t from = shape_.gpu_memory > 0 ? shape_.gpu_memory : largest;
    // One that serves takes at most a part of a card; between that and the whole card there is nothing.
    if (shape_.inference && from > part_max) from = part_max + 1;
    const auto asked = shape_.gpu_memory > 0 ? shape_.gpu_memory : largest;
    Amount amount{"gpu_memory", "MiB",
                  all_of({"gpu_memory", "gpu_count", "gpu_compute", "gpu_card_size", "gpu_inference_part", "gpu_cards", "gpu_tasks", "gpu_watermark",
                          "gpu_load", "gpu_health", "gpu_interconnect", "together"}),
                  from, step, 1, mib_words, "of GPU memory on each card", [](Shape& s, std::int64_t v) { s.gpu_memory = v; },
                  [&](std::size_t rank) { return static_cast<std::int64_t>(e_.rooms_.at(rank).card_memory); }};
    const auto before = out_.changes.size();
    try_amount(amount);
    if (out_.changes.size() == before) return;
    Change& change = out_.changes.back();
    change.from = static_cast<double>(asked);
    change.text = "ask for " + mib_words(static_cast<std::int64_t>(change.to)) + " of GPU memory on each card instead of " +
                  (shape_.gpu_memory > 0 ? mib_words(asked) : std::string("whole cards"));
}

// Fewer cards a task; below one card tenths of it.
void Engine::Impl::Changes::gpu_count() {
    if (shape_.cards == 0) return;
    const Lacks cures = all_of({"gpu_memory", "gpu_count", "gpu_compute", "gpu_tasks", "gpu_watermark", "gpu_load", "gpu_interconnect", "gpu_health",
                                "gpu_cards", "gpu_capability", "gpu_precision", "gpu_card_size", "gpu_inference_part", "together"});
    const auto& rooms = e_.rooms_;
    const Cluster& cluster = e_.cluster_;
    if (shape_.cards > 1) {
        return try_amount({"gpu_count", "cards", cures, shape_.cards * 1000, 1000, 1000, card_words, "a task",
                           [](Shape& s, std::int64_t v) {
                               s.cards = static_cast<int>(v / 1000);
                               if (s.cards == 1) s.interconnect = Interconnect::any;
                           },
                           [&](std::size_t rank) {
                               const auto whole = shape_.gpu_exclusive || shape_.gpu_memory == 0;
                               const auto cards = whole ? static_cast<std::int64_t>(rooms.at(rank).idle_count)
                                                        : static_cast<std::int64_t>(cluster.node(cluster.by_name()[rank]).cards.size());
                               return cards * 1000;
                           }});
    }
    if (shape_.gpu_exclusive || (shape_.part == 1000 && shape_.gpu_memory > 0)) return;
    try_amount({"gpu_count", "cards", cures, shape_.part, 100, 1000, card_words, "a task", [](Shape& s, std::int64_t v) { s.part = v; },
                [&](std::size_t rank) { return shape_.compute_cap > 0 ? INT64_MAX : static_cast<std::int64_t>(rooms.at(rank).card_compute); }});
}

void Engine::Impl::Changes::try_amount(const Amount& amount) {
    if (amount.from <= amount.step) return;
    // The most that is still less than what is asked for, and within the quota.
    std::int64_t steps = (amount.from - 1) / amount.step;
    if (outcome_.kind == Outcome::over_quota && !within_quota(altered(amount, steps), slot_.waiting)) {
        std::int64_t low = 0;
        while (low < steps) {
            const auto middle = (low + steps) / 2;
            if (within_quota(altered(amount, middle + 1), slot_.waiting)) low = middle + 1;
            else steps = middle;
        }
    }
    std::vector<Place> places;
    for (std::size_t rank = 0; rank < survey_.size() && steps > 0; ++rank) {
        if (!survey_.present(rank) || (survey_.at(rank) & ~amount.cures)) continue;
        if (const auto bound = amount.bound(rank); bound >= amount.step) places.push_back({bound, static_cast<int>(rank)});
    }
    if (places.empty()) return;
    unsure_ = false;
    const auto best = slot_.waiting == 1 ? most_on_one(amount, places, steps) : most_of_gang(amount, places, steps);
    if (unsure_) more_ = true;
    if (best == 0 || cut_ || unsure_) return;
    const auto to = best * amount.step;
    const std::string text = "ask for " + amount.words(to) + " " + std::string(amount.of) +
                             " instead of " + amount.words(amount.from);
    out_.changes.push_back({std::string(amount.kind), text, static_cast<double>(amount.from) / amount.shown,
                            static_cast<double>(to) / amount.shown, std::string(amount.unit), {}});
}

// Node by node, those first that could take most: what a node takes is found by halving, and no other node can take more than its bound.
std::int64_t Engine::Impl::Changes::most_on_one(const Amount& amount, std::vector<Place>& places, std::int64_t steps) {
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
            if (takes(altered(amount, middle), n)) low = middle;
            else high = middle - 1;
        }
        best = low;
    }
    return best;
}

std::int64_t Engine::Impl::Changes::most_of_gang(const Amount& amount, const std::vector<Place>& places, std::int64_t steps) {
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
        if (enough(middle)) low = middle;
        else steps = middle - 1;
    }
    return low;
}

// ---- something else --------------------------------------------------------------------------------------------------------------

void Engine::Impl::Changes::other_model() {
    if (shape_.cards == 0 || shape_.gpu_model.empty() || (slot_.waiting > 1 && e_.predicts())) return;
    const Cluster& cluster = e_.cluster_;
    // By card type: whether it is of another model, and the nodes that have it where nothing else is missing.
    const auto types_known = static_cast<std::size_t>(cluster.type_count());
    std::vector<char> other(types_known);
    std::vector<std::vector<int>> of_type(types_known);
    for (std::size_t t = 0; t < types_known; ++t) other[t] = shape_.need(cluster, static_cast<int>(t)).fails == CardNeed::model;
    if (std::find(other.begin(), other.end(), 1) == other.end()) return;
    const Lacks cards = all_of({"gpu_model", "gpu_cards", "gpu_capability", "gpu_precision", "gpu_card_size", "gpu_inference_part", "gpu_health",
                                "gpu_memory", "gpu_count", "gpu_compute", "gpu_tasks", "gpu_watermark", "gpu_load", "gpu_interconnect", "together"});
    for (std::size_t rank = 0; rank < survey_.size(); ++rank) {
        if (!survey_.present(rank) || (survey_.at(rank) & ~cards)) continue;
        const Room& room = e_.rooms_.at(rank);
        if (room.card_memory <= 0) continue;
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
        out_.changes.push_back({"gpu_model", "ask for " + model + " instead of " + shape_.gpu_model, 0, 0, {}, model});
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
    out_.changes.push_back({"tasks", "start " + count_words(tasks, "task", "tasks") + " instead of " + std::to_string(slot_.waiting),
                            static_cast<double>(slot_.waiting), static_cast<double>(tasks), "tasks", {}});
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
                                    spec.topology.required ? "require one " + value + " instead of one " + std::string(name_of(shape_.topology.level))
                                                           : "prefer one " + std::string(name_of(shape_.topology.level)) + " instead of requiring it",
                                    0, 0, {}, value});
            return;
        }
        if (wider == TopologyLevel::none) return;
    }
}

// ---- somebody else ---------------------------------------------------------------------------------------------------------------

// Whether a class of a queue that is served no later than its own is considered before it.
bool Engine::Impl::Changes::goes_first(int queue, const WaitClass& members) const {
    if (queue != slot_.queue || members.priority > slot_.info.priority) return true;
    const Waiting& head = members.head();
    return head.job != slot_.position && engine::turn_of(members, head) < e_.turn_of(slot_);
}

// What the first of a class takes of its quota at least.
Amounts Engine::Impl::Changes::needs_of(const WaitClass& members) const {
    Amounts out = e_.least_amounts(e_.shapes_.at(members.shape));
    const JobSlot* const head = members.only >= 0 ? &e_.job(members.only) : nullptr;  // others hold nothing
    for (auto& amount : out) amount = saturating_product(amount, head ? head->waiting : members.tasks);
    out[jobs_kind] = !head || head->held == 0 ? 1 : 0;
    return out;
}

// The classes that are considered before it, of its own queue those of a higher priority first: of each shape one, and of those that
// their quota holds back the ones that need least.
void Engine::Impl::Changes::look_ahead() {
    ahead_known_ = true;
    std::vector<char> seen;          // by shape: one that has the quota goes first
    std::vector<std::size_t> least;  // of those that are held back, none needs as much as another
    for (const int q : e_.backlog_.in_order()) {
        for (const auto& [key, members] : e_.backlog_.queue(q).classes) {
            const auto& [lower, tenant, shape, tasks, profile, length, preemptible, only] = key;
            if (q == slot_.queue && -lower < slot_.info.priority) break;
            const bool capped = e_.tenants_.capped(tenant);
            if (const auto shapes = static_cast<std::size_t>(shape) + 1; seen.size() < shapes) seen.resize(2 * shapes);
            char& known = seen[static_cast<std::size_t>(shape)];
            if ((known && !capped) || !goes_first(q, *members)) continue;
            Ahead one{shape, tenant, false, {}};
            if (capped) one.needs = needs_of(*members), one.held_back = static_cast<bool>(e_.tenants_.over(tenant, one.needs));
            if (!one.held_back) {
                if (!std::exchange(known, 1)) ahead_.push_back(one);
                continue;
            }
            const bool another_needs_less = std::any_of(least.begin(), least.end(), [&](std::size_t i) {
                const Ahead& other = ahead_[i];
                return other.tenant == one.tenant && std::equal(other.needs.begin(), other.needs.end(), one.needs.begin(), std::less_equal<>());
            });
            if (another_needs_less) continue;
            least.push_back(ahead_.size());
            ahead_.push_back(one);
        }
        if (q == slot_.queue) break;
    }
}

bool Engine::Impl::Changes::overtakes(const Ahead& one, std::span<const int> ranks) {
    if (one.held_back) return !e_.tenants_.over(one.tenant, one.needs);
    looks_ += static_cast<std::int64_t>(ranks.size());
    const Shape& shape = e_.shapes_.at(one.shape);
    return std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
        return Judge::fits(Look(shape, e_.cluster_, e_.cluster_.by_name()[static_cast<std::size_t>(rank)]));
    });
}

// On these nodes, where something became free, or anywhere, where its quota did.
bool Engine::Impl::Changes::overtaken(std::span<const int> ranks) {
    if (overtook_ < ahead_.size() && overtakes(ahead_[overtook_], ranks)) return true;
    for (std::size_t i = 0; i < ahead_.size(); ++i) {
        if (!afford()) return true;
        if (overtakes(ahead_[i], ranks)) return overtook_ = i, true;
    }
    return false;
}

bool Engine::Impl::Changes::may_take(std::span<const int> ranks, const JobSlot& holder) const {
    const bool whole = shape_.cards > 0 && shape_.gpu_memory == 0 && shape_.part == 1000;
    return std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
        const Room& room = e_.rooms_.at(static_cast<std::size_t>(rank));
        std::int64_t cpu = room.cpu, memory = room.memory, cards = room.idle_count;
        for (const auto& task : holder.tasks) {
            if (task.life != TaskSlot::Life::held || e_.cluster_.rank(task.slices.node) != rank) continue;
            if (task.slices.node_exclusive) return true;
            cpu += task.slices.cpu, memory += task.slices.memory, cards += static_cast<std::int64_t>(task.slices.cards.size());
        }
        return cpu >= shape_.cpu && memory >= shape_.memory && (!whole || room.mixed || cards >= shape_.cards);
    });
}

// The job whose end alone would start it; of several the one that loses least. Where others go first that could use what it frees, it
// is no such job.
void Engine::Impl::Changes::job_end() {
    if (shape_.topology.required || (slot_.waiting > 1 && e_.predicts())) return;
    if (slot_.in_class && slot_.in_class->jobs.begin()->job != slot_.position) return;
    const Cluster& cluster = e_.cluster_;
    std::vector<int> fitting, nearest = found_.nearest;
    for (std::size_t rank = 0; rank < survey_.size(); ++rank)
        if (survey_.fits(rank)) fitting.push_back(static_cast<int>(rank));
    if (thorough_) {
        nearest.clear();
        for (std::size_t rank = 0; rank < survey_.size(); ++rank)
            if (survey_.right_kind(rank) && survey_.at(rank)) nearest.push_back(static_cast<int>(rank));
    }
    std::vector<std::pair<std::int64_t, int>> holders;  // by cost
    std::set<int> seen;
    const auto consider = [&](int position) {
        const JobSlot& holder = e_.job(position);
        if (position != slot_.position && !holder.stopping && seen.insert(position).second) holders.emplace_back(e_.cost_of(holder, now_), position);
    };
    if (outcome_.kind == Outcome::over_quota) {
        for (const auto& [amount, position] : e_.quota_holders(outcome_.ceiling.tenant, outcome_.ceiling.kind)) {
            if (amount < outcome_.ceiling.asked - (outcome_.ceiling.cap - outcome_.ceiling.held)) break;
            if (!thorough_ && holders.size() == holders_tried) break;
            consider(position);
        }
    } else {
        for (const int rank : nearest)
            for (const auto& held : e_.held_on_[static_cast<std::size_t>(cluster.by_name()[static_cast<std::size_t>(rank)])]) consider(held.job);
    }
    std::sort(holders.begin(), holders.end(), [&](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : e_.job(a.second).info.id < e_.job(b.second).info.id;
    });
    for (const auto& [cost, position] : holders) {
        const JobSlot& holder = e_.job(position);
        Amounts freed{};
        std::vector<int> freed_on;
        for (const auto& task : holder.tasks) {
            if (task.life != TaskSlot::Life::held) continue;
            const Amounts part = amounts_of(task.slices);
            for (std::size_t k = 0; k < quota_kinds; ++k) freed[k] += part[k];
            freed_on.push_back(cluster.rank(task.slices.node));
        }
        freed[jobs_kind] = 1;
        std::sort(freed_on.begin(), freed_on.end());
        freed_on.erase(std::unique(freed_on.begin(), freed_on.end()), freed_on.end());
        if (fitting.empty() && !may_take(freed_on, holder)) continue;
        if (!afford()) return;
        const auto mark = e_.cluster_.mark();
        const auto ends = [&](const auto& then) {
            e_.tenants_.add(holder.tenant, freed, -1);
            const bool yes = within_quota(shape_, slot_.waiting) && (e_.without(holder), then());
            e_.cluster_.undo_to(mark);
            e_.tenants_.add(holder.tenant, freed, 1);
            return yes;
        };
        unsure_ = false;
        const bool starts_then = ends([&] { return starts(shape_, freed_on, fitting); });
        more_ |= unsure_;
        if (!starts_then) continue;
        if (!ahead_known_) look_ahead();  // as it is before anybody ends
        if (ends([&] { return overtaken(freed_on); })) continue;
        out_.changes.push_back({"job_end", "the end of job " + holder.info.id, 0, 0, {}, holder.info.id});
        return;
    }
    cut_ |= nearest.size() < survey_.size() || holders.size() == holders_tried;
}

// The lowest priority at which others would be stopped for it.
void Engine::Impl::Changes::higher_priority() {
    if (outcome_.kind != Outcome::no_room || e_.yielding_.empty() || !slot_.victims.empty()) return;
    std::vector<int> levels;  // one above each priority that holds something and gives way
    for (const auto& [priority, jobs] : e_.yielding_)
        if (priority >= slot_.info.priority && priority < 1000) levels.push_back(priority + 1);
    if (levels.empty()) return;
    if (!thorough_ && e_.cluster_.size() > small_cluster) {
        cut_ = true;
        return;
    }
    const int own = slot_.info.priority;
    // Who looks for victims lifts pledges by itself, those below the priority in question.
    const auto lifted = e_.cluster_.mark();
    e_.book_pledges(slot_, 1);
    const auto enough = [&](int priority) {
        slot_.info.priority = priority;
        const bool found = e_.choose_victims(slot_, now_, nullptr).has_value();
        slot_.info.priority = own;
        return found;
    };
    std::size_t low = 0, high = levels.size();
    while (low < high) {
        const auto middle = (low + high) / 2;
        if (enough(levels[middle])) high = middle;
        else low = middle + 1;
    }
    e_.cluster_.undo_to(lifted);
    if (low == levels.size()) return;
    out_.changes.push_back({"priority", "priority " + std::to_string(levels[low]) + " instead of " + std::to_string(own) + ": jobs of lower priority would be stopped for it",
                            static_cast<double>(own), static_cast<double>(levels[low]), "", {}});
}

}  // namespace crater::engine
