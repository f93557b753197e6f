// Nodes in numbered buckets: which buckets have any, and in each the nodes by rank, as bits with a summary,
// so that adding, taking out and finding the next cost a few words whatever the size.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace crater::engine {

class Buckets {
  public:
    void reset(std::size_t buckets, std::size_t nodes) {
        words_ = (nodes + 63) / 64;
        first_ = 1 + (words_ + 63) / 64;
        sets_.clear();
        sets_.resize(buckets);
        in_use_.assign((buckets + 63) / 64, 0);
    }

    void add(std::size_t bucket, std::size_t rank) {
        if (!sets_[bucket]) sets_[bucket] = std::make_unique<std::uint64_t[]>(first_ + words_);
        std::uint64_t* const set = sets_[bucket].get();
        set[first_ + rank / 64] |= std::uint64_t{1} << (rank % 64);
        set[1 + rank / 4096] |= std::uint64_t{1} << (rank / 64 % 64);
        if (set[0]++ == 0) in_use_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
    }

    void remove(std::size_t bucket, std::size_t rank) {
        std::uint64_t* const set = sets_[bucket].get();
        auto& word = set[first_ + rank / 64];
        word &= ~(std::uint64_t{1} << (rank % 64));
        if (word == 0) set[1 + rank / 4096] &= ~(std::uint64_t{1} << (rank / 64 % 64));
        if (--set[0] == 0) in_use_[bucket / 64] &= ~(std::uint64_t{1} << (bucket % 64));
    }

    // The first bucket from `from` on, below `end`, that has any; `end` when there is none. Only buckets
    // whose number has its bit in `among`, which repeats every 64.
    std::size_t next(std::size_t from, std::size_t end, std::uint64_t among) const {
        while (from < end) {
            const std::uint64_t word = (in_use_[from / 64] & among) >> (from % 64);
            if (word) {
                from += static_cast<std::size_t>(std::countr_zero(word));
                return from < end ? from : end;
            }
            from = (from / 64 + 1) * 64;
        }
        return end;
    }

    // Calls f(rank) in ascending order until it returns false; gives whether it went through.
    template <class F>
    bool each(std::size_t bucket, F f) const {
        const std::uint64_t* const set = sets_[bucket].get();
        if (!set) return true;
        for (std::size_t s = 1; s < first_; ++s)
            for (auto summary = set[s]; summary; summary &= summary - 1) {
                const auto w = (s - 1) * 64 + static_cast<std::size_t>(std::countr_zero(summary));
                for (auto word = set[first_ + w]; word; word &= word - 1)
                    if (!f(w * 64 + static_cast<std::size_t>(std::countr_zero(word)))) return false;
            }
        return true;
    }

  private:
    std::size_t words_ = 0, first_ = 1;
    // By bucket, null until it has any: how many, one bit for each word of bits, bits by rank.
    std::vector<std::unique_ptr<std::uint64_t[]>> sets_;
    std::vector<std::uint64_t> in_use_;
};

}  // namespace crater::engine
