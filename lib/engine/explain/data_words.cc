#include "explain/data_words.h"

#include "explain/words.h"

namespace crater::engine {
namespace {

template <class Use>
void each_item(const WantedData& wanted, Use use) {
    for (const auto& id : wanted.datasets) use("dataset " + id, data_key(DataKind::dataset, id));
    for (const auto& id : wanted.models) use("model " + id, data_key(DataKind::model, id));
}

}  // namespace

std::string missing_data_words(const WantedData& wanted, const Node& node) {
    std::string names;
    each_item(wanted, [&](const std::string& name, std::uint64_t key) {
        if (!has_key(node.data, key)) names += (names.empty() ? "" : ", ") + name;
    });
    return names.empty() ? std::string() : "does not have " + names + " in its cache";
}

std::string cached_where_words(const WantedData& wanted, const Cluster& cluster) {
    std::string out;
    each_item(wanted, [&](const std::string& name, std::uint64_t key) {
        std::int64_t nodes = 0;
        for (const int n : cluster.by_name()) nodes += cluster.node(n).present && has_key(cluster.node(n).data, key);
        out += (out.empty() ? name + " is cached on " : ", " + name + " on ") + (nodes == 0 ? "no node" : count_words(nodes, "node", "nodes"));
    });
    return out;
}

}  // namespace crater::engine
