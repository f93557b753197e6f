// What lies complete in this machine's cache. Below its root a dataset is `dataset/ID`, the weights of a
// model `model/ID`, each a file or a folder with something in it. Whoever fills the cache writes under a name
// that begins with a dot, which no id does, and renames it when all is there: so what has an id for a name is
// complete. Its owner is one thread.
#pragma once

#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <string>

#include "crater/base/clock.h"
#include "crater/base/quantity.h"
#include "crater/model/node.h"

namespace crater::hw {

class CacheFolder {
  public:
    // A look is made by a thread of its own, for a slow disk must not hold up whoever asks, who waits for
    // `patience`.
    CacheFolder(std::string root, const Clock& clock, Millis patience = Millis{50})
        : root_(std::move(root)), clock_(clock), patience_(patience) {}
    ~CacheFolder() { stop_ = true; }  // the look under way is waited for

    // What the last look found.
    NodeCache read();
    // Whether that is something else than before. Looks twice a minute at most.
    bool changed();

  private:
    using Time = std::filesystem::file_time_type;
    struct Counted {
        Time written;
        Bytes size;
    };
    void begin();
    bool take();  // true when it took what a look found
    NodeCache look();
    std::vector<CachedItem> list(const std::string& kind, std::int64_t& files);
    Bytes size_of(const std::filesystem::path& item, std::int64_t& files);
    std::optional<Bytes> count(const std::filesystem::path& item, std::int64_t& files) const;

    const std::string root_;
    const Clock& clock_;
    const Millis patience_;
    NodeCache last_;
    std::int64_t looked_us_ = 0;
    bool looked_ = false;
    std::atomic<bool> stop_ = false;
    std::map<std::string, Counted> counted_;  // by path; the look's own
    std::future<NodeCache> looking_;          // the last member: it is waited for first
};

}  // namespace crater::hw
