// An IO thread and what runs on it. Each connection belongs to one IO thread for its life, which is its
// strand.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "crater/base/error.h"
#include "crater/base/quantity.h"

namespace crater::wire {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<Tcp, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;
using SteadyTime = std::chrono::steady_clock::time_point;

// Whoever has IO objects holds the IoThread too, so that it outlives them; its owner calls `finish`.
class IoThread {
  public:
    IoThread() : guard_(context.get_executor()), thread_([this] { context.run(); }) {}
    IoThread(const IoThread&) = delete;
    ~IoThread() { finish(); }

    // Waits until nothing is left to do; whoever calls it has closed or cancelled everything.
    void finish() {
        guard_.reset();
        if (!thread_.joinable()) return;
        CRATER_CHECK(thread_.get_id() != std::this_thread::get_id(), "an IO thread cannot wait for itself");
        thread_.join();
    }
    Executor executor() { return context.get_executor(); }

    asio::io_context context{1};

  private:
    asio::executor_work_guard<Executor> guard_;
    std::thread thread_;
};

}  // namespace crater::wire
