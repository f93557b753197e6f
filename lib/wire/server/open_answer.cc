#include "server/open_answer.h"

namespace crater::wire {

void OpenAnswer::wake_once(std::unique_lock<std::mutex>& lock) {
    if (std::exchange(woken_, true)) return;
    lock.unlock();
    wake_();
}

bool OpenAnswer::write(std::string chunk) {
    std::unique_lock lock(mutex_);
    if (!open_) return false;
    if (chunk.empty()) return true;
    const std::size_t queued = waiting_.size() + in_flight_;
    // One chunk of any size may stand alone.
    if (queued > 0 && queued + chunk.size() > bytes_max_) {
        open_ = false;
        overflow_ = true;
    } else if (waiting_.empty()) {
        waiting_ = std::move(chunk);
    } else {
        waiting_ += chunk;
    }
    if (overflow_) {  // at once: a write under way may never end
        lock.unlock();
        wake_();
        return false;
    }
    wake_once(lock);
    return true;
}

void OpenAnswer::close() {
    std::unique_lock lock(mutex_);
    if (!std::exchange(open_, false)) return;
    wake_once(lock);
}

void OpenAnswer::on_closed(std::function<void()> callback) {
    std::unique_lock lock(mutex_);
    if (!closed_) {
        callback_ = std::move(callback);
        return;
    }
    lock.unlock();
    post_(std::move(callback));
}

bool OpenAnswer::overflowed() {
    const std::scoped_lock lock(mutex_);
    return overflow_;
}

OpenAnswer::Taken OpenAnswer::take() {
    const std::scoped_lock lock(mutex_);
    woken_ = false;
    Taken out{std::move(waiting_), !open_};
    waiting_.clear();
    in_flight_ = out.bytes.size();
    return out;
}

void OpenAnswer::written() {
    const std::scoped_lock lock(mutex_);
    in_flight_ = 0;
}

void OpenAnswer::closed() {
    std::function<void()> callback;
    {
        const std::scoped_lock lock(mutex_);
        if (std::exchange(closed_, true)) return;
        open_ = false;
        waiting_.clear();
        callback = std::move(callback_);
        callback_ = nullptr;
    }
    if (callback) callback();
}

}  // namespace crater::wire
