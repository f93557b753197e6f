#include <algorithm>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

std::int64_t space_free(const Look& look) {
    std::int64_t best = 0;
    for (std::size_t k = 0; k < look.node.disks.size(); ++k)
        if (look.disk_serves(k)) best = std::max(best, look.node.disks[k].size - look.disk(k).size);
    return best;
}

std::int64_t space_total(const Look& look) {
    std::int64_t best = 0;
    for (std::size_t k = 0; k < look.node.disks.size(); ++k)
        if (look.disk_serves(k)) best = std::max(best, look.node.disks[k].size);
    return best;
}

bool disk_space_asked(const Shape& shape) { return shape.disk_size > 0; }

bool disk_space_passes(const Look& look) { return look.shape.disk_size <= space_free(look); }

std::string disk_space_says(const Look& look) {
    return "needs " + bytes_words(look.shape.disk_size) + " of disk space on one disk, " +
           (look.when == When::empty ? "at most " : "free are ") + bytes_words(space_free(look));
}

Measure disk_space_measure(const Look& look) {
    return {"bytes", static_cast<double>(look.shape.disk_size), static_cast<double>(space_free(look)),
            static_cast<double>(space_total(look))};
}

}  // namespace

extern const Filter disk_space;
const Filter disk_space{50,
                        Kind::room,
                        "disk_space",
                        "resources.disk.size",
                        "Disk space.",
                        disk_space_asked,
                        disk_space_passes,
                        disk_space_says,
                        disk_space_measure};

}  // namespace crater::engine::filter
