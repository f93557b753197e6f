#include "crater/wire/link.h"

namespace crater::wire {
namespace {

// Lives on the owner's loop; the socket's callbacks only post to it. The owner's pointers keep it.
class WebSocketLink final : public Link, public std::enable_shared_from_this<WebSocketLink> {
  public:
    WebSocketLink(Loop& loop, WebSocketPtr socket, LinkCallbacks callbacks)
        : loop_(loop), socket_(std::move(socket)), callbacks_(std::move(callbacks)) {}

    ~WebSocketLink() override { socket_->close(); }

    void start() {
        const std::weak_ptr<WebSocketLink> weak = weak_from_this();
        socket_->start(
            [weak, &loop = loop_](std::string message) {
                loop.post([weak, m = std::move(message)]() mutable {
                    const auto self = weak.lock();
                    if (self && self->open_ && self->callbacks_.on_message)
                        self->callbacks_.on_message(std::move(m));
                });
            },
            [weak, &loop = loop_] {
                loop.post([weak] {
                    const auto self = weak.lock();
                    if (!self || !std::exchange(self->open_, false)) return;
                    const LinkCallbacks callbacks = std::exchange(self->callbacks_, {});
                    if (callbacks.on_closed)
                        callbacks.on_closed("the connection to " + self->peer() + " closed");
                });
            });
    }

    void send(std::string message) override {
        if (open_) socket_->send(std::move(message));
    }
    void close() override {
        if (!std::exchange(open_, false)) return;
        socket_->close();
        // We may be inside one of them.
        loop_.post([callbacks = std::make_shared<LinkCallbacks>(std::exchange(callbacks_, {}))] {});
    }
    // Nothing of ours runs any more.
    void forget() { open_ = false; }
    std::string peer() const override { return socket_->remote(); }

  private:
    Loop& loop_;
    const WebSocketPtr socket_;
    LinkCallbacks callbacks_;
    bool open_ = true;
};

class WebSocketConnector final : public Connector {
  public:
    WebSocketConnector(Loop& loop, std::vector<std::string> endpoints, const std::string& token,
                       Millis timeout, std::string path, ClientOptions options)
        : loop_(loop),
          endpoints_(std::move(endpoints)),
          timeout_(timeout),
          path_(std::move(path)),
          dialer_(std::move(options)) {
        CRATER_CHECK(!endpoints_.empty());
        if (!token.empty()) headers_.emplace_back("Authorization", "Bearer " + token);
    }
    ~WebSocketConnector() override {
        *alive_ = false;
        for (const auto& weak : links_)
            if (const auto link = weak.lock()) link->forget();
    }

    void connect(LinkCallbacks callbacks, std::function<void(Result<std::shared_ptr<Link>>)> done) override {
        const std::string endpoint = url_of(endpoints_[next_++ % endpoints_.size()]);
        const auto answer = std::make_shared<std::function<void(Result<WebSocketPtr>)>>(
            [this, callbacks = std::move(callbacks),
             done = std::move(done)](Result<WebSocketPtr> socket) mutable {
                if (!socket) return done(fail(std::move(socket.error())));
                auto link = std::make_shared<WebSocketLink>(loop_, std::move(*socket), std::move(callbacks));
                std::erase_if(links_, [](const auto& weak) { return weak.expired(); });
                links_.push_back(link);
                done(std::shared_ptr<Link>(link));
                link->start();
            });
        const auto tell = [&loop = loop_, alive = alive_, answer](Result<WebSocketPtr> socket) {
            loop.post([alive, answer, s = std::move(socket)]() mutable {
                if (*alive) (*answer)(std::move(s));
            });
        };
        dialer_.dial(
            endpoint, headers_, timeout_, [tell](WebSocketPtr socket) { tell(std::move(socket)); },
            [tell](Error error) { tell(fail(std::move(error))); });
    }

  private:
    std::string url_of(const std::string& endpoint) const {
        const auto url = parse_url(endpoint);
        if (!url || url->target != "/") return endpoint;
        return (endpoint.ends_with('/') ? endpoint.substr(0, endpoint.size() - 1) : endpoint) + path_;
    }

    Loop& loop_;
    const std::vector<std::string> endpoints_;
    std::vector<std::pair<std::string, std::string>> headers_;
    const Millis timeout_;
    const std::string path_;
    std::size_t next_ = 0;
    std::vector<std::weak_ptr<WebSocketLink>> links_;
    const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // read and written on the loop only
    WebSocketDialer dialer_;                                            // last: its end calls back
};

}  // namespace

std::unique_ptr<Connector> websocket_connector(Loop& loop, std::vector<std::string> endpoints,
                                               std::string token, Millis timeout, std::string path,
                                               ClientOptions options) {
    return std::make_unique<WebSocketConnector>(loop, std::move(endpoints), token, timeout, std::move(path),
                                                std::move(options));
}

std::shared_ptr<Link> websocket_link(Loop& loop, WebSocketPtr socket, LinkCallbacks callbacks) {
    auto link = std::make_shared<WebSocketLink>(loop, std::move(socket), std::move(callbacks));
    link->start();
    return link;
}

}  // namespace crater::wire
