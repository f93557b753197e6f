#include "state/crowds.h"

#include <algorithm>

#include "crater/base/error.h"
#include "state/fact_hash.h"

namespace crater::engine {
namespace {

std::string text_of(const Labels& labels) {
    FactBytes bytes;
    bytes.add(labels);
    return bytes.bytes();
}

}  // namespace

bool Crowds::carries(const Labels& labels, const Labels& wanted) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
        const auto it = labels.find(entry.first);
        return it != labels.end() && it->second == entry.second;
    });
}

bool Crowds::avoids(const Crowd& one, const Crowd& other) {
    return std::any_of(one.avoids.begin(), one.avoids.end(),
                       [&](const Labels& wanted) { return carries(other.labels, wanted); });
}

int Crowds::take(const JobSpec& spec, bool* news) {
    if (news) *news = false;
    if (spec.labels.empty() && spec.anti_affinity.jobs.empty()) return -1;
    FactBytes bytes;
    bytes.add(spec.labels);
    bytes.add(spec.anti_affinity.jobs);
    if (const auto it = positions_.find(bytes.bytes()); it != positions_.end()) {
        ++crowds_[static_cast<std::size_t>(it->second)].members;
        return it->second;
    }
    auto position = static_cast<int>(crowds_.size());
    if (free_.empty()) {
        crowds_.emplace_back();
    } else {
        position = free_.back();
        free_.pop_back();
    }
    Crowd& crowd = crowds_[static_cast<std::size_t>(position)];
    crowd = {bytes.bytes(), spec.labels, {}, 1};
    for (const auto& selector : spec.anti_affinity.jobs) {
        crowd.avoids.push_back(selector.labels);
        Avoided& avoided = avoided_[text_of(selector.labels)];
        avoided.labels = selector.labels;
        if (avoided.crowds++ == 0 && news) *news = true;
    }
    positions_.emplace(crowd.key, position);
    return position;
}

void Crowds::drop(int position) {
    if (position < 0) return;
    Crowd& crowd = crowds_[static_cast<std::size_t>(position)];
    CRATER_CHECK(crowd.members > 0);
    if (--crowd.members > 0) return;
    for (const Labels& labels : crowd.avoids) {
        const auto it = avoided_.find(text_of(labels));
        if (--it->second.crowds == 0) avoided_.erase(it);
    }
    positions_.erase(crowd.key);
    crowd = {};
    free_.push_back(position);
}

bool Crowds::apart(int one, int other) const {
    return one >= 0 && other >= 0 && (avoids(at(one), at(other)) || avoids(at(other), at(one)));
}

bool Crowds::concerned(int crowd) const {
    if (crowd < 0) return false;
    const Crowd& it = at(crowd);
    return !it.avoids.empty() || std::any_of(avoided_.begin(), avoided_.end(), [&](const auto& entry) {
        return carries(it.labels, entry.second.labels);
    });
}

}  // namespace crater::engine
