// Bytes that came in and are not used yet.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

namespace crater::wire {

class ReadBuffer {
  public:
    std::string_view view() const { return {bytes_.data() + begin_, end_ - begin_}; }
    bool empty() const { return begin_ == end_; }
    std::size_t size() const { return end_ - begin_; }

    // Room behind the bytes for at least `n` more. It stays where it is until `commit`; bytes may be consumed
    // meanwhile.
    char* prepare(std::size_t n) {
        if (bytes_.size() - end_ < n) {
            std::memmove(bytes_.data(), bytes_.data() + begin_, size());
            end_ -= begin_;
            begin_ = 0;
            if (bytes_.size() - end_ < n) bytes_.resize(end_ + n);
        }
        pinned_ = true;
        return bytes_.data() + end_;
    }
    void commit(std::size_t n) {
        end_ += n;
        pinned_ = false;
    }
    void consume(std::size_t n) {
        begin_ += n;
        if (begin_ == end_ && !pinned_) begin_ = end_ = 0;
    }
    // Gives back what a large message needed.
    void shrink(std::size_t room) {
        if (!empty() || pinned_ || bytes_.size() <= room) return;
        bytes_ = std::vector<char>(room);
    }

  private:
    std::vector<char> bytes_ = std::vector<char>(64);
    std::size_t begin_ = 0, end_ = 0;
    bool pinned_ = false;
};

}  // namespace crater::wire
