#include "crater/agent/specs.h"

#include "crater/codec/codec.h"

namespace crater::agent {

Result<std::shared_ptr<const JobSpec>> Specs::of(const std::string& text) {
    for (const Entry& entry : entries_)
        if (entry.spec && entry.text == text) return entry.spec;
    CRATER_TRY(read, codec::read_json<JobSpec>(text, {.allow_unknown = true}));
    Entry& entry = entries_[next_++ % entries_.size()];
    entry = {text, std::make_shared<const JobSpec>(std::move(read))};
    return entry.spec;
}

}  // namespace crater::agent
