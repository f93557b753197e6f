// AllData: takes callbacks, sometimes slowly, sometimes not at all, and looks at their order.
#include "crater/codec/codec.h"
#include "world_impl.h"

namespace crater::sim {
namespace {

constexpr Millis slow_answer_max{45'000};

}  // namespace

class World::Impl::AllData final : public wire::CallbackSender {
  public:
    AllData(Impl& world, SchedulerProcess& process)
        : world_(world), loop_(*process.loop), life_(process.life) {}

    void send(wire::ClientRequest request, std::function<void(Result<wire::HttpResponse>)> done) override {
        if (!life_->acts() || !life_->leads) return;
        const bool slow = world_.time_.ticks_us() < world_.alldata_slow_until_us_;
        const Millis takes = world_.pause(slow ? slow_answer_max : world_.weather_.delay_max);
        // It takes what it was sent even when who sent it has died since, or waits no longer.
        world_.loop_.after(takes / 2, [this_world = &world_, body = std::move(request.body), taken = taken_,
                                       number = ++sent_, life = life_] {
            if (!this_world->alldata_fails())
                this_world->callback_taken(body, !life->over && life->leads), taken->insert(number);
        });
        loop_.after(std::min(takes, request.timeout), [this, takes, timeout = request.timeout, number = sent_,
                                                       done = std::move(done)] {
            if (takes > timeout) return done(fail(Code::unavailable, "no answer in time"));
            if (world_.time_.ticks_us() < world_.alldata_deaf_until_us_)
                return done(fail(Code::unavailable, "the connection broke"));
            done(wire::HttpResponse{.status = taken_->erase(number) ? 200 : 503, .body = {}, .headers = {}});
        });
    }

  private:
    Impl& world_;
    VirtualLoop& loop_;
    LifePtr life_;
    std::uint64_t sent_ = 0;
    std::shared_ptr<std::set<std::uint64_t>> taken_ = std::make_shared<std::set<std::uint64_t>>();
};

std::unique_ptr<wire::CallbackSender> World::Impl::make_alldata(SchedulerProcess& process) {
    return std::make_unique<AllData>(*this, process);
}

bool World::Impl::alldata_fails() {
    if (time_.ticks_us() < alldata_failing_until_us_) return rng_.below(4) != 0;
    return rng_.below(100) < static_cast<std::uint64_t>(weather_.callback_failures_percent);
}

void World::Impl::callback_taken(const std::string& body, bool sender_lives) {
    const auto view = codec::read_json<api::TaskView>(body);
    if (!view) return violate("callbacks", "unreadable: " + body);
    trace("alldata: " + view->task_id + " " + std::to_string(view->sequence) + " " + view->status);
    const auto known = durable_.find(view->task_id);
    if (known == durable_.end() || known->second.status->sequence < view->sequence)
        return violate("durability", view->task_id + ": AllData was told number " +
                                         std::to_string(view->sequence) + " before it was stored");
    auto& [last, status] = told_[view->task_id];
    if (view->sequence == last && view->status == status) return;  // at least once
    // it was under way when a successor said it again
    if (view->sequence <= last && !sender_lives) return;
    if (view->sequence != last + 1)
        return violate("callbacks", view->task_id + ": number " + std::to_string(view->sequence) + " after " +
                                        std::to_string(last));
    last = view->sequence;
    status = view->status;
}

}  // namespace crater::sim
