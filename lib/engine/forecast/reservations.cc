#include "forecast/reservations.h"

#include <algorithm>

namespace crater::engine {
namespace {

constexpr std::size_t moves_kept = 1 << 12;

}  // namespace

void Reservations::begin_pass(int nodes) {
    for (const int n : nodes_) on_node_[static_cast<std::size_t>(n)].clear();
    nodes_.clear();
    in_force_.clear();
    searches_ = 0;
    if (on_node_.size() < static_cast<std::size_t>(nodes))
        on_node_.resize(static_cast<std::size_t>(nodes)), timelines_.resize(static_cast<std::size_t>(nodes));
}

Instant Reservations::first() const {
    Instant out;
    for (const auto* place : in_force_)
        if (!out || place->at < out) out = place->at;
    return out;
}

std::size_t Reservations::in_force(std::uint64_t domain) const {
    return static_cast<std::size_t>(std::count_if(
        in_force_.begin(), in_force_.end(), [&](const auto* place) { return place->domain == domain; }));
}

const Reservation* Reservations::of(int job) const {
    const auto it = kept_.find(job);
    return it == kept_.end() ? nullptr : &it->second;
}

void Reservations::left(const Reservation& place) {
    if (!place) return;
    ++version_;
    for (const auto& slices : place.slices) {
        auto& here = on_node_[static_cast<std::size_t>(slices.node)];
        std::erase(here, &place);
        moves_.push_back(slices.node);
    }
    std::erase(in_force_, &place);
    if (moves_.size() <= moves_kept) return;
    moves_base_ += moves_.size() / 2;
    moves_.erase(moves_.begin(), moves_.begin() + static_cast<std::ptrdiff_t>(moves_.size() / 2));
}

void Reservations::keep(Reservation place) {
    Reservation& kept = kept_[place.job];
    left(kept);
    kept = std::move(place);
}

void Reservations::looked(int job, std::uint64_t gains, std::uint64_t moves) {
    Reservation& kept = kept_.at(job);
    kept.gains_seen = gains, kept.moves_seen = moves;
}

void Reservations::good(int job, std::uint64_t on, Instant until) {
    Reservation& kept = kept_.at(job);
    kept.good_for = on, kept.good_until = until;
}

std::uint64_t Reservations::look_of(int node) const {
    std::uint64_t out = 0;
    for (const auto* place : on(node))
        out =
            (out ^ static_cast<std::uint64_t>(place->job) ^ static_cast<std::uint64_t>(place->at.ms) << 20) *
                0x9e3779b97f4a7c15ULL +
            1;
    return out;
}

void Reservations::leave(int job) {
    const auto it = kept_.find(job);
    if (it == kept_.end()) return;
    left(it->second);
    kept_.erase(it);
}

void Reservations::forget(int job) {
    leave(job);
    if (static_cast<std::size_t>(job) < foreseen_.size()) foreseen_[static_cast<std::size_t>(job)] = {};
}

void Reservations::rebuilt(int node) {
    std::vector<int> jobs;
    for (const auto& [job, place] : kept_)
        if (std::any_of(place.slices.begin(), place.slices.end(),
                        [node](const Slices& slices) { return slices.node == node; }))
            jobs.push_back(job);
    for (const int job : jobs) leave(job);
}

void Reservations::enforce(int job) {
    const Reservation* place = of(job);
    if (!place || !*place) return;
    in_force_.push_back(place);
    for (const auto& slices : place->slices) {
        auto& here = on_node_[static_cast<std::size_t>(slices.node)];
        if (here.empty() && std::find(nodes_.begin(), nodes_.end(), slices.node) == nodes_.end())
            nodes_.push_back(slices.node);
        if (here.empty() || here.back() != place) here.push_back(place);
    }
}

Reservations::Foreseen& Reservations::foreseen(int job) {
    if (foreseen_.size() <= static_cast<std::size_t>(job))
        foreseen_.resize(static_cast<std::size_t>(job) + 1);
    return foreseen_[static_cast<std::size_t>(job)];
}

Timeline& Reservations::timeline(int node) {
    if (timelines_.size() <= static_cast<std::size_t>(node))
        timelines_.resize(static_cast<std::size_t>(node) + 1);
    return timelines_[static_cast<std::size_t>(node)];
}

}  // namespace crater::engine
