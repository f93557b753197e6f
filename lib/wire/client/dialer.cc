#include <boost/asio/post.hpp>

#include "client/connect.h"
#include "net/websocket.h"

namespace crater::wire {
namespace {

// One attempt: connect, ask for the upgrade, within one deadline. Lives on the IO thread.
class Dial final : public Session, public std::enable_shared_from_this<Dial> {
  public:
    Dial(WebSocketPlace place, Url url, UpgradeAsk ask, std::function<void(WebSocketPtr)> on_open,
         std::function<void(Error)> on_failed)
        : place_(std::move(place)),
          url_(std::move(url)),
          ask_(std::move(ask)),
          on_open_(std::move(on_open)),
          on_failed_(std::move(on_failed)),
          timer_(place_.io->executor()) {}

    void start(TlsContext tls, Millis timeout) {
        place_.sessions->add(shared_from_this());
        asio::post(place_.io->executor(),
                   [self = shared_from_this(), tls = std::move(tls), timeout] { self->begin(tls, timeout); });
    }
    void finish() override { abort(); }
    void abort() override {
        asio::post(place_.io->executor(), [self = shared_from_this()] {
            self->give_up_with({Code::cancelled, "the connection was given up", {}, {}});
        });
    }

  private:
    void begin(const TlsContext& tls, Millis timeout) {
        if (over_) return;
        timer_.expires_after(timeout);
        timer_.async_wait([self = shared_from_this()](ErrorCode ec) {
            if (!ec)
                self->give_up_with(
                    {Code::timeout, "no WebSocket to " + self->place_.remote + " in time", {}, {}});
        });
        connecting_ =
            connect(place_.io->executor(), url_, tls, [self = shared_from_this()](Result<Stream> stream) {
                if (self->over_) return;
                if (!stream) return self->end_with(std::move(stream.error()));
                self->asking_ = ask_websocket(self->place_, std::move(*stream), std::move(self->ask_),
                                              [self](Result<WebSocketPtr> socket) {
                                                  if (self->over_) {
                                                      if (socket) (*socket)->close();
                                                      return;
                                                  }
                                                  if (!socket)
                                                      return self->end_with(std::move(socket.error()));
                                                  self->end();
                                                  const auto on_open = std::exchange(self->on_open_, nullptr);
                                                  self->on_failed_ = nullptr;
                                                  on_open(std::move(*socket));
                                              });
            });
    }

    void give_up_with(Error error) {
        if (over_) return;
        if (connecting_) wire::give_up(*connecting_);
        if (asking_) asking_->abort();
        end_with(std::move(error));
    }
    void end_with(Error error) {
        end();
        on_open_ = nullptr;
        const auto on_failed = std::exchange(on_failed_, nullptr);
        on_failed(std::move(error));
    }
    void end() {
        over_ = true;
        timer_.cancel();
        connecting_.reset();
        asking_.reset();
        place_.sessions->remove(this);
    }

    const WebSocketPlace place_;
    const Url url_;
    UpgradeAsk ask_;
    std::function<void(WebSocketPtr)> on_open_;
    std::function<void(Error)> on_failed_;
    Timer timer_;
    std::shared_ptr<Connecting> connecting_;
    std::shared_ptr<Session> asking_;
    bool over_ = false;
};

}  // namespace

struct WebSocketDialer::State {
    explicit State(ClientOptions o) : options(std::move(o)) {}
    ~State() {
        sessions->end(Millis(0));
        io->finish();
    }

    Result<void> dial(const std::string& text, std::vector<std::pair<std::string, std::string>> headers,
                      Millis timeout, std::function<void(WebSocketPtr)> on_open,
                      const std::function<void(Error)>& on_failed) {
        CRATER_TRY(url, parse_url(text));
        TlsContext context;
        if (is_secure(url)) {
            CRATER_TRY(made, client_tls(options.ca_file));
            context = std::move(made);
        }
        WebSocketPlace place{io, sessions, options.websocket, authority(url)};
        UpgradeAsk ask{authority(url), url.target, std::move(headers)};
        std::make_shared<Dial>(std::move(place), url, std::move(ask), std::move(on_open), on_failed)
            ->start(std::move(context), timeout);
        return {};
    }

    const ClientOptions options;
    const std::shared_ptr<Sessions> sessions = std::make_shared<Sessions>();
    const std::shared_ptr<IoThread> io = std::make_shared<IoThread>();
};

WebSocketDialer::WebSocketDialer(ClientOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}
WebSocketDialer::~WebSocketDialer() = default;

void WebSocketDialer::dial(const std::string& url, std::vector<std::pair<std::string, std::string>> headers,
                           Millis timeout, std::function<void(WebSocketPtr)> on_open,
                           std::function<void(Error)> on_failed) {
    auto begun = state_->dial(url, std::move(headers), timeout, std::move(on_open), on_failed);
    if (begun) return;
    asio::post(state_->io->executor(),
               [on_failed = std::move(on_failed), error = std::move(begun.error())] { on_failed(error); });
}

}  // namespace crater::wire
