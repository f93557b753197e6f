// Delivers one HTTP request to somebody else's server, off the loop. The outbox that repeats, orders and
// remembers is the scheduler's.
#pragma once

#include <functional>
#include <memory>

#include "crater/base/clock.h"
#include "crater/wire/http.h"

namespace crater::wire {

class CallbackSender {
  public:
    virtual ~CallbackSender() = default;
    // `done` is posted to the owner's loop: the answer, or why there was none.
    virtual void send(ClientRequest request, std::function<void(Result<HttpResponse>)> done) = 0;
};
// A few threads with a connection each.
std::unique_ptr<CallbackSender> make_callback_sender(Loop& loop, int threads = 2);

std::string basic_authorization(std::string_view username, std::string_view password);

}  // namespace crater::wire
