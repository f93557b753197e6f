#include "quota/tenants.h"

#include <charconv>
#include <map>

#include "crater/base/error.h"
#include "explain/words.h"

namespace crater::engine {
namespace {

template <class T>
std::int64_t value_or_none(const std::optional<T>& cap) {
    return cap ? cap->value : -1;
}
std::string iops_words(std::int64_t n) { return std::to_string(n) + " IOPS"; }
std::string job_words(std::int64_t n) { return count_words(n, "job at once", "jobs at once"); }
std::string gpu_memory_words(std::int64_t n) { return mib_words(n) + " of GPU memory"; }
std::string memory_words(std::int64_t n) { return bytes_words(n) + " of memory"; }
std::string disk_words(std::int64_t n) { return bytes_words(n) + " of disk"; }

constexpr QuotaRow quota_rows[quota_kinds] = {
    {"gpu", "resources.gpu.count", [](const Quota& q) { return value_or_none(q.gpu); }, card_words},
    {"gpu_memory", "resources.gpu.memory", [](const Quota& q) { return value_or_none(q.gpu_memory); },
     gpu_memory_words},
    {"cpu", "resources.cpu.cores", [](const Quota& q) { return value_or_none(q.cpu); }, core_words},
    {"memory", "resources.memory.size", [](const Quota& q) { return value_or_none(q.memory); }, memory_words},
    {"disk", "resources.disk.size", [](const Quota& q) { return value_or_none(q.disk); }, disk_words},
    {"iops", "resources.disk.iops", [](const Quota& q) { return value_or_none(q.iops); }, iops_words},
    {"jobs", "tenant", [](const Quota& q) { return q.jobs ? *q.jobs : -1; }, job_words},
};

}  // namespace

std::span<const QuotaRow> quota_table() { return quota_rows; }

std::int64_t saturating_product(std::int64_t amount, std::int64_t times) {
    std::int64_t out = 0;
    return __builtin_mul_overflow(amount, times, &out) ? INT64_MAX : out;
}

Amounts amounts_of(const Slices& s) {
    Amounts out{};
    for (const auto& slice : s.cards) out[0] += slice.compute, out[1] += slice.memory;
    out[2] = s.cpu;
    out[3] = s.memory;
    out[4] = s.disk_size;
    out[5] = s.disk_iops;
    return out;
}

Usage to_usage(const Amounts& a) {
    return {MilliGpu(a[0]), Mebibytes(a[1]), MilliCpu(a[2]), Bytes(a[3]), Bytes(a[4]), Iops(a[5]), a[6]};
}

int Tenants::intern(const std::string& path) {
    if (const int known = find(path); known >= 0) return known;
    const auto slash = path.rfind('/');
    const int parent = slash == std::string::npos ? -1 : intern(path.substr(0, slash));
    const auto position = static_cast<int>(books_.size());
    Book book;
    book.path = path;
    book.parent = parent;
    books_.push_back(std::move(book));
    positions_.emplace(path, position);
    return position;
}

int Tenants::find(const std::string& path) const {
    const auto it = positions_.find(path);
    return it == positions_.end() ? -1 : it->second;
}

int Tenants::nearest(const std::string& path) const {
    for (std::string name = path; !name.empty();) {
        if (const int known = find(name); known >= 0) return known;
        const auto slash = name.rfind('/');
        name.resize(slash == std::string::npos ? 0 : slash);
    }
    return -1;
}

void Tenants::set(const Tenant& tenant) {
    Book& book = books_[static_cast<std::size_t>(intern(tenant.path))];
    for (std::size_t kind = 0; kind < quota_kinds; ++kind)
        book.caps[kind] = quota_rows[kind].cap(tenant.hard);
    book.capped = book.caps != none();
    ++book.eased;
}

bool Tenants::capped(int tenant) const {
    for (int t = tenant; t >= 0; t = books_[static_cast<std::size_t>(t)].parent)
        if (books_[static_cast<std::size_t>(t)].capped) return true;
    return false;
}

Ceiling Tenants::over(int tenant, const Amounts& amounts, bool of_empty) const {
    for (int t = tenant; t >= 0; t = books_[static_cast<std::size_t>(t)].parent) {
        const Book& book = books_[static_cast<std::size_t>(t)];
        for (std::size_t kind = 0; kind < quota_kinds; ++kind) {
            const auto cap = book.caps[kind];
            const auto held = of_empty ? 0 : book.held[kind];
            // Nothing asked of a kind is within any cap, also one that was lowered below what is held.
            if (cap >= 0 && amounts[kind] > 0 && amounts[kind] > cap - held)
                return {t, kind, cap, held, amounts[kind]};
        }
    }
    return {};
}

Ceiling Tenants::charge(int tenant, const Amounts& amounts) {
    const Ceiling ceiling = over(tenant, amounts);
    if (!ceiling) add(tenant, amounts, 1);
    return ceiling;
}

void Tenants::charge_anyway(int tenant, const Amounts& amounts) { add(tenant, amounts, 1); }

void Tenants::release(int tenant, const Amounts& amounts) {
    add(tenant, amounts, -1);
    for (int t = tenant; t >= 0; t = books_[static_cast<std::size_t>(t)].parent)
        ++books_[static_cast<std::size_t>(t)].eased;
}

void Tenants::add(int tenant, const Amounts& amounts, int sign) {
    for (int t = tenant; t >= 0; t = books_[static_cast<std::size_t>(t)].parent) {
        Book& book = books_[static_cast<std::size_t>(t)];
        book.use.settle(now_, book.held[0], half_life_);
        for (std::size_t kind = 0; kind < quota_kinds; ++kind) {
            book.held[kind] += sign * amounts[kind];
            CRATER_CHECK(book.held[kind] >= 0, "a tenant gives back more than it holds");
        }
    }
}

void Tenants::set_half_life(Millis half_life) {
    for (auto& book : books_) book.use.settle(now_, book.held[0], half_life_);
    half_life_ = half_life;
}

std::int64_t Tenants::used(int t) const {
    constexpr std::int64_t ahead = 3'600'000;
    const Book& book = books_[static_cast<std::size_t>(t)];
    Decayed use = book.use;
    use.settle(now_, book.held[0], half_life_);
    return use.amount + std::min(saturating_product(book.held[0], ahead), INT64_MAX / 2);
}

std::string Tenants::save_use() const {
    std::string out;
    for (const auto& [path, t] : std::map<std::string_view, int>(positions_.begin(), positions_.end())) {
        Decayed use = books_[static_cast<std::size_t>(t)].use;
        use.settle(now_, books_[static_cast<std::size_t>(t)].held[0], half_life_);
        if (use.amount > 0)
            out += std::to_string(use.amount) + " " + std::to_string(use.since.ms) + " " + std::string(path) +
                   "\n";
    }
    return out;
}

bool Tenants::load_use(std::string_view text) {
    std::vector<std::pair<std::string, Decayed>> read;
    while (!text.empty()) {
        Decayed use;
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return false;
        const std::string_view line = text.substr(0, end);
        const char* const last = line.data() + line.size();
        const auto amount = std::from_chars(line.data(), last, use.amount);
        if (amount.ec != std::errc() || amount.ptr == last || use.amount < 0) return false;
        const auto since = std::from_chars(amount.ptr + 1, last, use.since.ms);
        if (since.ec != std::errc() || since.ptr == last) return false;
        read.emplace_back(std::string(since.ptr + 1, last), use);
        text.remove_prefix(end + 1);
    }
    for (const auto& [path, use] : read) books_[static_cast<std::size_t>(intern(path))].use = use;
    return true;
}

}  // namespace crater::engine
