#include <map>
#include <mutex>

#include "crater/store/store.h"

namespace crater::store {

// What is durable. `owner` counts the openings: only the last one may write.
struct MemoryDisk::State {
    std::mutex mutex;
    std::map<std::string, std::string, std::less<>> objects;
    std::map<std::uint64_t, HistoryRow> history;                                           // by sequence
    std::map<std::pair<std::string, std::string>, std::vector<std::uint64_t>> by_subject;  // (subject, kind)
    Revision revision = 0;
    std::uint64_t sequence = 0;
    std::uint64_t owner = 0;
    // Of a group that was begun and has no end mark: what its objects were before, and where history ended.
    struct Begun {
        std::vector<std::pair<std::string, std::optional<std::string>>> before;
        std::uint64_t sequence = 0;
    };
    std::optional<Begun> torn;

    void apply(Batch& batch) {
        for (Write& w : batch.writes) put(w);
        for (HistoryRow& row : batch.history) append(row);
        ++revision;
    }
    // Half of it.
    void tear(Batch& batch) {
        torn = Begun{{}, sequence};
        for (std::size_t i = 0; i < (batch.writes.size() + 1) / 2; ++i) {
            const auto old = objects.find(batch.writes[i].key);
            torn->before.emplace_back(batch.writes[i].key,
                                      old == objects.end() ? std::nullopt : std::optional(old->second));
            put(batch.writes[i]);
        }
        for (std::size_t i = 0; i < batch.history.size() / 2; ++i) append(batch.history[i]);
    }
    // What was begun and not ended is undone, newest first.
    void mend() {
        if (!torn) return;
        for (auto it = torn->before.rbegin(); it != torn->before.rend(); ++it) {
            Write old{it->first, std::move(it->second)};
            put(old);
        }
        while (!history.empty() && history.rbegin()->first > torn->sequence) {
            const HistoryRow& row = history.rbegin()->second;
            const auto subject = by_subject.find({row.subject, row.kind});
            subject->second.pop_back();
            if (subject->second.empty()) by_subject.erase(subject);
            history.erase(std::prev(history.end()));
        }
        sequence = torn->sequence;
        torn.reset();
    }

  private:
    void put(Write& w) {
        if (w.value)
            objects.insert_or_assign(std::move(w.key), std::move(*w.value));
        else
            objects.erase(w.key);
    }
    void append(HistoryRow& row) {
        row.sequence = ++sequence;
        by_subject[{row.subject, row.kind}].push_back(sequence);
        history.emplace(sequence, std::move(row));
    }
};

MemoryDisk::MemoryDisk() : state(std::make_shared<State>()) {}

namespace {

class MemoryStore final : public Store {
  public:
    MemoryStore(MemoryDisk& disk, Loop& loop, Millis latency)
        : disk_(disk),
          state_(disk.state),
          loop_(loop),
          latency_(latency),
          here_(std::make_shared<bool>(true)) {
        const std::scoped_lock lock(state_->mutex);
        owner_ = ++state_->owner;
        state_->mend();
    }

    void commit(Batch batch, std::function<void(Result<Revision>)> done) override {
        // The timer must not outlive us usefully: a destroyed store is a process that died with its batch in
        // flight.
        auto work = [this, alive = std::weak_ptr<bool>(here_), b = std::move(batch),
                     d = std::move(done)]() mutable {
            if (alive.expired()) return;
            Result<Revision> result = write(b);
            if (d) d(std::move(result));
        };
        loop_.after(latency_, std::move(work));
    }

    Result<void> for_each(std::string_view prefix, const Use& use) const override {
        const std::scoped_lock lock(state_->mutex);
        for (auto it = state_->objects.lower_bound(prefix);
             it != state_->objects.end() && it->first.starts_with(prefix); ++it)
            CRATER_TRY_VOID(use(it->first, it->second));
        return {};
    }

    Result<std::optional<std::string>> get(std::string_view key) const override {
        const std::scoped_lock lock(state_->mutex);
        const auto it = state_->objects.find(key);
        return it == state_->objects.end() ? std::optional<std::string>()
                                           : std::optional<std::string>(it->second);
    }

    Revision revision() const override {
        const std::scoped_lock lock(state_->mutex);
        return state_->revision;
    }

    Result<std::vector<HistoryRow>> history(const HistoryQuery& query) const override {
        const std::scoped_lock lock(state_->mutex);
        std::vector<HistoryRow> out;
        const auto take = [&](const HistoryRow& row) {  // false: enough
            if (out.size() >= query.limit) return false;
            const bool fits = (query.kind.empty() || row.kind == query.kind) &&
                              (query.subject.empty() || row.subject == query.subject);
            if (fits && row.sequence > query.after && (query.before == 0 || row.sequence < query.before))
                out.push_back(row);
            return true;
        };
        const auto walk = [&](auto first, auto last, auto row_of) {
            while (first != last && take(row_of(*first))) ++first;
        };
        if (!query.kind.empty() && !query.subject.empty()) {
            const auto it = state_->by_subject.find({query.subject, query.kind});
            if (it == state_->by_subject.end()) return out;
            const auto row_of = [&](std::uint64_t sequence) -> const HistoryRow& {
                return state_->history.at(sequence);
            };
            query.newest_first ? walk(it->second.rbegin(), it->second.rend(), row_of)
                               : walk(it->second.begin(), it->second.end(), row_of);
        } else {
            const auto row_of = [](const auto& item) -> const HistoryRow& { return item.second; };
            const auto& all = state_->history;
            query.newest_first ? walk(all.rbegin(), all.rend(), row_of)
                               : walk(all.upper_bound(query.after), all.end(), row_of);
        }
        return out;
    }

    Result<std::size_t> forget_history(std::string_view kind, Instant before) override {
        const std::scoped_lock lock(state_->mutex);
        return std::erase_if(state_->history, [&](const auto& item) {
            const HistoryRow& row = item.second;
            if (row.kind != kind || row.at >= before) return false;
            const auto it = state_->by_subject.find({row.subject, row.kind});
            std::erase(it->second, item.first);
            if (it->second.empty()) state_->by_subject.erase(it);
            return true;
        });
    }

  private:
    Result<Revision> write(Batch& batch) {
        if (!broken_ && disk_.fail_next_commits)
            broken_ = Error{Code::unavailable, "no room to write to the memory disk", {}, {}};
        if (broken_) return fail(*broken_);
        const std::scoped_lock lock(state_->mutex);
        if (state_->owner != owner_) {
            broken_ = Error{Code::conflict, "the memory disk was opened by another owner", {}, {}};
            return fail(*broken_);
        }
        if (disk_.tear_next_commit) {
            disk_.tear_next_commit = false;
            broken_ = Error{Code::unavailable, "the power went while the memory disk was written", {}, {}};
            state_->tear(batch);
            return fail(*broken_);
        }
        state_->apply(batch);
        return state_->revision;
    }

    MemoryDisk& disk_;
    const std::shared_ptr<MemoryDisk::State> state_;
    Loop& loop_;
    const Millis latency_;
    const std::shared_ptr<bool> here_;
    std::uint64_t owner_ = 0;
    std::optional<Error> broken_;
};

}  // namespace

std::unique_ptr<Store> open_memory(MemoryDisk& disk, Loop& loop, Millis latency) {
    return std::make_unique<MemoryStore>(disk, loop, latency);
}

}  // namespace crater::store
