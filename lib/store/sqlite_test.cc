// What the durable store promises beside the common contract: groups, one owner, full disks, damage, sudden
// death.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <future>
#include <random>
#include <thread>

#include "crater/store/look.h"
#include "crater/store/store.h"
#include "test_folder.h"
#include "test_loop.h"

namespace crater::store {
namespace {

Batch one(std::string key, std::string value) { return {.writes = {{std::move(key), std::move(value)}}}; }

std::unique_ptr<Store> must_open(SqliteOptions options, Loop& loop) {
    auto opened = open_sqlite(std::move(options), loop);
    EXPECT_TRUE(opened) << opened.error().text();
    return opened ? std::move(*opened) : nullptr;
}

Result<Revision> commit_and_wait(Store& store, TestLoop& loop, Batch batch) {
    std::optional<Result<Revision>> answer;
    store.commit(std::move(batch), [&](Result<Revision> r) { answer = std::move(r); });
    loop.run_until([&] { return answer.has_value(); });
    return *answer;
}

TEST(Sqlite, waiting_batches_share_one_transaction) {
    TestFolder folder;
    TestLoop loop;
    std::promise<void> gate;
    std::shared_future<void> opened = gate.get_future().share();
    std::atomic<int> transactions = 0;
    const auto hook = [&](std::string_view point) {
        if (point == "before_begin" && transactions++ == 0) opened.wait();
    };
    auto store = must_open({.path = folder.file("s.db"), .group_max = 60, .crash_at = hook}, loop);
    int answered = 0;
    for (int i = 0; i < 101; ++i) {
        store->commit(one("k" + std::to_string(i), "v"),
                      [&](Result<Revision> r) { answered += r.has_value(); });
        // The first may travel alone; the gate holds it until the others wait.
        while (i == 0 && transactions == 0) std::this_thread::yield();
    }
    gate.set_value();
    loop.run_until([&] { return answered == 101; });
    EXPECT_EQ(transactions, 3);  // 1 + 60 + 40
    EXPECT_EQ(store->load("k")->size(), 101u);
    EXPECT_EQ(store->revision(), 101u);
}

TEST(Sqlite, passes_every_point_at_which_a_test_may_end_it) {
    TestFolder folder;
    TestLoop loop;
    std::mutex mutex;
    std::vector<std::string> points;
    const auto hook = [&](std::string_view point) {
        const std::scoped_lock lock(mutex);
        points.emplace_back(point);
    };
    auto store = must_open({.path = folder.file("s.db"), .crash_at = hook}, loop);
    ASSERT_TRUE(commit_and_wait(*store, loop, one("a", "1")));
    const std::scoped_lock lock(mutex);
    EXPECT_EQ(points, (std::vector<std::string>{"before_begin", "after_write", "before_commit",
                                                "after_commit", "before_answer"}));
}

TEST(Sqlite, writes_what_was_handed_in_before_it_closes) {
    TestFolder folder;
    TestLoop loop;
    {
        auto store = must_open({.path = folder.file("s.db")}, loop);
        for (int i = 0; i < 50; ++i) store->commit(one("k" + std::to_string(i), "v"), {});
    }
    EXPECT_EQ(must_open({.path = folder.file("s.db")}, loop)->load("")->size(), 50u);
}

TEST(Sqlite, shows_what_it_holds_while_it_is_in_use) {
    TestFolder folder;
    TestLoop loop;
    auto store = must_open({.path = folder.file("s.db")}, loop);
    ASSERT_TRUE(commit_and_wait(*store, loop, one("job/a", "1")));
    ASSERT_TRUE(commit_and_wait(*store, loop, one("node/b", "2")));
    std::string seen;
    const auto look = [&](std::string_view key, std::string_view value) -> Result<void> {
        seen.append(key).append("=").append(value).append(";");
        return {};
    };
    ASSERT_TRUE(look_into_sqlite(folder.file("s.db"), "job/", look));
    ASSERT_TRUE(commit_and_wait(*store, loop, one("job/a", "3")));
    store.reset();
    ASSERT_TRUE(look_into_sqlite(folder.file("s.db"), "", look));
    EXPECT_EQ(seen, "job/a=1;job/a=3;node/b=2;");
    EXPECT_FALSE(look_into_sqlite(folder.file("none.db"), "", look));
}

TEST(Sqlite, refuses_a_second_owner_and_names_the_first) {
    TestFolder folder;
    TestLoop loop;
    auto store = must_open({.path = folder.file("s.db")}, loop);
    const auto second = open_sqlite({.path = folder.file("s.db")}, loop);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
    EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos)
        << second.error().message;
    store.reset();
    EXPECT_TRUE(open_sqlite({.path = folder.file("s.db")}, loop));
}

TEST(Sqlite, its_files_are_for_the_owner_only) {
    TestFolder folder;
    TestLoop loop;
    std::ofstream(folder.file("s.db"));  // as an earlier, careless program left it
    ASSERT_EQ(::chmod(folder.file("s.db").c_str(), 0644), 0);
    auto store = must_open({.path = folder.file("s.db")}, loop);
    ASSERT_TRUE(commit_and_wait(*store, loop, one("a", "secret")));
    for (const char* name : {"s.db", "s.db-wal", "s.db-shm", "s.db.lock"}) {
        struct stat st {};
        ASSERT_EQ(::stat(folder.file(name).c_str(), &st), 0) << name;
        EXPECT_EQ(st.st_mode & 0777, 0600u) << name;
    }
}

TEST(Sqlite, says_what_is_wrong_with_a_path) {
    TestLoop loop;
    const auto missing = open_sqlite({.path = "/nonexistent/folder/s.db"}, loop);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Code::unavailable);
    EXPECT_NE(missing.error().message.find("/nonexistent/folder/s.db"), std::string::npos);
}

TEST(Sqlite, refuses_a_file_that_is_not_its_own) {
    TestFolder folder;
    TestLoop loop;
    std::ofstream(folder.file("s.db")) << std::string(5000, 'x');
    const auto opened = open_sqlite({.path = folder.file("s.db")}, loop);
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find("damaged"), std::string::npos) << opened.error().message;
    EXPECT_FALSE(opened.error().hint.empty());
}

TEST(Sqlite, notices_damage_of_any_page_of_its_objects) {
    TestFolder folder;
    TestLoop loop;
    {
        auto store = must_open({.path = folder.file("s.db")}, loop);
        for (int i = 0; i < 300; ++i)
            store->commit(one("job/" + std::to_string(i), std::string(300, 'v')), {});
    }
    const auto size = std::filesystem::file_size(folder.file("s.db"));
    ASSERT_GT(size, 50'000u);
    int noticed = 0;
    for (std::size_t at = 8192 + 1000; at < size; at += 4096) {
        const std::string copy = folder.file("copy.db");
        std::filesystem::copy_file(folder.file("s.db"), copy,
                                   std::filesystem::copy_options::overwrite_existing);
        std::fstream file(copy, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(static_cast<std::streamoff>(at));
        char before[600];
        ASSERT_TRUE(file.read(before, sizeof before));
        file.seekp(static_cast<std::streamoff>(at));
        file.write(std::string(600, '!').data(), 600);
        file.close();
        const bool matters = std::string_view(before, sizeof before).find("vvvv") != std::string_view::npos;
        auto opened = open_sqlite({.path = copy}, loop);
        const bool seen = !opened || !(*opened)->load("");
        EXPECT_TRUE(seen || !matters) << "page at " << at;
        noticed += matters && seen;
    }
    EXPECT_GT(noticed, 10);
}

TEST(Sqlite, reads_from_many_threads_while_it_writes) {
    TestFolder folder;
    TestLoop loop;
    auto store = must_open({.path = folder.file("s.db")}, loop);
    std::atomic<bool> stop = false;
    std::atomic<int> torn = 0;
    std::vector<std::thread> readers;
    for (int t = 0; t < 4; ++t) {
        readers.emplace_back([&] {
            while (!stop) {
                // The two are always written together.
                const auto both = store->load("pair/");
                if (!both || (both->size() == 2 && both->at(0).value != both->at(1).value)) ++torn;
                if (!store->history({.kind = "k", .newest_first = true, .limit = 5})) ++torn;
                if (!store->get("pair/a")) ++torn;
            }
        });
    }
    int answered = 0;
    for (int i = 0; i < 300; ++i) {
        const std::string v = std::to_string(i);
        store->commit({.writes = {{"pair/a", v}, {"pair/b", v}}, .history = {{"k", "s", Instant{i}, "{}"}}},
                      [&](Result<Revision> r) { answered += r.has_value(); });
        if (i % 10 == 0) loop.run_until([&] { return answered == i + 1; });
    }
    loop.run_until([&] { return answered == 300; });
    stop = true;
    for (auto& reader : readers) reader.join();
    EXPECT_EQ(torn, 0);
}

// Writes until the disk refuses; `room` is given back afterwards by the caller. Returns the number
// acknowledged, or -1.
int fill(Store& store, TestLoop& loop) {
    int acknowledged = 0;
    for (int i = 0; i < 5000; ++i) {
        const auto done = commit_and_wait(store, loop, one("k" + std::to_string(i), std::string(4000, 'v')));
        if (done) {
            ++acknowledged;
            continue;
        }
        if (done.error().message.find("SQLite") == std::string::npos) return -1;
        return acknowledged;
    }
    return -1;
}

TEST(Sqlite, a_full_disk_fails_that_batch_and_all_later_ones_and_loses_nothing_acknowledged) {
    TestFolder folder;
    const std::string path = folder.file("s.db");
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        // A limit on the size of files stands for the disk.
        ::signal(SIGXFSZ, SIG_IGN);
        TestLoop loop;
        auto opened = open_sqlite({.path = path}, loop);
        if (!opened) ::_exit(1);
        Store& store = **opened;
        const rlimit small{400'000, 400'000};
        if (::setrlimit(RLIMIT_FSIZE, &small) != 0) ::_exit(2);
        const int acknowledged = fill(store, loop);
        if (acknowledged < 10) ::_exit(3);
        if (commit_and_wait(store, loop, one("small", "v"))) ::_exit(4);  // would fit, but the trust is gone
        if (static_cast<int>(store.load("k")->size()) != acknowledged) ::_exit(5);
        if (::write(pipe_ends[1], &acknowledged, sizeof acknowledged) != sizeof acknowledged) ::_exit(6);
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
    int acknowledged = 0;
    ASSERT_EQ(::read(pipe_ends[0], &acknowledged, sizeof acknowledged),
              static_cast<ssize_t>(sizeof acknowledged));
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);

    TestLoop loop;
    auto store = must_open({.path = path}, loop);
    EXPECT_EQ(store->load("k")->size(), static_cast<std::size_t>(acknowledged));
    EXPECT_FALSE(store->get("small")->has_value());
    EXPECT_TRUE(commit_and_wait(*store, loop, one("small", "v")));
}

TEST(Sqlite, a_full_file_system_does_the_same) {
    TestFolder folder;
    if (::mount("none", folder.path().c_str(), "tmpfs", 0, "size=600k") != 0)
        GTEST_SKIP() << "cannot mount here";
    TestLoop loop;
    auto store = must_open({.path = folder.file("s.db")}, loop);
    if (store != nullptr) {
        const int acknowledged = fill(*store, loop);
        EXPECT_GE(acknowledged, 10);
        const auto later = commit_and_wait(*store, loop, one("small", "v"));
        ASSERT_FALSE(later);
        EXPECT_EQ(later.error().code, Code::unavailable);
        EXPECT_NE(later.error().message.find("no room"), std::string::npos) << later.error().message;
        EXPECT_EQ(store->load("k")->size(), static_cast<std::size_t>(acknowledged));
        store.reset();
        ASSERT_EQ(::mount("none", folder.path().c_str(), "tmpfs", MS_REMOUNT, "size=20m"), 0);
        store = must_open({.path = folder.file("s.db")}, loop);
        EXPECT_EQ(store->load("k")->size(), static_cast<std::size_t>(acknowledged));
        EXPECT_TRUE(commit_and_wait(*store, loop, one("small", "v")));
    }
    store.reset();
    EXPECT_EQ(::umount(folder.path().c_str()), 0);
}

// A child that commits numbered batches and writes each acknowledged number to the pipe, until it is ended.
[[noreturn]] void commit_for_ever(const std::string& path, int out, CrashHook hook) {
    TestLoop loop;
    auto opened = open_sqlite({.path = path, .crash_at = std::move(hook)}, loop);
    if (!opened) ::_exit(1);
    std::uint64_t next = (*opened)->revision();
    std::uint64_t answered = next;
    for (;;) {
        // A few in flight at a time, each in two keys and a row.
        for (int i = 0; i < 3; ++i) {
            const std::uint64_t n = ++next;
            const std::string key = std::to_string(n);
            (*opened)->commit(
                {.writes = {{"a/" + key, key}, {"b/" + key, key}}, .history = {{"n", key, Instant{}, key}}},
                [&answered, out, n](Result<Revision> r) {
                    if (!r || *r != n || ::write(out, &n, sizeof n) != sizeof n) ::_exit(2);
                    ++answered;
                });
        }
        loop.run_until([&] { return answered == next; });
    }
}

// All numbers in the pipe once its writer is dead.
std::uint64_t last_acknowledged(int in, std::uint64_t last) {
    std::uint64_t n = 0;
    while (::read(in, &n, sizeof n) == sizeof n) last = n;
    return last;
}

void expect_all_there(const std::string& path, std::uint64_t acknowledged) {
    TestLoop loop;
    auto store = must_open({.path = path}, loop);
    ASSERT_NE(store, nullptr);
    EXPECT_GE(store->revision(), acknowledged);
    const std::size_t count = store->revision();  // revision n wrote number n: nothing missing, nothing half
    EXPECT_EQ(store->load("a/")->size(), count);
    EXPECT_EQ(store->load("b/")->size(), count);
    EXPECT_EQ(store->history({.limit = 1'000'000})->size(), count);
}

TEST(Sqlite, a_kill_at_any_moment_loses_nothing_acknowledged) {
    TestFolder folder;
    std::mt19937 chance(7);
    std::uint64_t acknowledged = 0;
    for (int round = 0; round < 12; ++round) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) commit_for_ever(folder.file("s.db"), ends[1], {});
        ::close(ends[1]);
        // After a random number of answers, wherever the next commit then is.
        for (unsigned left = chance() % 60 + 1; left > 0; --left) {
            std::uint64_t n = 0;
            ASSERT_EQ(::read(ends[0], &n, sizeof n), static_cast<ssize_t>(sizeof n));
            acknowledged = n;
        }
        ::kill(child, SIGKILL);
        ASSERT_EQ(::waitpid(child, nullptr, 0), child);
        acknowledged = last_acknowledged(ends[0], acknowledged);
        ::close(ends[0]);
        expect_all_there(folder.file("s.db"), acknowledged);
    }
}

TEST(Sqlite, dying_at_any_point_of_a_commit_leaves_all_or_nothing) {
    TestFolder folder;
    std::uint64_t acknowledged = 0;
    for (const std::string_view fatal :
         {"before_begin", "after_write", "before_commit", "after_commit", "before_answer"}) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            commit_for_ever(folder.file("s.db"), ends[1], [fatal, left = 4](std::string_view point) mutable {
                if (point == fatal && --left == 0) ::kill(::getpid(), SIGKILL);
            });
        }
        ::close(ends[1]);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status)) << fatal;
        acknowledged = last_acknowledged(ends[0], acknowledged);
        ::close(ends[0]);
        expect_all_there(folder.file("s.db"), acknowledged);
    }
}

}  // namespace
}  // namespace crater::store
