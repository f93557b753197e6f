#include "crater/wire/link.h"

namespace crater::wire {
namespace {

// A WebSocket message is a bundle: what one turn of the sender's loop said, each message after its length in
// four bytes, the lowest first. So a burst costs one system call on either side and wakes the receiver once.
constexpr std::size_t length_bytes = 4;
constexpr std::size_t bundle_bytes_max = 64u << 10;  // a larger message goes alone

void add_to_bundle(std::string& bundle, std::string_view message) {
    const auto length = static_cast<std::uint32_t>(message.size());
    for (std::size_t i = 0; i < length_bytes; ++i) bundle += static_cast<char>(length >> (8 * i));
    bundle += message;
}

// Takes the first message off; nothing when the rest is none.
std::optional<std::string> take_from_bundle(std::string_view& bundle) {
    if (bundle.size() < length_bytes) return std::nullopt;
    std::uint32_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i)
        length |= std::uint32_t{static_cast<unsigned char>(bundle[i])} << (8 * i);
    bundle.remove_prefix(length_bytes);
    if (bundle.size() < length) return std::nullopt;
    std::string message(bundle.substr(0, length));
    bundle.remove_prefix(length);
    return message;
}

// Lives on the owner's loop; the socket's callbacks only post to it. The owner's pointers keep it.
class WebSocketLink final : public Link, public std::enable_shared_from_this<WebSocketLink> {
  public:
    WebSocketLink(Loop& loop, WebSocketPtr socket, LinkCallbacks callbacks)
        : loop_(loop), socket_(std::move(socket)), callbacks_(std::move(callbacks)) {}

    ~WebSocketLink() override { close_socket(); }

    void start() {
        const std::weak_ptr<WebSocketLink> weak = weak_from_this();
        socket_->start(
            [weak, &loop = loop_](std::string message) {
                loop.post([weak, m = std::move(message)]() mutable {
                    if (const auto self = weak.lock()) self->take(m);
                });
            },
            [weak, &loop = loop_] {
                loop.post([weak] {
                    if (const auto self = weak.lock())
                        self->end("the connection to " + self->peer() + " closed");
                });
            });
    }

    void send(std::string message) override {
        if (!open_) return;
        if (out_.size() + message.size() > bundle_bytes_max) flush();
        add_to_bundle(out_, message);
        if (std::exchange(flush_posted_, true)) return;
        loop_.post([weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->flush();
        });
    }
    void close() override {
        if (!std::exchange(open_, false)) return;
        close_socket();
        // We may be inside one of them.
        loop_.post([callbacks = std::make_shared<LinkCallbacks>(std::exchange(callbacks_, {}))] {});
    }
    // Nothing of ours runs any more.
    void forget() { open_ = false; }
    std::string peer() const override { return socket_->remote(); }

  private:
    void take(std::string_view bundle) {
        while (open_ && !bundle.empty()) {
            auto message = take_from_bundle(bundle);
            if (!message) {
                socket_->close();
                return end(peer() + " sent something that is no bundle of messages: is it of this version?");
            }
            if (callbacks_.on_message) callbacks_.on_message(std::move(*message));
        }
    }

    void end(const std::string& why) {
        if (!std::exchange(open_, false)) return;
        const LinkCallbacks callbacks = std::exchange(callbacks_, {});
        if (callbacks.on_closed) callbacks.on_closed(why);
    }

    void flush() {
        flush_posted_ = false;
        if (!out_.empty()) socket_->send(std::exchange(out_, {}));
    }

    // What was said before is still sent.
    void close_socket() {
        flush();
        socket_->close();
    }

    Loop& loop_;
    const WebSocketPtr socket_;
    LinkCallbacks callbacks_;
    std::string out_;  // the bundle of this turn
    bool open_ = true, flush_posted_ = false;
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
