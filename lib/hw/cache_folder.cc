#include "cache_folder.h"

#include <algorithm>
#include <utility>

#include "crater/base/ids.h"

namespace crater::hw {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t between_looks_us = 30'000'000;
constexpr std::size_t items_max = 4096;      // of a kind; the first by name
constexpr std::int64_t files_max = 200'000;  // counted in one look; what is left counts 0 until a later one

bool complete(const fs::directory_entry& entry) {
    std::error_code error;
    if (!check_id(entry.path().filename().string(), "")) return false;
    if (entry.is_regular_file(error)) return entry.file_size(error) > 0 && !error;
    return entry.is_directory(error) && !fs::is_empty(entry.path(), error) && !error;
}

std::int64_t size_of_file(const fs::directory_entry& entry) {
    std::error_code error;
    const auto size = entry.is_regular_file(error) && !entry.is_symlink(error) ? entry.file_size(error) : 0;
    return error ? 0 : static_cast<std::int64_t>(size);
}

}  // namespace

// None: there are more files than may be looked at, by which `files` says how many that still are.
std::optional<Bytes> CacheFolder::count(const fs::path& item, std::int64_t& files) const {
    constexpr std::int64_t most = std::int64_t{1} << 62;  // sums do not overflow
    std::error_code error;
    if (--files < 0) return std::nullopt;
    std::int64_t bytes = size_of_file(fs::directory_entry(item, error));
    if (!fs::is_directory(item, error)) return Bytes(bytes);
    fs::recursive_directory_iterator at(item, fs::directory_options::skip_permission_denied, error), end;
    for (; !error && at != end; at.increment(error)) {
        if (--files < 0 || stop_) return std::nullopt;
        bytes += std::min(size_of_file(*at), most - bytes);
    }
    return error ? Bytes() : Bytes(bytes);
}

Bytes CacheFolder::size_of(const fs::path& item, std::int64_t& files) {
    std::error_code error;
    const Time written = fs::last_write_time(item, error);
    const auto known = counted_.find(item.string());
    if (known != counted_.end() && known->second.written == written) return known->second.size;
    const std::int64_t before = files;
    const auto size = count(item, files);
    // One that alone has too many is never counted.
    if (size || before == files_max) counted_[item.string()] = {written, size.value_or(Bytes())};
    return size.value_or(Bytes());
}

std::vector<CachedItem> CacheFolder::list(const std::string& kind, std::int64_t& files) {
    std::vector<CachedItem> out;
    std::error_code error;
    fs::directory_iterator at(root_ + "/" + kind, error), end;
    for (; !error && at != end && !stop_; at.increment(error))
        if (complete(*at)) out.push_back({at->path().filename().string(), {}});
    std::sort(out.begin(), out.end(), [](const CachedItem& a, const CachedItem& b) { return a.id < b.id; });
    if (out.size() > items_max) out.resize(items_max);
    for (CachedItem& item : out) item.size = size_of(root_ + "/" + kind + "/" + item.id, files);
    return out;
}

NodeCache CacheFolder::look() {
    NodeCache out;
    std::int64_t files = files_max;
    out.datasets = list("dataset", files);
    out.models = list("model", files);
    std::erase_if(counted_, [&](const auto& row) {
        const fs::path path(row.first);
        const auto& items = path.parent_path().filename() == "dataset" ? out.datasets : out.models;
        const std::string id = path.filename().string();
        const auto by_id = [](const CachedItem& item, const std::string& wanted) { return item.id < wanted; };
        const auto at = std::lower_bound(items.begin(), items.end(), id, by_id);
        return at == items.end() || at->id != id;
    });
    return out;
}

void CacheFolder::begin() {
    looked_us_ = clock_.ticks_us();
    looking_ = std::async(std::launch::async, [this] { return look(); });
}

bool CacheFolder::take() {
    if (!looking_.valid() || looking_.wait_for(patience_) != std::future_status::ready) return false;
    last_ = looking_.get();
    return true;
}

NodeCache CacheFolder::read() {
    if (root_.empty()) return {};
    if (!std::exchange(looked_, true)) begin(), take();
    return last_;
}

bool CacheFolder::changed() {
    if (root_.empty()) return false;
    if (!looking_.valid() && clock_.ticks_us() - looked_us_ >= between_looks_us) begin();
    const NodeCache before = last_;
    return take() && last_ != before;
}

}  // namespace crater::hw
