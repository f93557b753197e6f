// What must be ended when its owner stops: connections, WebSockets, dials in progress.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace crater::wire {

// Both from any thread.
class Session {
  public:
    virtual ~Session() = default;
    virtual void finish() = 0;  // end soon, politely
    virtual void abort() = 0;   // end now
};

// A session is in it, and kept by it, from its beginning until its socket is closed. Thread-safe.
class Sessions {
  public:
    void add(const std::shared_ptr<Session>& session) {
        const std::scoped_lock lock(mutex_);
        all_.emplace(session.get(), session);
    }
    // The session's own call; its caller holds a pointer.
    void remove(Session* session) {
        std::shared_ptr<Session> last;  // dropped outside the lock
        const std::scoped_lock lock(mutex_);
        const auto it = all_.find(session);
        if (it == all_.end()) return;
        last = std::move(it->second);
        all_.erase(it);
        if (all_.empty()) empty_.notify_all();
    }
    std::size_t size() const {
        const std::scoped_lock lock(mutex_);
        return all_.size();
    }
    // Ends them all; returns when they are closed.
    void end(std::chrono::milliseconds grace) {
        if (grace.count() > 0) {
            for (const auto& session : all()) session->finish();
            std::unique_lock lock(mutex_);
            if (empty_.wait_for(lock, grace, [&] { return all_.empty(); })) return;
        }
        for (;;) {
            for (const auto& session : all()) session->abort();
            std::unique_lock lock(mutex_);
            // Again and again: one may have handed over to another just now.
            if (empty_.wait_for(lock, std::chrono::milliseconds(50), [&] { return all_.empty(); })) return;
        }
    }

  private:
    std::vector<std::shared_ptr<Session>> all() const {
        const std::scoped_lock lock(mutex_);
        std::vector<std::shared_ptr<Session>> out;
        for (const auto& [raw, session] : all_) out.push_back(session);
        return out;
    }

    mutable std::mutex mutex_;
    std::condition_variable empty_;
    std::unordered_map<Session*, std::shared_ptr<Session>> all_;
};

}  // namespace crater::wire
