// What holds slices on a node: few dozens on each of thousands of nodes, so they lie in order in one piece of
// memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace crater::scheduler {

class HeldTasks {
  public:
    using Key = std::pair<std::string, std::int64_t>;  // job, task
    using Wanted = std::pair<std::string_view, std::int64_t>;
    using Entry = std::pair<Key, std::int64_t>;  // and its attempt
    auto begin() const { return entries_.begin(); }
    auto end() const { return entries_.end(); }
    std::size_t size() const { return entries_.size(); }
    bool empty() const { return entries_.empty(); }
    auto find(const Wanted& key) const {
        const auto it = std::lower_bound(begin(), end(), key, before);
        return it != end() && Wanted(it->first) == key ? it : end();
    }
    bool contains(const Wanted& key) const { return find(key) != end(); }
    void set(const Wanted& key, std::int64_t attempt) {
        const auto it = std::lower_bound(entries_.begin(), entries_.end(), key, before);
        if (it != entries_.end() && Wanted(it->first) == key)
            it->second = attempt;
        else
            entries_.insert(it, {Key(key), attempt});
    }
    void erase(const Wanted& key) {
        if (const auto it = find(key); it != end()) entries_.erase(it);
    }

  private:
    static bool before(const Entry& entry, const Wanted& key) { return Wanted(entry.first) < key; }
    std::vector<Entry> entries_;
};

}  // namespace crater::scheduler
