#include "sqlite_layout.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace crater::store {
namespace {

// "Crat" and the layout's version, in the file's header.
constexpr std::int64_t application_id = 0x43726174;
constexpr std::int64_t layout_version = 1;

// `digest` guards the objects, from which everything is rebuilt, against damage that leaves the pages well
// formed.
constexpr const char* layout = R"sql(
BEGIN IMMEDIATE;
CREATE TABLE counters(id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL, sequence INTEGER NOT NULL);
INSERT INTO counters VALUES(1, 0, 0);
CREATE TABLE objects(key TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL, revision INTEGER NOT NULL, digest INTEGER NOT NULL);
CREATE TABLE history(sequence INTEGER PRIMARY KEY, kind TEXT NOT NULL, subject TEXT NOT NULL, at INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX history_subject ON history(subject, kind);
CREATE INDEX history_kind ON history(kind);
PRAGMA application_id = 1131569524;
PRAGMA user_version = 1;
COMMIT;
)sql";

Result<std::int64_t> number_of(Connection& c, const std::string& sql) {
    Statement s = c.statement(sql);
    CRATER_TRY(row, s.step());
    return row ? s.column_number(0) : 0;
}

}  // namespace

// Made by us with mode 0600 before SQLite sees it, and its name made durable; SQLite gives its side files the
// same mode.
Result<void> make_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(Code::unavailable, "cannot open the store " + path + ": " + std::strerror(errno), {},
                    "the folder must exist and be writable");
    struct stat st {};
    const bool narrow = ::fstat(fd, &st) == 0 && ((st.st_mode & 0077) == 0 || ::fchmod(fd, 0600) == 0);
    const int error = errno;
    ::close(fd);
    if (!narrow)
        return fail(Code::unavailable,
                    "cannot set the mode of " + path + " to 0600: " + std::strerror(error));
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    if (const int dir = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); dir >= 0) {
        ::fsync(dir);
        ::close(dir);
    }
    return {};
}

// So that a busy transaction finds its pages in memory and is not spilled half way. After the check, which
// reads the whole database once and would fill the memory with it. The journal is copied back as often as
// SQLite does by itself: more rarely costs less, but then the commit that does it waits for longer.
static Result<void> keep_busy_pages(Connection& c) { return c.execute("PRAGMA cache_size = -16384"); }

Result<Counters> prepare_layout(Connection& c, const std::string& path) {
    CRATER_TRY_VOID(c.execute("PRAGMA journal_mode = WAL"));
    CRATER_TRY_VOID(c.execute("PRAGMA synchronous = FULL"));
    CRATER_TRY_VOID(c.execute("PRAGMA journal_size_limit = 67108864"));
    CRATER_TRY(tables, number_of(c, "SELECT count(*) FROM sqlite_schema"));
    if (tables == 0) {
        CRATER_TRY_VOID(c.execute(layout));
        CRATER_TRY_VOID(keep_busy_pages(c));
        return Counters{};
    }
    CRATER_TRY(owner, number_of(c, "PRAGMA application_id"));
    if (owner != application_id)
        return fail(Code::conflict, path + " is a SQLite database of another program", {},
                    "choose another file");
    CRATER_TRY(version, number_of(c, "PRAGMA user_version"));
    if (version != layout_version)
        return fail(Code::conflict,
                    path + " has layout " + std::to_string(version) + "; this program reads layout " +
                        std::to_string(layout_version),
                    {}, "use the version of Crater that wrote it");
    // The history may be large and is not needed to decide; its damage shows when it is read.
    Statement check = c.statement("PRAGMA quick_check(objects)");
    CRATER_TRY(row, check.step());
    if (row && check.column_bytes(0) != "ok")
        return fail(Code::internal, "the store " + path + " is damaged: " + check.column_bytes(0), {},
                    "restore it from a backup, or move it away to begin with an empty one");
    CRATER_TRY_VOID(keep_busy_pages(c));
    CRATER_TRY(revision, number_of(c, "SELECT revision FROM counters"));
    CRATER_TRY(sequence, number_of(c, "SELECT sequence FROM counters"));
    return Counters{static_cast<Revision>(revision), static_cast<std::uint64_t>(sequence)};
}

}  // namespace crater::store
