// What one shape lacks on an ordinary node, told from the node's row on the sheet and from the books: what the filters say of a look, many
// times as fast, for those that most shapes ask. `survey_test.cc` holds it to them.
#pragma once

#include <vector>

#include "explain/sheet.h"

namespace crater::engine {

class Glance {
  public:
    explicit Glance(const Shape& shape);

    // The filters among those asked that it answers for.
    Lacks answers() const { return answers_; }

    // What it measures of a node: as the filters of these names do.
    enum Amount : std::uint8_t { cpu, memory, gpu_memory, gpu_count, gpu_cards, gpu_card_size, amount_count };
    static Amount amount_of(std::string_view filter);  // amount_count: none of these

    struct Seen {
        Lacks lacks = 0;
        std::array<double, amount_count> has{};  // those of what is free only on nodes of the right kind
    };
    // None of the job's own tasks is on the node.
    Seen at(const Shape& shape, const Cluster& cluster, const Sheet::Row& row, int n);

  private:
    // What nodes with so many cards of one type are to the shape, whatever is free.
    struct Kind {
        std::int32_t type;
        std::uint8_t cards;
        Lacks lacks;
        Mask right;  // cards
        CardNeed need;
        double has_cards, has_size;
    };
    const Kind& kind_of(const Shape& shape, const Cluster& cluster, const Sheet::Row& row, int n);
    void see_cards(const Shape& shape, const Cluster& cluster, const Sheet::Row& row, const Kind& kind, Seen& seen) const;

    Lacks answers_;
    Sheet::Failed failed_;
    std::vector<Kind> kinds_;
};

}  // namespace crater::engine
