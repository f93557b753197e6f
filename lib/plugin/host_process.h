// One plugin's process, seen from the scheduler: started, talked to, ended. Owns the process, its socket and
// the memory shared with it; nothing of it outlives this object. On the caller's thread; nothing here waits
// longer than it is told to.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>

#include "crater/base/error.h"
#include "crater/plugin/protocol.h"

namespace crater::plugin {

class Fd {
  public:
    explicit Fd(int fd = -1) : fd_(fd) {}
    ~Fd() { reset(); }
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    void reset();

  private:
    int fd_;
};

class HostProcess {
  public:
    struct Command {
        std::string host;    // the program
        std::string name;    // of the plugin
        std::string file;    // NAME.so
        std::string config;  // NAME.conf; need not exist
    };
    // Does not wait for the plugin to be loaded: its Hello comes when it is.
    static Result<std::unique_ptr<HostProcess>> start(const Command& command);
    ~HostProcess();
    HostProcess(const HostProcess&) = delete;
    HostProcess& operator=(const HostProcess&) = delete;

    enum class Got { packet, nothing, end };
    Got receive(Hello& hello) { return receive(&hello, sizeof hello, 0); }
    Got receive(Answer& answer, std::int64_t wait_us) { return receive(&answer, sizeof answer, wait_us); }
    bool send(const Ask& ask);
    // Whether there is anything to receive, within the time.
    bool readable(std::int64_t wait_us) const;
    std::span<std::byte> memory() { return {memory_, shared_bytes}; }

    // How the process ended, for people: "crashed: Segmentation fault (signal 11)". Ends what still runs.
    std::string end();
    // Asks it to end in peace; it is gone when `gone` says so.
    void retire();
    bool gone();
    bool wait_gone(std::int64_t wait_us);

    pid_t pid() const { return pid_; }

  private:
    HostProcess() = default;
    Got receive(void* packet, std::size_t size, std::int64_t wait_us);
    Result<void> make_memory();
    Result<void> spawn(const Command& command, const Fd& its_end);
    void reap();

    pid_t pid_ = 0;
    bool reaped_ = false;
    int status_ = 0;
    Fd socket_, memory_fd_;
    std::byte* memory_ = nullptr;
};

}  // namespace crater::plugin
