// The state that an open answer (HttpStream) shares between its writers, on any thread, and its connection,
// on the IO thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "crater/wire/http.h"

namespace crater::wire {

class OpenAnswer : public std::enable_shared_from_this<OpenAnswer> {
  public:
    // `wake` makes the connection call `take` soon, on its IO thread; `post` runs a task there.
    OpenAnswer(std::size_t bytes_max, std::function<void()> wake,
               std::function<void(std::function<void()>)> post)
        : bytes_max_(bytes_max), wake_(std::move(wake)), post_(std::move(post)) {}

    // The writers' side.
    bool write(std::string chunk);
    void close();
    void on_closed(std::function<void()> callback);

    // The connection's side.
    struct Taken {
        std::string bytes;
        bool end = false;  // nothing follows
    };
    bool overflowed();  // the reader is too slow
    Taken take();       // what waits; it counts as queued until `written`
    void written();
    void closed();  // runs the callback, once

  private:
    void wake_once(std::unique_lock<std::mutex>& lock);

    const std::size_t bytes_max_;
    const std::function<void()> wake_;
    const std::function<void(std::function<void()>)> post_;
    std::mutex mutex_;
    std::string waiting_;
    std::size_t in_flight_ = 0;
    bool open_ = true, overflow_ = false, woken_ = false, closed_ = false;
    std::function<void()> callback_;
};

// What the handler holds. Dropped, it closes.
class OpenAnswerHandle final : public HttpStream {
  public:
    explicit OpenAnswerHandle(std::shared_ptr<OpenAnswer> answer) : answer_(std::move(answer)) {}
    ~OpenAnswerHandle() override { answer_->close(); }
    bool write(std::string chunk) override { return answer_->write(std::move(chunk)); }
    void close() override { answer_->close(); }
    void on_closed(std::function<void()> callback) override { answer_->on_closed(std::move(callback)); }

  private:
    const std::shared_ptr<OpenAnswer> answer_;
};

}  // namespace crater::wire
