#include "filter/filter.h"

namespace crater::engine::filter {
namespace {

bool carries(const Node& node, const std::string& key, const std::string& value) {
    const auto it = node.inventory->labels.find(key);
    return it != node.inventory->labels.end() && it->second == value;
}

bool node_labels_asked(const Shape& shape) { return !shape.node.labels.empty(); }

bool node_labels_passes(const Look& look) {
    for (const auto& [key, value] : look.shape.node.labels)
        if (!carries(look.node, key, value)) return false;
    return true;
}

std::string node_labels_says(const Look& look) {
    for (const auto& [key, value] : look.shape.node.labels)
        if (!carries(look.node, key, value)) return "lacks the label " + key + "=" + value;
    return {};
}

}  // namespace

extern const Filter node_labels;
const Filter node_labels{21,
                         Kind::fixed,
                         "node_labels",
                         "node.labels",
                         "Labels that the node must carry.",
                         node_labels_asked,
                         node_labels_passes,
                         node_labels_says};

}  // namespace crater::engine::filter
