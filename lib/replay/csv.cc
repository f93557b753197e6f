#include "csv.h"

#include <algorithm>
#include <charconv>

#include "crater/base/ids.h"

namespace crater::replay {
namespace {

void split_line(std::string_view line, std::vector<std::string_view>& out) {
    out.clear();
    if (line.ends_with('\r')) line.remove_suffix(1);
    for (std::size_t from = 0; from <= line.size();) {
        const auto comma = std::min(line.find(',', from), line.size());
        out.push_back(line.substr(from, comma - from));
        from = comma + 1;
    }
}

}  // namespace

bool read_number(std::string_view text, std::uint64_t& out) {
    const auto* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, out);
    return error == std::errc{} && at == end && !text.empty();
}

Result<void> Csv::columns(std::vector<std::string> needed, std::vector<std::string> optional) {
    std::getline(in_, line_);
    line_number_ = 1;
    split_line(line_, cells_);
    const auto required = needed.size();
    names_ = std::move(needed);
    names_.insert(names_.end(), optional.begin(), optional.end());
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const auto it = std::find(cells_.begin(), cells_.end(), names_[i]);
        if (it == cells_.end() && i < required)
            return fail(Code::invalid, "has no column " + names_[i] + "; its first line is " + shown(line_),
                        named_);
        positions_.push_back(static_cast<std::size_t>(it - cells_.begin()));
    }
    return {};
}

bool Csv::next() {
    while (std::getline(in_, line_)) {
        ++line_number_;
        split_line(line_, cells_);
        if (cells_.size() > 1 || !cells_.front().empty()) return true;
    }
    return false;
}

std::string_view Csv::text(std::size_t column) const {
    const auto position = positions_[column];
    return position < cells_.size() ? cells_[position] : std::string_view{};
}

Result<int> Csv::number(std::size_t column, int least, int most) const {
    std::uint64_t value = 0;
    const bool is_number = read_number(text(column), value);
    if (is_number && value >= static_cast<std::uint64_t>(least) && value <= static_cast<std::uint64_t>(most))
        return static_cast<int>(value);
    return fail(Code::invalid,
                names_[column] + " is " + shown(text(column)) + "; a whole number from " +
                    std::to_string(least) + " to " + std::to_string(most) + " is needed",
                place());
}

std::string Csv::place() const { return named_ + " line " + std::to_string(line_number_); }

}  // namespace crater::replay
