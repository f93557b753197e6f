// The jobs that hold something, by tenant: so that who holds a tenant's quota is known without asking every
// job.
#pragma once

#include <cstdint>
#include <vector>

namespace crater::engine {

class Running {
  public:
    void add(int tenant, int job) {
        const auto t = static_cast<std::size_t>(tenant), j = static_cast<std::size_t>(job);
        if (of_.size() <= t) of_.resize(t + 1);
        if (at_.size() <= j) at_.resize(j + 1);
        at_[j] = of_[t].size();
        of_[t].push_back(job);
    }
    void remove(int tenant, int job) {
        auto& jobs = of_[static_cast<std::size_t>(tenant)];
        const auto at = at_[static_cast<std::size_t>(job)];
        jobs[at] = jobs.back();
        at_[static_cast<std::size_t>(jobs[at])] = at;
        jobs.pop_back();
    }
    const std::vector<int>& of(int tenant) const {
        static const std::vector<int> none;
        return static_cast<std::size_t>(tenant) < of_.size() ? of_[static_cast<std::size_t>(tenant)] : none;
    }

  private:
    std::vector<std::vector<int>> of_;  // by tenant, unordered
    std::vector<std::size_t> at_;       // by job: where it stands
};

}  // namespace crater::engine
