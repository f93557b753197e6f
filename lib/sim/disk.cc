#include "disk.h"

#include <algorithm>

namespace crater::sim {
namespace {

constexpr std::uint64_t slow_commit_ms = 3'000;

}  // namespace

// One process's view. It ends with its process, whatever is still under way.
class Disk::Opened final : public store::Store {
  public:
    Opened(Disk& disk, Loop& loop, LifePtr life)
        : disk_(disk), loop_(loop), life_(std::move(life)), inner_(store::open_memory(disk.disk_, loop)) {}

    void commit(store::Batch batch, std::function<void(Result<store::Revision>)> done) override {
        if (life_->over) return;
        if (cut() == Cut::before_write) {
            disk_.cut_ = Cut::none;
            life_->over = true;
            return;
        }
        const std::uint64_t most =
            disk_.slow() ? slow_commit_ms : static_cast<std::uint64_t>(disk_.latency_max.count());
        due_us_ = std::max(
            due_us_, disk_.time_.ticks_us() + static_cast<std::int64_t>(disk_.rng_.below(most + 1)) * 1000);
        loop_.after(Millis((due_us_ - disk_.time_.ticks_us()) / 1000),
                    [this, batch = std::move(batch), done = std::move(done)]() mutable {
                        write(std::move(batch), std::move(done));
                    });
    }

    Result<void> for_each(std::string_view prefix, const Use& use) const override {
        if (bad_read()) return fail(Code::unavailable, "the disk cannot be read");
        return inner_->for_each(prefix, use);
    }
    Result<std::optional<std::string>> get(std::string_view key) const override { return inner_->get(key); }
    store::Revision revision() const override { return inner_->revision(); }
    Result<std::vector<store::HistoryRow>> history(const store::HistoryQuery& query) const override {
        return inner_->history(query);
    }
    Result<std::size_t> forget_history(std::string_view kind, Instant before) override {
        return inner_->forget_history(kind, before);
    }

  private:
    Cut cut() const { return life_->leads ? disk_.cut_ : Cut::none; }
    bool bad_read() const { return disk_.failing() && disk_.rng_.below(16) == 0; }

    void write(store::Batch batch, std::function<void(Result<store::Revision>)> done) {
        if (life_->over) return;
        if (broken_) return done(fail(*broken_));
        const bool torn = cut() == Cut::torn;
        // A disk that fails may have written it all the same.
        const bool fails = !torn && disk_.failing() && disk_.rng_.below(2) == 0;
        if (fails) broken_ = Error{Code::unavailable, "the disk has an error", {}, {}};
        if (fails && disk_.rng_.below(2) == 0) return done(fail(*broken_));
        if (torn) {
            disk_.cut_ = Cut::none;
            disk_.disk_.tear_next_commit = true;
            torn_ = true;
        }
        auto durable = disk_.hooks_.handed_in(batch);
        inner_->commit(std::move(batch), [this, fails, durable = std::move(durable),
                                          done = std::move(done)](Result<store::Revision> revision) {
            if (revision) {
                durable();
                ++disk_.commits;
            }
            if (torn_ || cut() == Cut::before_reply) {
                disk_.cut_ = Cut::none;
                life_->over = true;
                return;
            }
            const bool last = cut() == Cut::after_reply;
            if (fails)
                done(crater::fail(*broken_));
            else
                done(std::move(revision));
            if (!last) return;
            disk_.cut_ = Cut::none;
            life_->over = true;
        });
    }

    Disk& disk_;
    Loop& loop_;
    LifePtr life_;
    std::unique_ptr<store::Store> inner_;
    std::int64_t due_us_ = 0;  // of the last commit: later ones come later
    std::optional<Error> broken_;
    bool torn_ = false;  // the power goes in what is written now
};

std::unique_ptr<store::Store> Disk::open(Loop& loop, LifePtr life) {
    cut_ = Cut::none;
    disk_.tear_next_commit = false;
    make_room();
    return std::make_unique<Opened>(*this, loop, std::move(life));
}

}  // namespace crater::sim
