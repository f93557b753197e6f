// What each tenant may hold and holds. Charges go up the chain of parents: a parent's figure includes its
// descendants'.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "crater/engine/explain.h"
#include "crater/model/tenant.h"
#include "quota/decayed.h"
#include "state/ledger.h"

namespace crater::engine {

// One amount per kind of quota, in the order of quota_table().
inline constexpr std::size_t quota_kinds = 7;
using Amounts = std::array<std::int64_t, quota_kinds>;
inline constexpr std::size_t jobs_kind = 6;

struct QuotaRow {
    std::string_view name;              // "gpu_memory"
    std::string_view field;             // of the job file
    std::int64_t (*cap)(const Quota&);  // -1 = none
    std::string (*words)(std::int64_t);
};
std::span<const QuotaRow> quota_table();

Amounts amounts_of(const Slices& slices);
Usage to_usage(const Amounts& amounts);
std::int64_t saturating_product(std::int64_t amount, std::int64_t times);

// A cap that is too low for what is asked.
struct Ceiling {
    int tenant = -1;  // -1: everything is within the caps
    std::size_t kind = 0;
    std::int64_t cap = 0, held = 0, asked = 0;
    explicit operator bool() const { return tenant >= 0; }
};

class Tenants {
  public:
    int intern(const std::string& path);         // its parents too
    int find(const std::string& path) const;     // -1 when it was never named
    int nearest(const std::string& path) const;  // itself or the closest parent that is known
    void set(const Tenant& tenant);
    int count() const { return static_cast<int>(books_.size()); }
    const std::string& path(int t) const { return books_[static_cast<std::size_t>(t)].path; }
    const Amounts& held(int t) const { return books_[static_cast<std::size_t>(t)].held; }

    // Check and charge are one step: a refused charge changes nothing.
    Ceiling charge(int tenant, const Amounts& amounts);
    void charge_anyway(int tenant,
                       const Amounts& amounts);  // a stored placement is a fact, whatever the caps say now
    void release(int tenant, const Amounts& amounts);
    // tried, and to be taken back: nobody who waits is told
    void add(int tenant, const Amounts& amounts, int sign);
    // Whether there is any cap on it or above.
    bool capped(int tenant) const;
    Ceiling over(int tenant, const Amounts& amounts,
                 bool of_empty = false) const;  // without what is held: the ceiling itself
    // Counts what could let a job of this tenant start: releases below it and changed caps.
    std::uint64_t eased(int t) const { return books_[static_cast<std::size_t>(t)].eased; }

    // The time, as facts and passes tell it: what is held is used until then. Never goes back.
    void advance(Instant now) { now_ = std::max(now_, now); }
    void set_half_life(Millis half_life);
    // GPU time used until now, decayed; what is held counts as used for a while ahead, so that what one got a
    // moment ago counts.
    std::int64_t used(int t) const;
    bool in_use() const { return !save_use().empty(); }
    std::string save_use() const;          // a line a tenant
    bool load_use(std::string_view text);  // false: not what was saved; nothing changes then

  private:
    static Amounts none() {
        Amounts out;
        out.fill(-1);
        return out;
    }
    struct Book {
        std::string path;
        int parent = -1;
        Amounts caps = none();  // -1: none
        bool capped = false;    // there is one
        Amounts held{};
        std::uint64_t eased = 0;
        Decayed use;
    };

    Instant now_;
    Millis half_life_{7 * 86'400'000LL};
    std::vector<Book> books_;
    std::unordered_map<std::string, int> positions_;
};

}  // namespace crater::engine
