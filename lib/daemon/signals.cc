#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "crater/daemon/daemon.h"

namespace crater::daemon {

// A thread of its own waits for the signals, which all other threads have blocked: nothing runs inside a
// signal handler.
struct Signals::State {
    Loop& loop;
    std::function<void()> on_stop, on_reload;
    sigset_t set{};
    std::atomic<bool> ending = false;
    std::thread thread;

    void wait() {
        bool stopping = false;
        for (;;) {
            int signal = 0;
            sigwait(&set, &signal);
            if (ending) return;
            if (signal == SIGHUP) {
                if (on_reload) loop.post(on_reload);
            } else if (stopping) {
                _exit(130);
            } else {
                stopping = true;
                loop.post(on_stop);
            }
        }
    }
};

Signals::Signals(Loop& loop, std::function<void()> on_stop, std::function<void()> on_reload)
    : state_(new State{loop, std::move(on_stop), std::move(on_reload), {}, {}, {}}) {
    sigemptyset(&state_->set);
    for (int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&state_->set, signal);
    pthread_sigmask(SIG_BLOCK, &state_->set, nullptr);
    signal(SIGPIPE, SIG_IGN);
    state_->thread = std::thread([state = state_.get()] { state->wait(); });
}

Signals::~Signals() {
    state_->ending = true;
    pthread_kill(state_->thread.native_handle(), SIGHUP);
    state_->thread.join();
}

}  // namespace crater::daemon
