// Specs of launch orders, read once: the tasks of a gang and the jobs of an array come with the same text.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "crater/base/error.h"
#include "crater/model/job.h"

namespace crater::agent {

// Keeps the last few. Agents on one loop may share one.
class Specs {
  public:
    // `text`: the spec as JSON.
    Result<std::shared_ptr<const JobSpec>> of(const std::string& text);

  private:
    struct Entry {
        std::string text;
        std::shared_ptr<const JobSpec> spec;  // null: empty
    };
    std::array<Entry, 8> entries_;
    std::size_t next_ = 0;  // to be replaced
};

}  // namespace crater::agent
