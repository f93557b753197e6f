#include "explain/data_words.h"

#include "explain/words.h"

namespace crater::engine {
namespace {

constexpr int named_most = 5;  // a job may name thousands

// One more of a list, of which the first few are named.
class Names {
  public:
    void add(const std::string& name) {
        if (++count_ <= named_most) text_ += (count_ == 1 ? "" : ", ") + name;
    }
    std::string text() const {
        return count_ <= named_most ? text_ : text_ + " and " + std::to_string(count_ - named_most) + " more";
    }

  private:
    std::string text_;
    int count_ = 0;
};

template <class Use>
void each_item(const WantedData& wanted, Use use) {
    for (const auto& id : wanted.datasets) use("dataset " + id, data_key(DataKind::dataset, id));
    for (const auto& id : wanted.models) use("model " + id, data_key(DataKind::model, id));
}

}  // namespace

std::string missing_data_words(const WantedData& wanted, const Node& node) {
    Names names;
    each_item(wanted, [&](const std::string& name, std::uint64_t key) {
        if (!has_key(node.data, key)) names.add(name);
    });
    return names.text().empty() ? std::string() : "does not have " + names.text() + " in its cache";
}

std::string cached_where_words(const WantedData& wanted, const Cluster& cluster) {
    Names out;
    bool first = true;
    each_item(wanted, [&](const std::string& name, std::uint64_t key) {
        std::int64_t nodes = 0;
        for (const int n : cluster.by_name())
            nodes += cluster.node(n).present && has_key(cluster.node(n).data, key);
        out.add(name + (first ? " is cached on " : " on ") +
                (nodes == 0 ? "no node" : count_words(nodes, "node", "nodes")));
        first = false;
    });
    return out.text();
}

}  // namespace crater::engine
