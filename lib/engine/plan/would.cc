// Would this job start now, and where: decided as a decision would be, and taken back.
#include "engine_impl.h"

namespace crater::engine {

// A job as it would be, with its shape and its crowd counted while it lives.
Engine::Impl::Supposition::Supposition(Impl& engine, const EngineJob& request) : e_(engine) {
    CRATER_CHECK(request.spec != nullptr, "a job has a spec");
    const int q = e_.backlog_.find(request.queue);
    // A queue that is not there yet would be one of the defaults; what has not learned anything yet decides
    // like best fit.
    const Policy wanted = q < 0 ? QueueSpec{}.policy : e_.backlog_.queue(q).spec.policy;
    const bool blank = ranking_of(wanted) == Ranking::learned && !e_.pricing_.knows(wanted);
    slot.info = request;
    slot.type = infer_type(*request.spec);
    slot.queue = q;
    slot.tenant = e_.tenants_.nearest(request.tenant);
    slot.crowd = e_.cluster_.crowds().take(*request.spec);
    Around around{.crowd = slot.crowd, .maintenance = e_.cluster_.maintained()};
    if (q >= 0)
        around.overcommit = e_.queue_overcommit(q), around.weights = &e_.backlog_.queue(q).spec.weights;
    slot.shape =
        e_.shapes_.take(make_shape(*request.spec, blank ? Policy::best_fit : wanted, e_.cluster_, around));
    slot.tasks.resize(static_cast<std::size_t>(std::max<std::int64_t>(0, request.spec->tasks)));
    slot.waiting = static_cast<int>(slot.tasks.size());
}

Engine::Impl::Supposition::~Supposition() {
    e_.shapes_.drop(slot.shape);
    e_.cluster_.crowds().drop(slot.crowd);
}

DecisionTrace Engine::Impl::would_place(const EngineJob& request, Instant now) {
    advance(now);
    Supposition supposed(*this, request);
    const auto mark = cluster_.mark();
    Outcome outcome = attempt(supposed.slot);
    cluster_.undo_to(mark);
    // What its quota or its area holds back was not looked for node by node.
    if (outcome.trace.shape < 0) {
        Column view;
        view.refresh(supposed.slot.shape, judge_);
        outcome.trace = take_down(supposed.slot.shape, view);
    }
    DecisionTrace out = words(outcome.trace);
    if (outcome.kind != Outcome::placed) out.candidates.clear();
    return out;
}

}  // namespace crater::engine
