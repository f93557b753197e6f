// The little of SQLite's C interface that the store needs: a connection with its prepared statements, and
// their errors as Result. A connection belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "crater/base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace crater::store {

class Connection;

// A use of a cached statement; resets it at the end. Bind in order from 1, then step. An error of a bind is
// the step's.
class Statement {
  public:
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;
    ~Statement();

    Statement& text(std::string_view value);
    Statement& blob(std::string_view value);
    Statement& number(std::int64_t value);

    Result<bool> step();  // true: a row is there
    Result<void> run();   // steps to the end and resets, so that it can be bound again
    std::string column_bytes(int column) const;
    std::string_view column_view(int column) const;  // until the next step
    std::int64_t column_number(int column) const;

  private:
    friend class Connection;
    Statement(Connection& connection, sqlite3_stmt* statement, int bad)
        : connection_(&connection), statement_(statement), bad_(bad) {}
    void note(int rc) {
        if (bad_ == 0) bad_ = rc;
    }

    Connection* connection_;
    sqlite3_stmt* statement_;
    int bad_;
    int next_ = 1;
};

class Connection {
  public:
    static Result<std::unique_ptr<Connection>> open(const std::string& path, bool writable);
    Connection(const Connection&) = delete;
    ~Connection();

    Result<void> execute(const char* sql);
    Statement statement(const std::string& sql);  // prepared once, kept
    int changes() const;

  private:
    friend class Statement;
    Connection() = default;
    Error error(int rc) const;

    sqlite3* db_ = nullptr;
    std::string path_;
    std::map<std::string, sqlite3_stmt*> statements_;
};

}  // namespace crater::store
