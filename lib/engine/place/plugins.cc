// Asking the plugins of a queue about the best candidates for a task.
#include "crater/engine/hooks.h"
#include "engine_impl.h"
#include "place/level.h"

namespace crater::engine {

// What is used of a node at this moment of a decision, what is only booked for it included.
NodeBook Engine::Impl::book_now(int n) const {
    const Node& node = cluster_.node(n);
    const Ledger& books = cluster_.used();
    const NodeUse& use = books.nodes[static_cast<std::size_t>(n)];
    NodeBook out = totals_of(node);
    out.cpu_used = MilliCpu(use.cpu);
    out.memory_used = Bytes(use.memory);
    out.tasks = use.tasks;
    for (std::size_t d = 0; d < node.domains.size(); ++d)
        out.bandwidth_used +=
            BytesPerSecond(books.domains[static_cast<std::size_t>(node.domains_at) + d].bandwidth);
    for (std::size_t k = 0; k < node.disks.size(); ++k) {
        const DiskUse& disk = books.disks[static_cast<std::size_t>(node.disks_at) + k];
        out.disk_used += Bytes(disk.size);
        out.iops_used += Iops(disk.iops);
    }
    for (std::size_t c = 0; c < node.cards.size(); ++c) {
        const CardUse& card = books.cards[static_cast<std::size_t>(node.cards_at) + c];
        CardBook& shown = out.cards[c];
        shown.compute_used = MilliGpu(card.compute), shown.memory_used = Mebibytes(card.memory);
        shown.tasks = card.tasks, shown.exclusive = card.exclusive > 0;
    }
    return out;
}

bool Engine::Impl::has_plugins(const JobSlot& slot) const {
    return hooks_ && slot.queue >= 0 && !backlog_.queue(slot.queue).spec.plugins.empty();
}

// `before`: where the tasks placed earlier in this decision went; `top`: the best spots there are, so many.
Spot Engine::Impl::ask_plugins(const JobSlot& slot, std::span<const Slices> before,
                               const std::function<std::vector<Spot>(std::size_t)>& top, Trace& trace) {
    const auto uses = hooks_of(backlog_.queue(slot.queue).spec, hooks_);
    // The best ones first; if all of them are turned away, more of them, in the end all.
    for (std::size_t count = hook_candidates;; count *= 8) {
        const auto spots = top(count);
        if (spots.empty() || uses.empty()) return spots.empty() ? Spot{} : spots.front();
        const Spot found = ask_about(slot, before, spots, uses, trace);
        if (found || spots.size() < count) return found;
    }
}

Spot Engine::Impl::ask_about(const JobSlot& slot, std::span<const Slices> before, std::span<const Spot> spots,
                             std::span<const HookUse> uses, Trace& trace) {
    const Shape& shape = shapes_.at(slot.shape);
    std::vector<NodeBook> books;
    std::vector<NodeView> views;
    books.reserve(spots.size());
    for (const Spot& spot : spots) {
        Neighbours neighbours;
        for (const auto& held : held_on_[static_cast<std::size_t>(spot.node)]) {
            neighbours.of_tenant += job(held.job).tenant == slot.tenant;
            neighbours.of_job += held.job == slot.position;
        }
        for (const auto& slices : before)
            if (slices.node == spot.node) ++neighbours.of_tenant, ++neighbours.of_job;
        Look look(shape, cluster_, spot.node);
        if (spot.card >= 0) look.take(spot.card);
        books.push_back(book_now(spot.node));
        views.push_back(view_of(*look.node.inventory, books.back(), neighbours,
                                candidate(shape, spot.node, spot.level).score,
                                look.choice() ? look.choice()->cards : 0));
    }
    const Hooked said = ask_hooks(uses, {&slot.info, slot.type, slot.waiting}, views);
    // What they said cannot be had again: it is taken down at once.
    trace.shape = slot.shape;
    auto written = std::make_shared<DecisionTrace>();
    written->policy = name_of(shape.policy);
    trace.best = {};
    for (const auto& ranked : said.ranked) {
        if (written->candidates.size() == trace.best.size()) break;
        trace.best[written->candidates.size()] = {spots[ranked.position].node, spots[ranked.position].level};
        Candidate shown = candidate(shape, spots[ranked.position].node, spots[ranked.position].level);
        shown.score = ranked.score;
        shown.terms.insert(shown.terms.end(), ranked.terms.begin(), ranked.terms.end());
        written->candidates.push_back(std::move(shown));
    }
    written->rejections = rejections(shape, trace);
    written->rejections.insert(written->rejections.end(), said.rejections.begin(), said.rejections.end());
    trace.written = std::move(written);
    return said.ranked.empty() ? Spot{} : spots[said.ranked.front().position];
}

}  // namespace crater::engine
