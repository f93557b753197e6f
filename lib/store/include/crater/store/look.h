// A look into a store from outside, also while its owner runs. For people: nothing is locked and nothing
// changed.
#pragma once

#include "crater/store/store.h"

namespace crater::store {

// Each object whose key begins so, sorted by key, as of one moment.
Result<void> look_into_sqlite(const std::string& path, std::string_view prefix, const Store::Use& use);

}  // namespace crater::store
