#include "crater/store/store.h"

namespace crater::store {

Result<std::vector<Entry>> Store::load(std::string_view prefix) const {
    std::vector<Entry> out;
    CRATER_TRY_VOID(for_each(prefix, [&](std::string_view key, std::string_view value) -> Result<void> {
        out.push_back({std::string(key), std::string(value)});
        return {};
    }));
    return out;
}

}  // namespace crater::store
