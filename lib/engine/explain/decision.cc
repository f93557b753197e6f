// The record of a decision as a document: candidates with their terms, reasons with their first node, in
// words.
#include <algorithm>

#include "engine_impl.h"
#include "place/level.h"
#include "score/score.h"

namespace crater::engine {
namespace {

double mean(const std::vector<ScoreTerm>& terms) {
    double sum = 0, weights = 0;
    for (const auto& term : terms) sum += term.weight * term.value, weights += term.weight;
    return weights > 0 ? sum / weights : 0;
}

std::vector<ScoreTerm> weighted_terms(const Look& look) {
    std::vector<ScoreTerm> out;
    if (!look.choice()) return out;
    const auto& weights = look.shape.weights;
    const auto scores = score::table();
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (weights[i] > 0)
            out.push_back({std::string(scores[i]->name), scores[i]->value(look, *look.choice()), weights[i]});
    return out;
}

}  // namespace

// The trace of a view of all nodes.
Trace Engine::Impl::take_down(int shape, Column& view) const {
    Trace out;
    out.shape = shape;
    const auto best = view.best(out.best.size());
    for (std::size_t i = 0; i < best.size(); ++i)
        out.best[i] = {best[i], view.at(cluster_.rank(best[i])).level};
    std::size_t at = 0;
    for (std::size_t f = 0; f < filter::table().size() && at < out.lacks.size(); ++f)
        if (view.rejected(f) > 0) out.lacks[at++] = {static_cast<std::int32_t>(f), view.rejected(f)};
    return out;
}

Candidate Engine::Impl::candidate(const Shape& shape, int node, std::int32_t level) const {
    const auto& name = cluster_.node(node).name;
    const auto ranking = ranking_of(shape.policy);
    auto terms = ranking == Ranking::weighted  ? weighted_terms(Look(shape, cluster_, node))
                 : ranking == Ranking::ordered ? fit_terms(level)
                                               : pricing_.terms(shape, level);
    const double score = ranking == Ranking::weighted ? level / 1e6 : mean(terms);
    return {name, score, std::move(terms)};
}

// The first node that lacks it, with what it has by now.
std::vector<Rejection> Engine::Impl::rejections(const Shape& shape, const Trace& trace) const {
    std::vector<Rejection> out;
    for (const auto& lack : trace.lacks) {
        if (lack.filter < 0) break;
        const auto& row = filter::at(static_cast<std::size_t>(lack.filter));
        Rejection rejection{std::string(row.name), lack.nodes, {}, {}};
        for (const int n : cluster_.by_name()) {
            if (!cluster_.node(n).present) continue;
            const Look look(shape, cluster_, n);
            if (row.passes(look)) continue;
            rejection.first_node = look.node.name;
            rejection.detail = row.says(look);
            break;
        }
        out.push_back(std::move(rejection));
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
    return out;
}

DecisionTrace Engine::Impl::words(const Trace& trace) const {
    if (trace.written) return *trace.written;
    const Shape& shape = shapes_.at(trace.shape);
    DecisionTrace out;
    out.policy = name_of(shape.policy);
    for (const auto& mark : trace.best) {
        if (mark.node < 0) break;
        out.candidates.push_back(candidate(shape, mark.node, mark.level));
    }
    out.rejections = rejections(shape, trace);
    if (trace.predicted.nodes > 0)
        out.rejections.insert(out.rejections.begin(),
                              {"predicted_use", trace.predicted.nodes,
                               cluster_.node(trace.predicted.first).name, trace.predicted.detail});
    return out;
}

}  // namespace crater::engine
