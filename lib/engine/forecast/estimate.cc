// Start times of waiting jobs: the engine's state as a simulation sees it, played through several times with
// times drawn from what is known of run times. The draws of a job are its own (by its id), so that others
// that come or go do not change them.
#include <algorithm>
#include <unordered_map>

#include "crater/base/ids.h"
#include "engine_impl.h"
#include "forecast/simulation.h"

namespace crater::engine {
namespace {

constexpr std::int64_t rounds_max = 24, rounds_min = 5, work_max = 60'000;
constexpr std::int64_t work_at_once = 20'000;
constexpr std::size_t waiting_max = 20'000;  // of those that come first
constexpr Millis kept_at_least{1000};

std::uint32_t draw(std::uint64_t id, std::uint64_t round) {
    std::uint64_t x = id + 0x9e3779b97f4a7c15ULL * (round + 1);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return static_cast<std::uint32_t>((x ^ x >> 31) >> 48);
}

// Amounts in four steps an octave, upwards: jobs that ask for nearly the same wait together.
std::int64_t coarse(std::int64_t amount) {
    if (amount < 8) return amount;
    const int shift = std::bit_width(static_cast<std::uint64_t>(amount)) - 3;
    return ((amount + (std::int64_t{1} << shift) - 1) >> shift) << shift;
}

std::string_view words_of(RunTimes::Basis basis) {
    switch (basis) {
        case RunTimes::Basis::given: return "run times that jobs carry";
        case RunTimes::Basis::declared: return "the durations that jobs declare";
        case RunTimes::Basis::tenant: return "what like jobs of the same tenant took";
        case RunTimes::Basis::alike: return "what like jobs took";
        case RunTimes::Basis::all: return "what all jobs took";
        case RunTimes::Basis::limit: return "the time limits of jobs";
        case RunTimes::Basis::unknown: break;
    }
    return "what is known of other jobs";
}

// Nodes of a kind serve the same shapes; a node that jobs may name is its own kind only for those that name
// it.
std::string kind_of(const Node& node) {
    std::string out = std::to_string(node.card_type) + ' ' + std::to_string(node.cards.size()) + ' ' +
                      std::to_string(node.mixed);
    const auto add = [&](std::string_view word) { out += '|', out += word; };
    for (const auto& [key, value] : node.inventory->labels) add(key), add(value);
    for (const auto& runtime : node.inventory->runtimes) add(runtime);
    for (const auto& feature : node.inventory->cpu_features) add(feature);
    for (const auto& taint : node.taints) add(taint.key), add(taint.value);
    for (const auto& disk : node.disks)
        add(std::to_string(disk.latency)), add(std::to_string(disk.size >> 30));
    return out;
}

}  // namespace

// What runs and waits, and the order it waits in, as plain rows; with the times drawn for each round.
struct Engine::Impl::Ahead {
    Instant now;
    std::vector<SimNode> nodes;
    std::vector<SimNeed> needs;
    std::vector<SimHeld> held;
    std::vector<SimWaiting> waiting;
    struct Who {
        int job;
        std::uint64_t id;  // its hash: the position may be another's by the time the last round is played
    };
    std::vector<Who> holders, waiters;                     // as in `held` and `waiting`
    std::vector<std::vector<std::int64_t>> ends, lengths;  // by round
    std::vector<std::vector<std::int64_t>> starts;         // of the rounds played
};

Engine::Impl::Ahead Engine::Impl::look_ahead() {
    Ahead out;
    // Nodes by kind, and one of each to ask whether it serves a shape.
    std::unordered_map<std::string, int> kinds;
    std::vector<int> example;
    out.nodes.resize(static_cast<std::size_t>(cluster_.size()));
    for (int n = 0; n < cluster_.size(); ++n) {
        const Node& node = cluster_.node(n);
        SimNode& sim = out.nodes[static_cast<std::size_t>(n)];
        const auto [it, fresh] =
            kinds.try_emplace(node.takes_work() ? kind_of(node) : "closed", static_cast<int>(kinds.size()));
        if (fresh) example.push_back(node.takes_work() ? n : -1);
        sim.kind = it->second;
        const NodeUse& used = cluster_.used().nodes[static_cast<std::size_t>(n)];
        sim.cpu = node.cpu - used.cpu, sim.memory = node.memory - used.memory;
        for (std::size_t c = 0; c < node.cards.size(); ++c) {
            if (!(node.usable >> c & 1)) continue;
            const CardUse& card = cluster_.used().cards[static_cast<std::size_t>(node.cards_at) + c];
            if (card.tasks == 0) ++sim.idle;
        }
    }
    // (shape) -> need of one task; gangs have their own
    std::unordered_map<int, std::pair<int, int>> by_shape;
    std::map<std::tuple<std::vector<std::uint8_t>, int, int, std::int64_t, std::int64_t, int>, int> known;
    const auto need_of = [&](const JobSlot& slot, int tasks) {
        auto& [need, of_tasks] =
            by_shape.try_emplace(slot.shape * 4096 + std::min(tasks, 4095), -1, tasks).first->second;
        if (need >= 0) return need;
        const Shape& shape = shapes_.at(slot.shape);
        SimNeed sim;
        sim.tasks = tasks;
        for (const int n : example)
            sim.serves.push_back(n >= 0 &&
                                 (shape.node.include.empty()
                                      ? Judge::fixed_filter(Look(shape, cluster_, n, When::empty)) < 0
                                      : true));
        if (shape.cards > 0) {
            for (int t = 0; t < cluster_.type_count() && sim.cards + sim.part == 0; ++t) {
                const CardNeed& card = shape.need(cluster_, t);
                if (card.fails != CardNeed::nothing) continue;
                const auto size = std::max<std::int64_t>(1, cluster_.card_limit(cluster_.type(t).memory));
                if (card.whole)
                    sim.cards = shape.cards;
                else
                    sim.part = static_cast<int>(std::clamp<std::int64_t>(
                        std::max(card.compute, (card.memory * 1000 + size - 1) / size), 1, 1000));
            }
        }
        sim.cpu = coarse(shape.cpu), sim.memory = coarse(shape.memory);
        const auto [it, fresh] =
            known.try_emplace({sim.serves, sim.cards, sim.part, sim.cpu, sim.memory, tasks},
                              static_cast<int>(out.needs.size()));
        if (fresh) out.needs.push_back(std::move(sim));
        return need = it->second;
    };
    for (const auto& slot : jobs_) {
        if (!slot || slot->held == 0) continue;
        for (const auto& task : slot->tasks) {
            if (task.life != TaskSlot::Life::held) continue;
            const int need = need_of(*slot, 1);
            out.held.push_back({task.slices.node, need, 0});
            out.holders.push_back({slot->position, slot->id_hash});
            // What is left of a shared card.
            SimNode& node = out.nodes[static_cast<std::size_t>(task.slices.node)];
            node.open -= out.needs[static_cast<std::size_t>(need)].part;
        }
    }
    for (std::size_t n = 0; n < out.nodes.size(); ++n) {
        const Node& node = cluster_.node(static_cast<int>(n));
        int shared = 0;
        for (std::size_t c = 0; c < node.cards.size(); ++c) {
            const CardUse& card = cluster_.used().cards[static_cast<std::size_t>(node.cards_at) + c];
            shared += (node.usable >> c & 1) && card.tasks > 0 && card.exclusive == 0;
        }
        out.nodes[n].open = std::max(0, out.nodes[n].open + 1000 * shared);
    }
    // Those that come first, priority by priority: beyond as many as are played nobody is put in order.
    std::vector<Turn> turns;
    for (const int q : backlog_.in_order()) {
        const WaitQueue& queue = backlog_.queue(q);
        for (auto level = queue.waiting.rbegin();
             level != queue.waiting.rend() && out.waiting.size() < waiting_max; ++level) {
            turns.clear();
            for (const auto& [key, members] : backlog_.of_priority(q, level->first)) {
                if (members->blocked.why == Blocked::quota || data_is_nowhere(members->shape)) continue;
                for (const auto& place : members->jobs) turns.push_back(engine::turn_of(*members, place));
            }
            const auto most = std::min(turns.size(), waiting_max - out.waiting.size());
            std::partial_sort(turns.begin(), turns.begin() + static_cast<std::ptrdiff_t>(most), turns.end());
            for (std::size_t i = 0; i < most; ++i) {
                const JobSlot& slot = job(turns[i].place.job);
                out.waiting.push_back({need_of(slot, slot.waiting), 0});
                out.waiters.push_back({slot.position, slot.id_hash});
            }
        }
    }
    return out;
}

// The times of all rounds: of a job that runs, given that it has run so far; tasks of a job end together.
void Engine::Impl::draw_times(Ahead& ahead) {
    const auto size = static_cast<std::int64_t>(ahead.waiting.size() + ahead.held.size());
    const auto rounds = static_cast<std::size_t>(
        std::clamp(work_max / std::max<std::int64_t>(1, size), rounds_min, rounds_max));
    ahead.ends.assign(rounds, std::vector<std::int64_t>(ahead.held.size(), INT64_MAX));
    ahead.lengths.assign(rounds, std::vector<std::int64_t>(ahead.waiting.size(), INT64_MAX));
    for (std::size_t i = 0; i < ahead.held.size(); ++i) {
        const JobSlot& slot = job(ahead.holders[i].job);
        const bool again = i > 0 && ahead.holders[i - 1].job == slot.position;
        const auto source = run_times_.source(slot.info);
        const auto age = slot.info.progress.count() + (ahead.now - started(slot)).count();
        for (std::size_t r = 0; r < rounds; ++r) {
            if (again)
                ahead.ends[r][i] = ahead.ends[r][i - 1];
            else if (slot.stopping)
                ahead.ends[r][i] = slot.info.spec->grace_period.count();
            else if (source.basis != RunTimes::Basis::unknown)
                ahead.ends[r][i] = source.at(draw(slot.id_hash, r), std::max<std::int64_t>(0, age)) - age;
        }
    }
    for (std::size_t i = 0; i < ahead.waiting.size(); ++i) {
        const JobSlot& slot = job(ahead.waiters[i].job);
        const auto source = run_times_.source(slot.info);
        if (source.basis == RunTimes::Basis::unknown) continue;
        const auto done = slot.info.progress.count();
        for (std::size_t r = 0; r < rounds; ++r)
            ahead.lengths[r][i] = source.at(draw(slot.id_hash, r), done) - done;
    }
}

// Plays one round more; with the last, the answers are those of this simulation.
void Engine::Impl::play_round(Instant now) {
    if (!ahead_) {
        ahead_ = std::make_shared<Ahead>(look_ahead());
        ahead_->now = now;
        draw_times(*ahead_);
    }
    Ahead& ahead = *ahead_;
    const auto r = ahead.starts.size(), rounds = ahead.ends.size();
    for (std::size_t i = 0; i < ahead.held.size(); ++i) ahead.held[i].end = ahead.ends[r][i];
    for (std::size_t i = 0; i < ahead.waiting.size(); ++i) ahead.waiting[i].length = ahead.lengths[r][i];
    Simulation(ahead.nodes, ahead.needs, static_cast<std::size_t>(cluster_.settings().backfill_depth))
        .run(ahead.held, ahead.waiting, ahead.starts.emplace_back());
    if (ahead.starts.size() < rounds) return;
    ++estimates_.round;
    estimates_.simulated = ahead.now;
    estimates_.behind = ahead.waiting.size() == waiting_max;
    estimates_.work = static_cast<std::int64_t>((ahead.waiting.size() + ahead.held.size()) * rounds);
    std::vector<std::int64_t> times(rounds);
    for (std::size_t i = 0; i < ahead.waiters.size(); ++i) {
        const auto [position, id] = ahead.waiters[i];
        const auto& slot = jobs_[static_cast<std::size_t>(position)];
        if (!slot || slot->id_hash != id || !slot->in_class) continue;
        for (std::size_t k = 0; k < rounds; ++k)
            times[k] = ahead.starts[k][i] < 0 ? INT64_MAX : ahead.starts[k][i];
        std::sort(times.begin(), times.end());
        const auto middle = times[rounds / 2], late = times[(rounds * 9 + 9) / 10 - 1];
        Estimates::Wait wait;
        if (late != INT64_MAX) wait = {middle, late};
        estimates_.answer(position, wait);
        estimates_.revised(position, ahead.now, wait);
        estimates_.said(position, ahead.now, wait);
    }
    ahead_.reset();
}

// Of the job itself, else of the last one of its kind before it that was there when the simulation was made.
const Estimates::Wait* Engine::Impl::answer_for(const JobSlot& slot) const {
    if (const auto* own = estimates_.of(slot.position)) return own;
    if (!slot.in_class) return nullptr;
    const auto& jobs = slot.in_class->jobs;
    int looked = 0;
    for (auto it = jobs.find(slot.place); it != jobs.begin() && looked < 100; ++looked)
        if (const auto* like = estimates_.of((--it)->job)) return like;
    return nullptr;
}

// Who requires what no cache holds waits for somebody to bring it, which nobody foresees.
bool Engine::Impl::data_is_nowhere(int shape) const {
    const auto& wanted = shapes_.at(shape).data;
    if (!wanted || !wanted->required) return false;
    const auto& nodes = cluster_.by_name();
    return std::none_of(nodes.begin(), nodes.end(), [&](int n) {
        return cluster_.node(n).present && wanted->all_in(cluster_.node(n).data);
    });
}

Result<StartEstimate> Engine::Impl::estimate(const std::string& id, Instant now) {
    const int position = position_of(id);
    if (position < 0) return fail(Code::not_found, "there is no job " + id, "job");
    const JobSlot& slot = job(position);
    if (slot.info.blocked) return fail(Code::unavailable, "it waits for the jobs it depends on");
    if (slot.waiting == 0) return fail(Code::unavailable, "it does not wait");
    if (slot.in_class && slot.in_class->blocked.why == Blocked::quota)
        return fail(Code::unavailable, "it waits for its tenant's quota, not for room");
    if (data_is_nowhere(slot.shape))
        return fail(Code::unavailable, "it waits for data that no node has in its cache");
    // The longer a simulation takes, the longer it is kept, and a long one is renewed a round with each
    // question.
    const Millis keep = std::max(kept_at_least, Millis(estimates_.work / 4));
    const bool none = !estimates_.simulated || now < estimates_.simulated;
    const Estimates::Wait* wait = none ? nullptr : answer_for(slot);
    const auto age = now - estimates_.simulated;
    if (none || age >= keep * 4 || (age >= keep && estimates_.work < work_at_once) ||
        (!wait && !estimates_.behind && age >= keep / 8)) {
        ahead_.reset();
        do play_round(now);
        while (ahead_);
    } else if (age >= keep) {
        play_round(now);
    }
    wait = answer_for(slot);
    if (!wait)
        return fail(Code::unavailable, estimates_.behind
                                           ? "too many jobs are ahead of it"
                                           : "it came after the last simulation; ask again in a moment");
    if (wait->p50 < 0)
        return fail(
            Code::unavailable,
            "what holds what it needs, or a job ahead of it, has no end in sight: no duration is declared there, and none has been learned");
    const auto stretched = estimates_.stretched(*wait);
    const Instant least = now;
    StartEstimate out{std::max(least, estimates_.simulated + Millis(stretched.p50)),
                      std::max(least, estimates_.simulated + Millis(stretched.p90)),
                      {}};
    const auto basis = run_times_.source(slot.info).basis;
    out.basis = "a simulation of what runs and waits, with " + std::string(words_of(basis));
    return out;
}

void Engine::Impl::add_estimate(const std::string& id, Instant now, Why& out) {
    const JobSlot& slot = job_named(id);
    if (slot.waiting == 0) return;
    auto found = estimate(id, now);
    if (found)
        out.estimate = std::move(*found);
    else
        out.no_estimate = found.error().message;
}

std::vector<std::pair<std::string, StartEstimate>> Engine::Impl::estimates(Instant now) {
    std::vector<std::pair<std::string, StartEstimate>> out;
    for (const auto& slot : jobs_) {
        if (!slot || !slot->in_class) continue;
        if (auto found = estimate(slot->info.id, now)) out.emplace_back(slot->info.id, std::move(*found));
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return out;
}

}  // namespace crater::engine
