// Sends what is in the outbox.
#include "crater/base/log.h"
#include "crater/scheduler/task_view.h"
#include "impl.h"
#include "metrics.h"

namespace crater::scheduler {
namespace {

constexpr int callbacks_at_once = 8;
constexpr Millis callback_lifetime{24ll * 3600 * 1000};
constexpr std::size_t answer_shown = 200;

std::string outbox_key(const char* kind, const std::string& task_id, std::int64_t sequence) {
    return std::string(kind) + "/" + task_id + "/" + padded(sequence);
}

}  // namespace

// The number rises with every status; the row is written with the change itself.
void Scheduler::Impl::tell_alldata(Job& job) {
    const std::string task_id(job.fixed->task_id());
    if (task_id.empty()) return;
    const std::string name(alldata_name(job.status().state, job.status().reason));
    if (name == job.s().told) return;
    job.edit().told = name;
    JobStatus& status = job.change();
    ++status.sequence;
    if (!callbacks_on_) return;
    const NodeInventory* inventory = nullptr;
    if (const auto& held = status.tasks.front().allocation)
        if (const Node* node = find_node(held->node)) inventory = node->inventory.get();
    api::TaskView view = task_view(status, inventory);
    view.at = now();
    Outbox::Item item{status.sequence, {.at = now(), .body = stored_text(view), .detail = {}}};
    write(outbox_key("outbox", task_id, item.sequence), stored_value(item.callback));
    when_durable([this, task_id, item = std::move(item)] {
        outbox_.add(task_id, item, now());
        pump_callbacks();
    });
}

void Scheduler::Impl::pump_callbacks() {
    if (!callbacks_on_ || stopped_) return;
    while (outbox_.under_way() < callbacks_at_once) {
        const auto task_id = outbox_.take(now());
        if (!task_id) break;
        send_callback(*task_id);
    }
    if (env_.metrics) env_.metrics->set(metric::callbacks_waiting, static_cast<double>(outbox_.waiting()));
    const Instant next = outbox_.next_due();
    if (!next || outbox_.under_way() >= callbacks_at_once || (callback_timer_ && callback_armed_ <= next))
        return;
    env_.loop.cancel(callback_timer_);
    callback_armed_ = next;
    callback_timer_ = env_.loop.after(std::max(Millis(0), next - now()), [this] {
        callback_timer_ = 0;
        pump_callbacks();
    });
}

void Scheduler::Impl::send_callback(const std::string& task_id) {
    const Outbox::Item& item = outbox_.front(task_id);
    wire::ClientRequest request{.method = "POST",
                                .url = callback_url_,
                                .headers = {{"Content-Type", "application/json"}},
                                .body = item.callback.body};
    if (!callback_authorization_.empty())
        request.headers.emplace_back("Authorization", callback_authorization_);
    if (config_.alldata.callback) request.timeout = config_.alldata.callback->timeout;
    env_.callbacks->send(std::move(request), [this, alive = alive_, task_id,
                                              sequence = item.sequence](Result<wire::HttpResponse> answer) {
        if (*alive) callback_answered(task_id, sequence, std::move(answer));
    });
}

void Scheduler::Impl::callback_answered(const std::string& task_id, std::int64_t sequence,
                                        Result<wire::HttpResponse> answer) {
    if (broken_) return;
    const Outbox::Item& item = outbox_.front(task_id);
    CRATER_CHECK(item.sequence == sequence);
    const bool taken = answer && answer->status >= 200 && answer->status < 300;
    std::string why;
    if (!answer)
        why = answer.error().text();
    else if (!taken)
        why = "status " + std::to_string(answer->status) + " " + answer->body.substr(0, answer_shown);
    const bool hopeless =
        !taken && ((answer && answer->status == 410) || item.callback.at + callback_lifetime < now());
    if (env_.metrics)
        env_.metrics->add(metric::callbacks_sent, 1, {taken ? "taken" : hopeless ? "given_up" : "failed"});
    if (taken || hopeless) {
        erase(outbox_key("outbox", task_id, sequence));
        if (hopeless) {
            log::error("a status callback was given up",
                       {{"task_id", task_id}, {"sequence", sequence}, {"why", why}});
            StoredCallback dead = item.callback;
            dead.detail = why;
            write(outbox_key("dead", task_id, sequence), stored_value(dead));
            ++outbox_.dead;
        }
        problems_changed_ = problems_changed_ || hopeless;
        // The next of this task goes out only when this one is durably gone: a crash may repeat the last,
        // never an older one.
        when_durable([this, task_id] {
            // before: this may have been the last that failed
            problems_changed_ = problems_changed_ || outbox_.failing().tasks;
            outbox_.done(task_id, now());
            wake();
            pump_callbacks();
        });
    } else {
        log::warning("a status callback failed",
                     {{"task_id", task_id}, {"sequence", sequence}, {"why", why}});
        outbox_.failed(task_id, why, now(), env_.rng);
        problems_changed_ = true;
        wake();
    }
    pump_callbacks();
}

}  // namespace crater::scheduler
