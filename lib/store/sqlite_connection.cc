#include "sqlite_connection.h"

#include <sqlite3.h>

#include <utility>

namespace crater::store {

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_),
      statement_(std::exchange(other.statement_, nullptr)),
      bad_(other.bad_),
      next_(other.next_) {}

Statement::~Statement() {
    if (statement_ != nullptr) {
        sqlite3_reset(statement_);
        sqlite3_clear_bindings(statement_);
    }
}

// The bound bytes outlive the use of the statement: callers bind what they hold, so nothing is copied.
Statement& Statement::text(std::string_view value) {
    note(sqlite3_bind_text64(statement_, next_++, value.empty() ? "" : value.data(), value.size(),
                             SQLITE_STATIC, SQLITE_UTF8));
    return *this;
}

Statement& Statement::blob(std::string_view value) {
    note(sqlite3_bind_blob64(statement_, next_++, value.empty() ? "" : value.data(), value.size(),
                             SQLITE_STATIC));
    return *this;
}

Statement& Statement::number(std::int64_t value) {
    note(sqlite3_bind_int64(statement_, next_++, value));
    return *this;
}

Result<bool> Statement::step() {
    if (bad_ != 0) return fail(connection_->error(bad_));
    const int rc = sqlite3_step(statement_);
    if (rc == SQLITE_ROW) return true;
    if (rc == SQLITE_DONE) return false;
    return fail(connection_->error(rc));
}

Result<void> Statement::run() {
    for (;;) {
        CRATER_TRY(row, step());
        if (!row) break;
    }
    sqlite3_reset(statement_);
    next_ = 1;
    return {};
}

std::string_view Statement::column_view(int column) const {
    const void* data = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return size > 0 ? std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size))
                    : std::string_view();
}

std::string Statement::column_bytes(int column) const { return std::string(column_view(column)); }

std::int64_t Statement::column_number(int column) const { return sqlite3_column_int64(statement_, column); }

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, bool writable) {
    std::unique_ptr<Connection> out(new Connection);
    out->path_ = path;
    const int flags =
        (writable ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX;
    const int rc = sqlite3_open_v2(path.c_str(), &out->db_, flags, nullptr);
    if (rc != SQLITE_OK) return fail(out->error(rc));
    sqlite3_extended_result_codes(out->db_, 1);
    // Only a person with a SQLite shell can be in the way.
    sqlite3_busy_timeout(out->db_, 10'000);
    return out;
}

Connection::~Connection() {
    for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    sqlite3_close(db_);
}

Result<void> Connection::execute(const char* sql) {
    const int rc = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
    if (rc != SQLITE_OK) return fail(error(rc));
    return {};
}

Statement Connection::statement(const std::string& sql) {
    const auto it = statements_.find(sql);
    if (it != statements_.end()) return Statement(*this, it->second, 0);
    sqlite3_stmt* made = nullptr;
    const int rc = sqlite3_prepare_v3(db_, sql.c_str(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    if (rc == SQLITE_OK) statements_.emplace(sql, made);
    return Statement(*this, made, rc);
}

int Connection::changes() const { return sqlite3_changes(db_); }

Error Connection::error(int rc) const {
    const std::string detail =
        db_ != nullptr && sqlite3_errcode(db_) != SQLITE_OK ? sqlite3_errmsg(db_) : sqlite3_errstr(rc);
    const std::string end = " (SQLite " + std::to_string(rc) + ": " + detail + ")";
    switch (rc & 0xff) {
        case SQLITE_FULL:
            return {Code::unavailable,
                    "no room to write " + path_ + end,
                    {},
                    "free space on its disk, then start again"};
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return {Code::internal,
                    "the store " + path_ + " is damaged" + end,
                    {},
                    "restore it from a backup, or move it away to begin with an empty one"};
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return {Code::unavailable, "the store " + path_ + " is locked by another program" + end, {}, {}};
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_CANTOPEN:
            return {Code::unavailable,
                    "cannot open " + path_ + " for writing" + end,
                    {},
                    "check the folder's owner and mode"};
        case SQLITE_IOERR:
            return {Code::unavailable, "reading or writing " + path_ + " failed" + end, {}, "check its disk"};
        default: return {Code::internal, "the store " + path_ + " failed" + end, {}, {}};
    }
}

}  // namespace crater::store
