// Nodes in numbered buckets: which buckets have any, and in each the nodes by rank, as bits with a summary, so that adding, taking out
// and finding the next cost a few words whatever the size.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace crater::engine {

class Buckets {
  public:
    void reset(std::size_t buckets, std::size_t nodes) {
        words_ = (nodes + 63) / 64;
        ranks_.assign(buckets, {});
        count_.assign(buckets, 0);
        in_use_.assign((buckets + 63) / 64, 0);
    }

    void add(std::size_t bucket, std::size_t rank) {
        auto& set = ranks_[bucket];
        if (set.empty()) set.assign(words_ + (words_ + 63) / 64, 0);
        set[rank / 64] |= std::uint64_t{1} << (rank % 64);
        set[words_ + rank / 4096] |= std::uint64_t{1} << (rank / 64 % 64);
        if (count_[bucket]++ == 0) in_use_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
    }

    void remove(std::size_t bucket, std::size_t rank) {
        auto& set = ranks_[bucket];
        auto& word = set[rank / 64];
        word &= ~(std::uint64_t{1} << (rank % 64));
        if (word == 0) set[words_ + rank / 4096] &= ~(std::uint64_t{1} << (rank / 64 % 64));
        if (--count_[bucket] == 0) in_use_[bucket / 64] &= ~(std::uint64_t{1} << (bucket % 64));
    }

    // The first bucket from `from` on, below `end`, that has any; `end` when there is none.
    std::size_t next(std::size_t from, std::size_t end) const {
        while (from < end) {
            const std::uint64_t word = in_use_[from / 64] >> (from % 64);
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
        const auto& set = ranks_[bucket];
        for (std::size_t s = words_; s < set.size(); ++s)
            for (auto summary = set[s]; summary; summary &= summary - 1) {
                const auto w = (s - words_) * 64 + static_cast<std::size_t>(std::countr_zero(summary));
                for (auto word = set[w]; word; word &= word - 1)
                    if (!f(w * 64 + static_cast<std::size_t>(std::countr_zero(word)))) return false;
            }
        return true;
    }

  private:
    std::size_t words_ = 0;
    std::vector<std::vector<std::uint64_t>> ranks_;  // by bucket: bits by rank, then one bit a word of them
    std::vector<std::int32_t> count_;
    std::vector<std::uint64_t> in_use_;
};

}  // namespace crater::engine
