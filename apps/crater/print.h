// Tables and documents on stdout, and how amounts look to people.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "context.h"

namespace crater::cli {

struct Column {
    std::string header;
    std::function<std::string(const Json&)> cell;
    bool wide = false;  // only with --output wide
};

// `items` as a table with aligned columns, or the whole `answer` as JSON or YAML. An empty table is the
// sentence `when_empty`.
void print_table(const Context& context, const Json& answer, const Json& items,
                 const std::vector<Column>& columns, const std::string& when_empty);
// JSON and YAML as they are; `table` prints for people.
void print_answer(const Context& context, const Json& answer, const std::function<void()>& table);

// The member at a dotted path as text; "" when absent.
std::string text(const Json& tree, std::string_view path);
double number(const Json& tree, std::string_view path);
// "Running", coloured on a terminal
std::string column_state(const Context& context, const std::string& state);

std::string bytes_text(double bytes);  // "1.5 GiB"
std::string mib_text(double mib);
std::string amount_text(double amount);              // "8", "0.5"
std::string ago_text(const std::string& instant);    // "3m", "2h"; "" for never
std::string until_text(const std::string& instant);  // the same of a time to come; "0s" when it is past
std::string span_text(const std::string& from, const std::string& to);

// What a plan would do, and to whom.
void print_plan(const Json& plan);
// What would start a waiting job, a line each.
// `thorough`: how to look for more; empty: there is no way.
void print_changes(const Json& why, const std::string& thorough = {});

}  // namespace crater::cli
