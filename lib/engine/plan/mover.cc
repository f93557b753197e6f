#include "plan/mover.h"

#include <algorithm>

#include "price/fragmentation.h"

namespace crater::engine {
namespace {

// nodes that would take a task, beyond which the others are like them
constexpr std::size_t places_tried = 64;
constexpr std::int64_t horizon_seconds = 3600;  // for so long what was gathered is counted on to stay so

}  // namespace

Engine::Impl::Mover::Mover(Impl& engine, Instant now, std::int64_t max_moves, std::int64_t looks_max)
    : e_(engine), now_(now), max_moves_(max_moves), looks_max_(looks_max) {}

bool Engine::Impl::Mover::movable(const JobSlot& slot) const {
    const Settings& settings = e_.cluster_.settings();
    const Shape& shape = e_.shapes_.at(slot.shape);
    if (!slot.info.preemptible || slot.stopping || slot.held == 0 || slot.waiting > 0 ||
        slot.info.preemptions >= settings.preemption_budget)
        return false;
    if (shape.own_tasks_matter() || shape.near()) return false;
    return std::all_of(slot.tasks.begin(), slot.tasks.end(), [&](const TaskSlot& task) {
        return task.life == TaskSlot::Life::ended || task.started + settings.min_run_time <= now_;
    });
}

std::optional<Engine::Impl::Rearrangement> Engine::Impl::Mover::make_room(const JobSlot& slot) {
    const Shape& shape = e_.shapes_.at(slot.shape);
    if (slot.waiting == 0 || slot.held > 0 || shape.own_tasks_matter() || shape.topology.required)
        return std::nullopt;
    if (e_.tenants_.over(slot.tenant, [&] {
            Amounts amounts = e_.least_amounts(shape);
            for (auto& amount : amounts) amount = saturating_product(amount, slot.waiting);
            amounts[jobs_kind] = 1;
            return amounts;
        }()))
        return std::nullopt;
    const auto mark = e_.cluster_.mark();
    e_.lift_pledges(slot);
    for (int lifts = 0; lifts <= max_moves_ && !best_ && !cut_; ++lifts) search(slot, lifts);
    e_.cluster_.undo_to(mark);

    if (!best_ || best_->moves.empty()) return std::nullopt;
    best_->cut = cut_;
    for (const auto& place : best_->place)
        for (const auto& slice : place.cards) best_->gained += static_cast<double>(slice.compute) / 1000;
    best_->starts = slot.position;
    return best_;
}

bool Engine::Impl::Mover::search(const JobSlot& slot, int lifts) {
    homeless_.clear();
    homeless_.push_back(std::make_unique<Homeless>(Homeless{-1, &slot, slot.waiting}));
    homeless_.back()->places.reserve(static_cast<std::size_t>(slot.waiting));
    lifted_.clear();
    cost_ = 0;
    return settle(0, lifts);
}

bool Engine::Impl::Mover::spent() {
    if (looks_ < looks_max_) return false;
    cut_ = true;
    return true;
}

// The next task without a place: where there is room, else where one or more jobs are moved away. True ends
// the search.
bool Engine::Impl::Mover::settle(std::size_t at, int lifts) {
    while (at < homeless_.size() &&
           homeless_[at]->tasks == static_cast<std::int64_t>(homeless_[at]->places.size()))
        ++at;
    if (at == homeless_.size()) {
        if (best_ && best_->cost <= cost_) return false;
        best_.emplace();
        best_->cost = cost_;
        for (const auto& one : homeless_) {
            if (one->job < 0)
                best_->place = one->places;
            else
                best_->moves.push_back({one->job, one->places, e_.cost_of(*one->slot, now_)});
        }
        return lifted_.empty();
    }
    if (spent()) return true;
    const int shape = homeless_[at]->slot->shape;
    const Shape& asked = e_.shapes_.at(shape);
    std::vector<int> fitting, full;
    {
        const Survey& survey = e_.surveys_.of(shape, asked, e_.cluster_);
        for (std::size_t rank = 0; rank < survey.size(); ++rank) {
            if (!survey.present(rank)) continue;
            if (survey.fits(rank))
                fitting.push_back(e_.cluster_.by_name()[rank]);
            else if (first_of(survey.at(rank)).kind == filter::Kind::room)
                full.push_back(e_.cluster_.by_name()[rank]);
        }
        looks_ += static_cast<std::int64_t>(survey.size()) / 64;
    }
    // Equal tasks of one job go to the first that takes them: which of the equals goes where is no other
    // plan.
    const bool first = homeless_[at]->places.empty();
    for (std::size_t i = 0; i < std::min(fitting.size(), places_tried); ++i) {
        if (put(at, fitting[i], lifts)) return true;
        if (!first && homeless_[at]->job < 0) break;
    }
    if (lifts == 0) return false;
    for (const int n : full)
        if (settle_on(at, n, lifts, 0)) return true;
    // Room may be made where there is some as well, for a better place of others; that is no shorter plan.
    return false;
}

// Moves jobs away from the node until the task fits there. `from`: which of those that hold something there
// may be lifted next.
bool Engine::Impl::Mover::settle_on(std::size_t at, int n, int lifts, std::size_t from) {
    const auto& held = e_.held_on_[static_cast<std::size_t>(n)];
    for (std::size_t h = from; h < held.size(); ++h) {
        if (spent()) return true;
        const int v = held[h].job;
        const bool seen = std::any_of(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(h),
                                      [&](const Held& other) { return other.job == v; });
        if (seen || !movable(e_.job(v)) || std::find(lifted_.begin(), lifted_.end(), v) != lifted_.end())
            continue;
        const auto cost = e_.cost_of(e_.job(v), now_);
        if (best_ && cost_ + cost >= best_->cost) continue;
        const auto mark = e_.cluster_.mark();
        lift(v);
        cost_ += cost;
        ++looks_;
        const bool fits = Judge::fits(Look(e_.shapes_.at(homeless_[at]->slot->shape), e_.cluster_, n));
        const bool done = fits ? put(at, n, lifts - 1) : lifts > 1 && settle_on(at, n, lifts - 1, h + 1);
        cost_ -= cost;
        drop(mark);
        if (done) return true;
    }
    return false;
}

bool Engine::Impl::Mover::put(std::size_t at, int n, int lifts) {
    Homeless& one = *homeless_[at];
    ++looks_;
    Look look(e_.shapes_.at(one.slot->shape), e_.cluster_, n);
    if (!Judge::fits(look)) return false;
    const auto mark = e_.cluster_.mark();
    one.places.push_back(look.slices());
    one.places.back().crowd = one.slot->crowd;
    e_.cluster_.try_book(one.places.back(), 1);
    const bool done = settle(at, lifts);
    e_.cluster_.undo_to(mark);
    one.places.pop_back();
    return done;
}

void Engine::Impl::Mover::lift(int v) {
    const JobSlot& slot = e_.job(v);
    e_.without(slot);
    lifted_.push_back(v);
    homeless_.push_back(std::make_unique<Homeless>(Homeless{v, &slot, slot.held}));
    homeless_.back()->places.reserve(static_cast<std::size_t>(slot.held));
}

void Engine::Impl::Mover::drop(std::size_t mark) {
    e_.cluster_.undo_to(mark);
    lifted_.pop_back();
    homeless_.pop_back();
}

// ---- without a job in particular --------------------------------------------------------------------------

namespace {

price::Demand demand_of(const Shape& shape, const Cluster& cluster) {
    price::Demand out;
    out.cards = shape.cards;
    out.amounts[price::cpu] = shape.cpu;
    if (shape.cards == 0) return out;
    out.types = 0;
    for (int t = 0; t < std::min(cluster.type_count(), 64); ++t) {
        const CardNeed& need = shape.need(cluster, t);
        if (need.fails != CardNeed::nothing) continue;
        out.types |= std::uint64_t{1} << t;
        out.milli = std::max(out.milli, static_cast<int>(need.whole ? 1000 : need.compute));
    }
    return out;
}

}  // namespace

// One move after the other, each the one that is worth most: the card capacity that the usual mix of tasks
// can use because of it, for an hour, less what the move costs.
std::optional<Engine::Impl::Rearrangement> Engine::Impl::Mover::gather() {
    const Cluster& cluster = e_.cluster_;
    std::map<int, double> mix;  // by shape: tasks that wait or run
    for (const auto& slot : e_.jobs_)
        if (slot) mix[slot->shape] += static_cast<double>(slot->tasks.size());
    std::vector<price::Arrived> arrived;
    for (const auto& [shape, count] : mix)
        arrived.push_back({demand_of(e_.shapes_.at(shape), cluster), count});
    price::Fragmentation measure;
    measure.set_targets(price::typical(arrived));
    const auto unusable = [&](int n) {
        std::array<CardRoom, cards_per_node_max> cards{};
        std::array<std::int16_t, cards_per_node_max> left{};
        const Room room = room_of(cluster, n, cards.data());
        const auto count = cluster.node(n).cards.size();
        for (std::size_t c = 0; c < count; ++c)
            left[c] = room.idle >> c & 1 ? std::int16_t{1000} : cards[c].left;
        price::Amounts amounts{};
        amounts[price::cpu] = room.cpu;
        return room.card_type < 0 ? 0.0 : measure.unusable({room.card_type, {left.data(), count}, amounts});
    };
    Rearrangement out;
    std::deque<Slices> places;
    std::vector<int> moved;
    const auto mark = e_.cluster_.mark();
    while (static_cast<std::int64_t>(out.moves.size()) < max_moves_ && !spent()) {
        double best_worth = 0, best_gain = 0;
        int best_job = -1;
        Slices best_place;
        for (int v = 0; v < static_cast<int>(e_.jobs_.size()); ++v) {
            if (!e_.jobs_[static_cast<std::size_t>(v)] || spent()) continue;
            const JobSlot& slot = e_.job(v);
            if (slot.tasks.size() != 1 || !movable(slot) ||
                std::find(moved.begin(), moved.end(), v) != moved.end())
                continue;
            const Slices& held = slot.tasks.front().slices;
            const auto cost = static_cast<double>(e_.cost_of(slot, now_)) / 1000;
            const auto trial = e_.cluster_.mark();
            const double before_here = unusable(held.node);
            e_.without(slot);
            const double gain_here = before_here - unusable(held.node);
            const Shape& shape = e_.shapes_.at(slot.shape);
            const Survey& survey = e_.surveys_.of(slot.shape, shape, cluster);
            std::size_t tried = 0;
            for (std::size_t rank = 0; rank < survey.size() && tried < places_tried; ++rank) {
                const int n = cluster.by_name()[rank];
                if (!survey.fits(rank) || n == held.node || held_nothing(n)) continue;
                ++tried, ++looks_;
                const double before_there = unusable(n);
                Slices place = Look(shape, cluster, n).slices();
                place.crowd = slot.crowd;
                e_.cluster_.try_book(place, 1);
                const double gain = gain_here + before_there - unusable(n);
                e_.cluster_.undo_to(e_.cluster_.mark() - 1);
                const double worth = gain / 1000 * horizon_seconds - cost;
                if (worth > best_worth)
                    best_worth = worth, best_gain = gain, best_job = v, best_place = std::move(place);
            }
            e_.cluster_.undo_to(trial);
        }
        if (best_job < 0) break;
        const JobSlot& slot = e_.job(best_job);
        e_.without(slot);
        places.push_back(std::move(best_place));
        e_.cluster_.try_book(places.back(), 1);
        moved.push_back(best_job);
        out.moves.push_back({best_job, {places.back()}, e_.cost_of(slot, now_)});
        out.cost += out.moves.back().cost;
        out.gained += best_gain / 1000;
    }
    e_.cluster_.undo_to(mark);
    out.cut = cut_;
    if (out.moves.empty()) return std::nullopt;
    return out;
}

bool Engine::Impl::Mover::held_nothing(int n) const {
    return e_.held_on_[static_cast<std::size_t>(n)].empty();
}

// The job named, else the first of those that wait whose plan is worth its cost, else what is worth most.
std::optional<Engine::Impl::Rearrangement> Engine::Impl::rearrange(const DefragOptions& options,
                                                                   Instant now) {
    advance(now);
    if (!options.job.empty()) {
        const int position = position_of(options.job);
        return position < 0 ? std::nullopt : Mover(*this, now, options.max_moves).make_room(job(position));
    }
    constexpr int jobs_tried = 20;
    int tried = 0;
    auto looks = Mover::search_max;  // for all of them together: decisions wait meanwhile
    for (const int q : backlog_.in_order())
        for (const auto& [key, members] : backlog_.queue(q).classes) {
            const JobSlot& first = job(members->jobs.begin()->job);
            if (shapes_.at(first.shape).cards == 0 || first.held > 0 || !first.victims.empty() ||
                !first.pledge.empty())
                continue;
            if (tried++ == jobs_tried || looks <= 0) break;
            Mover mover(*this, now, options.max_moves, looks / 2);
            auto found = mover.make_room(first);
            looks -= mover.looks();
            if (found && found->gained * horizon_seconds * 1000 > static_cast<double>(found->cost))
                return found;
        }
    return Mover(*this, now, options.max_moves, std::max<std::int64_t>(looks, Mover::search_max / 4))
        .gather();
}

std::vector<Preemption> Engine::Impl::start_defrag(const DefragOptions& options, Instant now) {
    std::vector<Preemption> out;
    auto plan = rearrange(options, now);
    if (!plan) return out;
    std::vector<int> victims;
    const std::string who = plan->starts < 0 ? std::string() : job(plan->starts).info.id;
    for (auto& move : plan->moves) {
        JobSlot& slot = job(move.job);
        victims.push_back(move.job);
        out.push_back({slot.info.id, who,
                       "It moves to " + cluster_.node(move.to.front().node).name +
                           " so that what is free lies together" +
                           (who.empty() ? "" : " and job " + who + " can start") + ": " +
                           std::to_string(move.cost / 1000) + " GPU-seconds of work and restart."});
        start_move(slot, std::move(move.to));
    }
    if (plan->starts >= 0) wait_for(job(plan->starts), std::move(victims), std::move(plan->place));
    return out;
}

void Engine::Impl::start_stop(JobSlot& slot) {
    slot.stopping = true;
    stopping_.push_back(slot.position);
    able_.shape = -1;
    ++holdings_;
}

// It stops, and its new place is kept for it until it waits again and takes it.
void Engine::Impl::start_move(JobSlot& slot, std::vector<Slices> to) {
    start_stop(slot);
    slot.pledge = std::move(to);
    for (auto& slices : slot.pledge) slices.cores.clear(), cluster_.book(slices, 1);
    slot.moving = true;
    preemptors_.push_back(slot.position);
    slot.pledge_priority = slot.info.priority;
    ++pledged_priorities_[slot.pledge_priority];
}

}  // namespace crater::engine
