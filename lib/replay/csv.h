// One file of comma separated values under a line of column names. Without quoting: the traces have none.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "crater/base/error.h"

namespace crater::replay {

class Csv {
  public:
    // `named` stands for the file in messages.
    Csv(std::istream& in, std::string named) : in_(in), named_(std::move(named)) {}
    // Reads the first line. A column that is not there is an error, unless it is optional: then its text is
    // empty.
    Result<void> columns(std::vector<std::string> needed, std::vector<std::string> optional = {});
    // The next line that is not empty; false at the end.
    bool next();
    // Of the present line, by the position of the column in what `columns` was given.
    std::string_view text(std::size_t column) const;
    Result<int> number(std::size_t column, int least, int most) const;
    // "FILE line 7": where a message about the present line belongs.
    std::string place() const;

  private:
    std::istream& in_;
    std::string named_;
    std::vector<std::string> names_;
    std::vector<std::size_t> positions_;  // of the columns in the file
    std::string line_;
    std::vector<std::string_view> cells_;
    int line_number_ = 0;
};

// The whole text as a number without sign.
bool read_number(std::string_view text, std::uint64_t& out);

}  // namespace crater::replay
