#include <algorithm>

#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool node_name_asked(const Shape& shape) {
    return !shape.node.include.empty() || !shape.node.exclude.empty();
}

bool node_name_passes(const Look& look) {
    const auto names = [&](const std::vector<std::string>& list) {
        return std::find(list.begin(), list.end(), look.node.name) != list.end();
    };
    const auto& wanted = look.shape.node;
    return (wanted.include.empty() || names(wanted.include)) && !names(wanted.exclude);
}

std::string node_name_says(const Look& look) {
    return look.shape.node.include.empty() ? "the job excludes it"
                                           : "it is not one of the nodes the job names";
}

}  // namespace

extern const Filter node_name;
const Filter node_name{20,
                       Kind::fixed,
                       "node_name",
                       "node.include",
                       "Node names asked for or excluded.",
                       node_name_asked,
                       node_name_passes,
                       node_name_says};

}  // namespace crater::engine::filter
