// What one shape lacks on an ordinary node, told from the node's row on the sheet: what the filters say of a
// look, many times as fast, for those that most shapes ask. `survey_test.cc` holds it to them.
#pragma once

#include <array>
#include <vector>

#include "explain/sheet.h"

namespace crater::engine {

class NodeGlance {
  public:
    explicit NodeGlance(const Shape& shape);

    // The filters among those asked that it answers for.
    Lacks answers() const { return answers_; }

    // What it measures of a node: as the filters of these names do.
    enum Amount : std::uint8_t { cpu, memory, gpu_memory, gpu_count, gpu_cards, gpu_card_size, amount_count };
    static Amount amount_of(std::string_view filter);  // amount_count: none of these

    struct Seen {
        Lacks lacks = 0;
        std::int64_t cpu = 0, memory = 0, card_memory = 0;
        int whole_cards = 0;
        double right_cards = 0, card_size = 0;

        double has(Amount amount) const {
            switch (amount) {
                case Amount::cpu: return static_cast<double>(cpu) / 1000;
                case Amount::memory: return static_cast<double>(memory);
                case gpu_memory: return static_cast<double>(card_memory);
                case gpu_count: return whole_cards;
                case gpu_cards: return right_cards;
                case gpu_card_size: return card_size;
                case amount_count: break;
            }
            return -1;
        }
    };
    // None of the job's own tasks is on the node.
    Seen at(const Shape& shape, const Cluster& cluster, const Sheet& sheet, int n);

  private:
    // What nodes with so many cards of one type are to the shape, whatever is free.
    struct Kind {
        std::int32_t type;
        std::uint8_t cards;
        Lacks lacks;
        bool right;  // the cards
        CardNeed need;
        double has_cards, has_size;
    };
    // How many cards are still in question after each condition, as Look narrows them down.
    struct Cards {
        int healthy = 0, memory = 0, whole = 0, compute = 0, slots = 0, watermark = 0, load = 0;
    };
    const Kind& kind_of(const Shape& shape, const Cluster& cluster, const Sheet::Row& row, int n);
    void see_cards(const Shape& shape, const Cluster& cluster, const Sheet& sheet, int n, Seen& seen);
    static Cards whole_cards(const Cluster& cluster, const Sheet::Row& row);
    static Cards parts_of_cards(const Cluster& cluster, const Sheet& sheet, int n, const CardNeed& need);

    Lacks answers_;
    Sheet::Failed failed_;
    std::vector<Kind> kinds_;
};

}  // namespace crater::engine
