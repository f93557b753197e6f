#include "crater/wire/callback.h"

#include <openssl/evp.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace crater::wire {
namespace {

class ThreadedSender final : public CallbackSender {
  public:
    ThreadedSender(Loop& loop, int threads) : loop_(loop) {
        for (int i = 0; i < std::max(1, threads); ++i) clients_.push_back(std::make_unique<HttpClient>());
        for (const auto& client : clients_) threads_.emplace_back([this, c = client.get()] { work(*c); });
    }
    // What was not delivered is answered with Code::cancelled.
    ~ThreadedSender() override {
        std::deque<Waiting> undelivered;
        {
            const std::scoped_lock lock(mutex_);
            stopped_ = true;
            undelivered.swap(queue_);
        }
        wake_.notify_all();
        for (const auto& client : clients_) client->cancel();
        for (auto& thread : threads_) thread.join();
        for (Waiting& w : undelivered) answer(std::move(w), fail(Code::cancelled, "the sender was closed"));
    }

    void send(ClientRequest request, std::function<void(Result<HttpResponse>)> done) override {
        {
            const std::scoped_lock lock(mutex_);
            queue_.push_back({std::move(request), std::move(done)});
        }
        wake_.notify_one();
    }

  private:
    struct Waiting {
        ClientRequest request;
        std::function<void(Result<HttpResponse>)> done;
    };

    void work(HttpClient& client) {
        for (;;) {
            Waiting next;
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [&] { return stopped_ || !queue_.empty(); });
                if (stopped_) return;
                next = std::move(queue_.front());
                queue_.pop_front();
            }
            auto result = client.send(next.request);
            answer(std::move(next), std::move(result));
        }
    }

    void answer(Waiting waiting, Result<HttpResponse> result) {
        loop_.post([done = std::move(waiting.done), r = std::move(result)]() mutable { done(std::move(r)); });
    }

    Loop& loop_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Waiting> queue_;
    bool stopped_ = false;
    std::vector<std::unique_ptr<HttpClient>> clients_;
    std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<CallbackSender> make_callback_sender(Loop& loop, int threads) {
    return std::make_unique<ThreadedSender>(loop, threads);
}

std::string basic_authorization(std::string_view username, std::string_view password) {
    const std::string plain = std::string(username) + ":" + std::string(password);
    std::string out((plain.size() + 2) / 3 * 4 + 1, '\0');
    const int size =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                        reinterpret_cast<const unsigned char*>(plain.data()), static_cast<int>(plain.size()));
    out.resize(static_cast<std::size_t>(size));
    return "Basic " + out;
}

}  // namespace crater::wire
