// The durable store. One writer thread owns the only writing connection: it drains the queue of batches into
// one transaction, so a burst costs one fsync; callers' reads use connections of their own, which WAL lets
// run beside it.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "crater/base/ids.h"
#include "crater/store/look.h"
#include "crater/store/store.h"
#include "lock_file.h"
#include "sqlite_connection.h"
#include "sqlite_layout.h"

namespace crater::store {
namespace {

constexpr std::size_t forget_chunk = 500;  // rows in one transaction, so that commits wait little

std::int64_t digest_of(std::string_view key, std::string_view value) {
    return static_cast<std::int64_t>(hash64(value, hash64(key)));
}

// The smallest text greater than every text with this prefix; empty when there is none.
std::string end_of_prefix(std::string_view prefix) {
    std::string end(prefix);
    while (!end.empty() && end.back() == '\xff') end.pop_back();
    if (!end.empty()) ++end.back();
    return end;
}

Result<void> check_digest(const std::string& path, std::string_view key, std::string_view value,
                          std::int64_t digest) {
    if (digest_of(key, value) == digest) return {};
    return fail(
        Code::internal,
        "the store " + path + " is damaged: the value of " + std::string(key) + " is not what was written",
        {}, "restore it from a backup, or move it away to begin with an empty one");
}

Result<void> each_object(Connection& c, const std::string& path, std::string_view prefix,
                         const Store::Use& use) {
    const std::string end = end_of_prefix(prefix);
    Statement s = c.statement(
        end.empty() ? "SELECT key, value, digest FROM objects WHERE key >= ? ORDER BY key"
                    : "SELECT key, value, digest FROM objects WHERE key >= ? AND key < ? ORDER BY key");
    s.text(prefix);
    if (!end.empty()) s.text(end);
    for (;;) {
        CRATER_TRY(row, s.step());
        if (!row) return {};
        const std::string_view key = s.column_view(0), value = s.column_view(1);
        CRATER_TRY_VOID(check_digest(path, key, value, s.column_number(2)));
        CRATER_TRY_VOID(use(key, value));
    }
}

struct Waiting {
    Batch batch;
    std::function<void(Result<Revision>)> done;
};

// Connections that only read, lent to one caller at a time.
class ReadPool {
  public:
    explicit ReadPool(std::string path) : path_(std::move(path)) {}

    Result<std::unique_ptr<Connection>> lend() {
        {
            const std::scoped_lock lock(mutex_);
            if (!free_.empty()) {
                auto out = std::move(free_.back());
                free_.pop_back();
                return out;
            }
        }
        return Connection::open(path_, false);
    }
    void give_back(std::unique_ptr<Connection> connection) {
        const std::scoped_lock lock(mutex_);
        if (free_.size() < 8) free_.push_back(std::move(connection));
    }

  private:
    const std::string path_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Connection>> free_;
};

class SqliteStore final : public Store {
  public:
    SqliteStore(SqliteOptions options, Loop& loop, LockFile lock, std::unique_ptr<Connection> connection,
                Revision revision, std::uint64_t sequence)
        : options_(std::move(options)),
          loop_(loop),
          lock_(std::move(lock)),
          writer_connection_(std::move(connection)),
          readers_(options_.path),
          sequence_(sequence),
          revision_(revision) {
        writer_ = std::thread([this] { write_until_closed(); });
    }

    // What was handed in is still written and answered.
    ~SqliteStore() override {
        {
            const std::scoped_lock lock(mutex_);
            closing_ = true;
        }
        wake_.notify_one();
        writer_.join();
    }

    void commit(Batch batch, std::function<void(Result<Revision>)> done) override {
        {
            const std::scoped_lock lock(mutex_);
            queue_.push_back({std::move(batch), std::move(done)});
        }
        wake_.notify_one();
    }

    Result<void> for_each(std::string_view prefix, const Use& use) const override {
        return reading([&](Connection& c) { return each_object(c, options_.path, prefix, use); });
    }

    Result<std::optional<std::string>> get(std::string_view key) const override {
        return reading([&](Connection& c) -> Result<std::optional<std::string>> {
            Statement s = c.statement("SELECT value, digest FROM objects WHERE key = ?");
            CRATER_TRY(row, s.text(key).step());
            if (!row) return std::optional<std::string>();
            std::string value = s.column_bytes(0);
            CRATER_TRY_VOID(check_digest(options_.path, key, value, s.column_number(1)));
            return std::optional<std::string>(std::move(value));
        });
    }

    Revision revision() const override { return revision_.load(std::memory_order_acquire); }

    Result<std::vector<HistoryRow>> history(const HistoryQuery& query) const override {
        return reading([&](Connection& c) -> Result<std::vector<HistoryRow>> {
            std::string sql =
                "SELECT sequence, kind, subject, at, body FROM history WHERE sequence > ? AND sequence < ?";
            if (!query.kind.empty()) sql += " AND kind = ?";
            if (!query.subject.empty()) sql += " AND subject = ?";
            sql += query.newest_first ? " ORDER BY sequence DESC LIMIT ?" : " ORDER BY sequence LIMIT ?";
            Statement s = c.statement(sql);
            constexpr auto top = static_cast<std::uint64_t>(INT64_MAX);
            s.number(static_cast<std::int64_t>(std::min(query.after, top)));
            s.number(static_cast<std::int64_t>(query.before == 0 ? top : std::min(query.before, top)));
            if (!query.kind.empty()) s.text(query.kind);
            if (!query.subject.empty()) s.text(query.subject);
            s.number(static_cast<std::int64_t>(std::min<std::uint64_t>(query.limit, top)));
            std::vector<HistoryRow> out;
            for (;;) {
                CRATER_TRY(row, s.step());
                if (!row) return out;
                out.push_back({s.column_bytes(1), s.column_bytes(2), Instant{s.column_number(3)},
                               s.column_bytes(4), static_cast<std::uint64_t>(s.column_number(0))});
            }
        });
    }

    // Searches on a reading connection and deletes in small transactions between the commits of others.
    Result<std::size_t> forget_history(std::string_view kind, Instant before) override {
        std::size_t forgotten = 0;
        std::int64_t after = 0;
        for (;;) {
            CRATER_TRY(old, reading([&](Connection& c) { return old_rows(c, kind, before, after); }));
            if (old.empty()) return forgotten;
            after = old.back();
            CRATER_TRY(gone, on_writer([this, old = std::move(old)](Connection& c) -> Result<std::size_t> {
                           if (broken_) return fail(*broken_);
                           return delete_rows(c, old);
                       }));
            forgotten += gone;
        }
    }

  private:
    template <class F>
    auto reading(F read) const -> decltype(read(std::declval<Connection&>())) {
        CRATER_TRY(connection, readers_.lend());
        auto out = read(*connection);
        readers_.give_back(std::move(connection));
        return out;
    }

    static Result<std::vector<std::int64_t>> old_rows(Connection& c, std::string_view kind, Instant before,
                                                      std::int64_t after) {
        Statement s = c.statement(
            "SELECT sequence FROM history WHERE kind = ? AND sequence > ? AND at < ? ORDER BY sequence LIMIT "
            "?");
        s.text(kind).number(after).number(before.ms).number(forget_chunk);
        std::vector<std::int64_t> out;
        for (;;) {
            CRATER_TRY(row, s.step());
            if (!row) return out;
            out.push_back(s.column_number(0));
        }
    }

    static Result<std::size_t> delete_rows(Connection& c, const std::vector<std::int64_t>& sequences) {
        CRATER_TRY_VOID(c.execute("BEGIN IMMEDIATE"));
        std::size_t gone = 0;
        Statement s = c.statement("DELETE FROM history WHERE sequence = ?");
        for (const std::int64_t sequence : sequences) {
            CRATER_TRY_VOID(s.number(sequence).run());
            gone += static_cast<std::size_t>(c.changes());
        }
        CRATER_TRY_VOID(c.execute("COMMIT"));
        return gone;
    }

    using Chore = std::packaged_task<Result<std::size_t>(Connection&)>;
    Result<std::size_t> on_writer(std::function<Result<std::size_t>(Connection&)> work) {
        Chore chore(std::move(work));
        auto answer = chore.get_future();
        {
            const std::scoped_lock lock(mutex_);
            chores_.push_back(std::move(chore));
        }
        wake_.notify_one();
        return answer.get();
    }

    void write_until_closed() {
        for (;;) {
            std::vector<Waiting> group;
            std::optional<Chore> chore;
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [&] { return closing_ || !queue_.empty() || !chores_.empty(); });
                if (queue_.empty() && chores_.empty()) return;
                while (!queue_.empty() && group.size() < std::max<std::size_t>(1, options_.group_max)) {
                    group.push_back(std::move(queue_.front()));
                    queue_.pop_front();
                }
                if (!chores_.empty()) {
                    chore.emplace(std::move(chores_.front()));
                    chores_.pop_front();
                }
            }
            if (!group.empty()) write_and_answer(std::move(group));
            if (chore) {
                (*chore)(*writer_connection_);
                // A chore that failed inside its transaction; without one this is refused, and that is all
                // right.
                (void)writer_connection_->execute("ROLLBACK");
            }
        }
    }

    void write_and_answer(std::vector<Waiting> group) {
        const Revision first = revision() + 1;
        if (!broken_) {
            if (auto written = write(group); written) {
                revision_.store(first + group.size() - 1, std::memory_order_release);
            } else {
                broken_ = std::move(written.error());
                (void)writer_connection_->execute("ROLLBACK");
            }
        }
        reach("before_answer");
        std::vector<std::function<void(Result<Revision>)>> answers;
        for (Waiting& w : group) answers.push_back(std::move(w.done));
        loop_.post([answers = std::move(answers), first, broken = broken_] {
            Revision revision = first;
            for (const auto& done : answers) {
                if (done) done(broken ? Result<Revision>(fail(*broken)) : Result<Revision>(revision));
                ++revision;
            }
        });
    }

    Result<void> write(const std::vector<Waiting>& group) {
        Connection& c = *writer_connection_;
        reach("before_begin");
        CRATER_TRY_VOID(c.execute("BEGIN IMMEDIATE"));
        std::uint64_t sequence = sequence_;
        Revision now = revision();
        {
            Statement put = c.statement(
                "INSERT INTO objects(key, value, revision, digest) VALUES(?1, ?2, ?3, ?4) "
                "ON CONFLICT(key) DO UPDATE SET value = ?2, revision = ?3, digest = ?4");
            Statement remove = c.statement("DELETE FROM objects WHERE key = ?");
            Statement append =
                c.statement("INSERT INTO history(sequence, kind, subject, at, body) VALUES(?, ?, ?, ?, ?)");
            for (const Waiting& w : group) {
                ++now;
                for (const Write& item : w.batch.writes) {
                    if (!item.value) {
                        CRATER_TRY_VOID(remove.text(item.key).run());
                        continue;
                    }
                    put.text(item.key).blob(*item.value).number(static_cast<std::int64_t>(now));
                    CRATER_TRY_VOID(put.number(digest_of(item.key, *item.value)).run());
                }
                for (const HistoryRow& row : w.batch.history) {
                    append.number(static_cast<std::int64_t>(++sequence)).text(row.kind).text(row.subject);
                    CRATER_TRY_VOID(append.number(row.at.ms).blob(row.body).run());
                }
                reach("after_write");
            }
            Statement count = c.statement("UPDATE counters SET revision = ?, sequence = ?");
            CRATER_TRY_VOID(count.number(static_cast<std::int64_t>(now))
                                .number(static_cast<std::int64_t>(sequence))
                                .run());
        }
        reach("before_commit");
        CRATER_TRY_VOID(c.execute("COMMIT"));
        reach("after_commit");
        sequence_ = sequence;
        return {};
    }

    void reach(std::string_view point) const {
        if (options_.crash_at) options_.crash_at(point);
    }

    const SqliteOptions options_;
    Loop& loop_;
    const LockFile lock_;
    // The writer thread's own.
    std::unique_ptr<Connection> writer_connection_;
    mutable ReadPool readers_;
    std::uint64_t sequence_;
    std::optional<Error> broken_;

    std::atomic<Revision> revision_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Waiting> queue_;
    std::deque<Chore> chores_;
    bool closing_ = false;
    std::thread writer_;
};

}  // namespace

Result<void> look_into_sqlite(const std::string& path, std::string_view prefix, const Store::Use& use) {
    CRATER_TRY(connection, Connection::open(path, false));
    return each_object(*connection, path, prefix, use);
}

Result<std::unique_ptr<Store>> open_sqlite(SqliteOptions options, Loop& loop) {
    CRATER_TRY(lock, LockFile::take(options.path + ".lock"));
    CRATER_TRY_VOID(make_file(options.path));
    CRATER_TRY(connection, Connection::open(options.path, true));
    CRATER_TRY(counters, prepare_layout(*connection, options.path));
    return std::make_unique<SqliteStore>(std::move(options), loop, std::move(lock), std::move(connection),
                                         counters.revision, counters.sequence);
}

}  // namespace crater::store
