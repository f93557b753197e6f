// The file of the durable store: its mode, its tables, its version, its structural soundness.
#pragma once

#include <cstdint>
#include <string>

#include "crater/store/store.h"
#include "sqlite_connection.h"

namespace crater::store {

struct Counters {
    Revision revision = 0;
    std::uint64_t sequence = 0;
};

Result<void> make_file(const std::string& path);
// On the writing connection. Makes the tables of a new file; refuses what is damaged or not ours.
Result<Counters> prepare_layout(Connection& c, const std::string& path);

}  // namespace crater::store
