// Durable objects (key -> value with revisions) and history (append-only rows), written together in one
// transaction. Nothing is promised before it is durable: the callback of `commit` runs only when the batch
// would survive a power loss.
//
// Batches commit in the order of the calls; several waiting batches share one transaction and one fsync
// (group commit). A batch is all or nothing. When a commit fails (disk full, IO error) every later batch
// fails too: the owner must stop and load again, because what it believes and what is durable have parted.
// Keys are slash-separated text, values are opaque bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crater/base/clock.h"
#include "crater/base/error.h"

namespace crater::store {

using Revision = std::uint64_t;  // counts committed batches, from 1

struct Write {
    std::string key;
    std::optional<std::string> value;  // absent = delete
};

// One row of history. (kind, subject) is indexed: ("job_state", job id), ("decision", job id), ("audit",
// actor), ("usage", job id).
struct HistoryRow {
    std::string kind, subject;
    Instant at;
    std::string body;            // JSON
    std::uint64_t sequence = 0;  // set by the store: rises with every row, never reused
};

struct Batch {
    std::vector<Write> writes = {};
    std::vector<HistoryRow> history = {};
    bool empty() const { return writes.empty() && history.empty(); }
};

struct Entry {
    std::string key, value;
};

struct HistoryQuery {
    std::string kind = {}, subject = {};  // empty = any
    std::uint64_t after = 0;              // sequence; rows with a greater one
    std::uint64_t before = 0;             // 0 = no bound
    bool newest_first = false;
    std::size_t limit = 100;
};

class Store {
  public:
    virtual ~Store() = default;

    // From the owner's loop. `done` is posted to that loop. Ownership of the batch passes.
    virtual void commit(Batch batch, std::function<void(Result<Revision>)> done) = 0;

    // Reads see what is committed. Blocking; from any thread.
    // Each object whose key begins so, sorted by key, as of one moment, without holding them all; ends with
    // the first error of `use`. Key and value last as long as the call of `use`, which may not ask the store
    // anything.
    using Use = std::function<Result<void>(std::string_view key, std::string_view value)>;
    virtual Result<void> for_each(std::string_view prefix, const Use& use) const = 0;
    Result<std::vector<Entry>> load(std::string_view prefix) const;
    virtual Result<std::optional<std::string>> get(std::string_view key) const = 0;
    virtual Revision revision() const = 0;
    virtual Result<std::vector<HistoryRow>> history(const HistoryQuery& query) const = 0;
    // Drops rows of the kind that are older; returns how many. Retention is the owner's policy and is never
    // silent.
    virtual Result<std::size_t> forget_history(std::string_view kind, Instant before) = 0;
};

// Points inside a commit at which a test can end the process: "before_begin", "after_write", "before_commit",
// "after_commit", "before_answer". Empty in production. Set through CRATER_CRASH_AT=point[:n] (the n-th time)
// by the scheduler's main.
using CrashHook = std::function<void(std::string_view point)>;

struct SqliteOptions {
    std::string path;             // the folder must exist; the file is made 0600
    std::size_t group_max = 512;  // batches in one transaction
    CrashHook crash_at = {};
};

// SQLite, WAL, synchronous FULL. Holds an exclusive lock file beside the database: a second owner is refused
// (Code::conflict). One writer thread of its own; `loop` receives the completions and must outlive the store.
// Destroying the store first writes what was handed in. A damaged file, another program's or another
// version's is refused with a sentence that says so.
Result<std::unique_ptr<Store>> open_sqlite(SqliteOptions options, Loop& loop);

// In memory, with the behaviour of a disk: a batch becomes durable `latency` after the call (on `loop`), and
// destroying the Store is a crash of its owner: what is not durable yet is lost and unanswered. The content
// outlives the Store object, as a disk outlives a process; the MemoryDisk outlives its stores. Opening it
// again shuts an earlier Store out (its commits fail with Code::conflict). For tests and the simulator.
struct MemoryDisk {
    struct State;
    std::shared_ptr<State> state;
    MemoryDisk();
    bool fail_next_commits = false;  // as a full disk does
    // the power goes with half of the next group written; what is opened then has none of it
    bool tear_next_commit = false;
};
std::unique_ptr<Store> open_memory(MemoryDisk& disk, Loop& loop, Millis latency = Millis(0));

}  // namespace crater::store
