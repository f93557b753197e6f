// IO through io_uring. The only user of liburing here; without it at build time there is no ring.
#include <algorithm>
#include <cerrno>
#include <iterator>

#include "calibrate/disk_load.h"

#if CRATER_HAVE_LIBURING
#include <liburing.h>
#endif

namespace crater::hw {

#if CRATER_HAVE_LIBURING
namespace {

class LoadRing {
  public:
    explicit LoadRing(int depth) : open_(io_uring_queue_init(static_cast<unsigned>(depth), &ring_, 0) == 0) {}
    ~LoadRing() {
        if (open_) io_uring_queue_exit(&ring_);
    }
    LoadRing(const LoadRing&) = delete;
    LoadRing& operator=(const LoadRing&) = delete;
    bool open() const { return open_; }
    io_uring* get() { return &ring_; }

  private:
    io_uring ring_{};
    bool open_;
};

}  // namespace

bool uring_job(int fd, const LoadShape& shape, LoadBudget& budget, LoadOffsets offsets, LoadCount& count) {
    LoadRing ring(shape.depth);
    if (!ring.open()) return false;
    const LoadBuffer buffer(shape.block * shape.depth, 1);
    const auto submit = [&](std::uint64_t slot) {
        io_uring_sqe* entry = io_uring_get_sqe(ring.get());
        CRATER_CHECK(entry != nullptr);
        char* at = buffer.data + static_cast<std::int64_t>(slot) * shape.block;
        const auto size = static_cast<unsigned>(shape.block);
        const auto offset = static_cast<std::uint64_t>(offsets.next());
        if (shape.write)
            io_uring_prep_write(entry, fd, at, size, offset);
        else
            io_uring_prep_read(entry, fd, at, size, offset);
        io_uring_sqe_set_data64(entry, slot);
    };

    int flying = 0;
    std::int64_t now = budget.now();
    for (int slot = 0; slot < shape.depth && budget.take(now); ++slot, ++flying)
        submit(static_cast<std::uint64_t>(slot));
    while (flying > 0) {
        if (const int code = io_uring_submit_and_wait(ring.get(), 1); code < 0 && code != -EINTR) {
            count.fail_with("io_uring_enter", -code);
            return true;  // closing the ring ends what still flies
        }
        now = budget.now();
        io_uring_cqe* entries[64];
        const unsigned ready = io_uring_peek_batch_cqe(ring.get(), entries, std::size(entries));
        for (unsigned i = 0; i < ready; ++i) {
            --flying;
            if (entries[i]->res != shape.block && !count.failed)
                count.fail_with(shape.write ? "a write" : "a read",
                                entries[i]->res < 0 ? -entries[i]->res : EIO);
            count.done(shape, budget, now);
            if (count.failed || !budget.take(now)) continue;
            submit(entries[i]->user_data);
            ++flying;
        }
        io_uring_cq_advance(ring.get(), ready);
    }
    return true;
}
#else
bool uring_job(int, const LoadShape&, LoadBudget&, LoadOffsets, LoadCount&) { return false; }
#endif

}  // namespace crater::hw
