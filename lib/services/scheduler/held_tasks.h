// What holds slices on a node: few dozens on each of thousands of nodes, so they lie in order in one piece of
// memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace crater::scheduler {

class HeldTasks {
  public:
    using Key = std::pair<std::string, std::int64_t>;  // job, task
    using Entry = std::pair<Key, std::int64_t>;        // and its attempt
    auto begin() const { return entries_.begin(); }
    auto end() const { return entries_.end(); }
    std::size_t size() const { return entries_.size(); }
    bool empty() const { return entries_.empty(); }
    auto find(const Key& key) const {
        const auto it = std::lower_bound(begin(), end(), key, before);
        return it != end() && it->first == key ? it : end();
    }
    bool contains(const Key& key) const { return find(key) != end(); }
    void set(const Key& key, std::int64_t attempt) {
        const auto it = std::lower_bound(entries_.begin(), entries_.end(), key, before);
        if (it != entries_.end() && it->first == key)
            it->second = attempt;
        else
            entries_.insert(it, {key, attempt});
    }
    void erase(const Key& key) {
        if (const auto it = find(key); it != end()) entries_.erase(it);
    }

  private:
    static bool before(const Entry& entry, const Key& key) { return entry.first < key; }
    std::vector<Entry> entries_;
};

}  // namespace crater::scheduler
