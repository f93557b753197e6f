// What lies complete in this machine's cache. Below its root a dataset is `dataset/ID`, the weights of a model `model/ID`, each a file or a
// folder with something in it. Whoever fills the cache writes under a name that begins with a dot, which no id does, and renames it when all
// is there: so what has an id for a name is complete. Not for several threads.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "crater/base/clock.h"
#include "crater/model/node.h"

namespace crater::hw {

class CacheFolder {
  public:
    CacheFolder(std::string root, const Clock& clock) : root_(std::move(root)), clock_(clock) {}

    NodeCache read();
    // Whether it holds something else than what was read last. Looks twice a minute at most.
    bool changed();

  private:
    using Time = std::filesystem::file_time_type;
    struct Counted {
        Time written;
        Bytes size;
    };
    std::vector<CachedItem> list(const std::string& kind);
    Bytes size_of(const std::filesystem::path& item);

    std::string root_;
    const Clock& clock_;
    std::map<std::string, Counted> counted_;  // by path
    NodeCache last_;
    std::int64_t looked_us_ = 0;
};

}  // namespace crater::hw
