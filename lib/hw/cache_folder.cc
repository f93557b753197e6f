#include "cache_folder.h"

#include <algorithm>

#include "crater/base/ids.h"

namespace crater::hw {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t between_looks_us = 30'000'000;
constexpr std::size_t items_max = 4096;    // of a kind; the first by name
constexpr std::int64_t files_max = 20'000;  // of an item, to count its size: more take too long

bool complete(const fs::directory_entry& entry) {
    std::error_code error;
    if (!check_id(entry.path().filename().string(), "")) return false;
    if (entry.is_regular_file(error)) return true;
    return entry.is_directory(error) && !fs::is_empty(entry.path(), error) && !error;
}

// 0: it cannot be counted.
Bytes count(const fs::path& item) {
    std::error_code error;
    if (fs::is_regular_file(item, error)) return Bytes(static_cast<std::int64_t>(fs::file_size(item, error)));
    std::int64_t bytes = 0, files = 0;
    fs::recursive_directory_iterator at(item, fs::directory_options::skip_permission_denied, error), end;
    for (; !error && at != end; at.increment(error)) {
        if (++files > files_max) return {};
        std::error_code unread;
        if (at->is_regular_file(unread) && !at->is_symlink(unread)) bytes += static_cast<std::int64_t>(at->file_size(unread));
    }
    return error ? Bytes() : Bytes(std::max<std::int64_t>(0, bytes));
}

}  // namespace

Bytes CacheFolder::size_of(const fs::path& item) {
    std::error_code error;
    const Time written = fs::last_write_time(item, error);
    const auto [known, fresh] = counted_.try_emplace(item.string(), Counted{written, {}});
    if (fresh || known->second.written != written) known->second = {written, count(item)};
    return known->second.size;
}

std::vector<CachedItem> CacheFolder::list(const std::string& kind) {
    std::vector<CachedItem> out;
    std::error_code error;
    fs::directory_iterator at(root_ + "/" + kind, error), end;
    for (; !error && at != end; at.increment(error))
        if (complete(*at)) out.push_back({at->path().filename().string(), {}});
    std::sort(out.begin(), out.end(), [](const CachedItem& a, const CachedItem& b) { return a.id < b.id; });
    if (out.size() > items_max) out.resize(items_max);
    for (CachedItem& item : out) item.size = size_of(root_ + "/" + kind + "/" + item.id);
    return out;
}

NodeCache CacheFolder::read() {
    looked_us_ = clock_.ticks_us();
    if (root_.empty()) return {};
    last_ = {list("dataset"), list("model")};
    std::erase_if(counted_, [&](const auto& row) {
        const fs::path path(row.first);
        const auto& items = path.parent_path().filename() == "dataset" ? last_.datasets : last_.models;
        return std::none_of(items.begin(), items.end(), [&](const CachedItem& item) { return item.id == path.filename(); });
    });
    return last_;
}

bool CacheFolder::changed() {
    if (clock_.ticks_us() - looked_us_ < between_looks_us) return false;
    const NodeCache before = last_;
    return read() != before;
}

}  // namespace crater::hw
