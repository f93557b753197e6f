#include "series.h"

namespace crater::scheduler {
namespace {

// then every second one is dropped, so that an hour and more stays in view
constexpr std::size_t points_per_task = 360;
constexpr std::size_t points_in_all = 2'000'000;
constexpr Millis series_span{3'600'000};

}  // namespace

void SeriesBook::add(const std::string& job, std::int64_t task, const api::MetricPoint& point) {
    const std::scoped_lock lock(mutex_);
    auto [it, fresh] = jobs_.try_emplace(job);
    Entry& entry = it->second;
    if (fresh)
        entry.order = order_.insert(order_.end(), job);
    else
        order_.splice(order_.end(), order_, entry.order);

    auto& points = entry.tasks[task];
    const std::size_t before = points.size();
    points.push_back(point);
    if (points.front().at + series_span < point.at)
        points.erase(points.begin(), std::find_if(points.begin(), points.end(), [&](const auto& p) {
                         return p.at + series_span >= point.at;
                     }));
    if (points.size() > points_per_task) {
        std::vector<api::MetricPoint> thinned;
        for (std::size_t i = 1; i < points.size(); i += 2) thinned.push_back(points[i]);
        points = std::move(thinned);
    }
    points_ = points_ + points.size() - before;

    while (points_ > points_in_all && order_.size() > 1) {
        const auto oldest = jobs_.find(order_.front());
        for (const auto& [index, old] : oldest->second.tasks) points_ -= old.size();
        order_.pop_front();
        jobs_.erase(oldest);
    }
}

api::JobMetrics SeriesBook::of(const std::string& job) const {
    const std::scoped_lock lock(mutex_);
    api::JobMetrics out;
    const auto it = jobs_.find(job);
    if (it == jobs_.end()) return out;
    for (const auto& [task, points] : it->second.tasks) out.series.push_back({task, points});
    return out;
}

}  // namespace crater::scheduler
