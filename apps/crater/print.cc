#include "print.h"

#include <fmt/format.h>

#include <iostream>

#include "crater/base/clock.h"
#include "crater/base/quantity.h"
#include "crater/codec/codec.h"

namespace crater::cli {
namespace {

// Characters a terminal shows, counting a CJK ideograph as two. Enough for names people give.
std::size_t shown_width(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c == 0x1b) {
            while (i < text.size() && text[i] != 'm') ++i;
            continue;
        }
        if ((c & 0xC0) == 0x80) continue;
        width += c >= 0xE3 && c <= 0xED ? 2 : 1;
    }
    return width;
}

void print_row(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        line += cells[i];
        if (i + 1 < cells.size()) line += std::string(widths[i] - shown_width(cells[i]) + 2, ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    std::cout << line << "\n";
}

std::string span(std::int64_t ms) {
    const std::int64_t s = std::max<std::int64_t>(0, ms / 1000);
    if (s < 60) return fmt::format("{}s", s);
    if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
    if (s < 48 * 3600) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
    return fmt::format("{}d{:02}h", s / 86400, s / 3600 % 24);
}

}  // namespace

void print_answer(const Context& context, const Json& answer, const std::function<void()>& table) {
    if (context.output == Output::json)
        std::cout << answer.dump(2) << "\n";
    else if (context.output == Output::yaml)
        std::cout << codec::to_yaml(answer);
    else
        table();
}

void print_table(const Context& context, const Json& answer, const Json& items,
                 const std::vector<Column>& columns, const std::string& when_empty) {
    print_answer(context, answer, [&] {
        if (items.empty()) {
            std::cerr << when_empty << "\n";
            return;
        }
        std::vector<std::vector<std::string>> rows(1);
        for (const Column& column : columns)
            if (!column.wide || context.output == Output::wide) rows[0].push_back(column.header);
        for (const Json& item : items) {
            std::vector<std::string> row;
            for (const Column& column : columns)
                if (!column.wide || context.output == Output::wide) {
                    row.push_back(column.cell(item));
                    if (row.back().empty()) row.back() = "-";
                }
            rows.push_back(std::move(row));
        }
        std::vector<std::size_t> widths(rows[0].size());
        for (const auto& row : rows)
            for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], shown_width(row[i]));
        for (const auto& row : rows) print_row(row, widths);
    });
}

namespace {
const Json* find(const Json& tree, std::string_view path) {
    const Json* node = &tree;
    while (!path.empty()) {
        const auto dot = path.find('.');
        const std::string key(path.substr(0, dot));
        if (!node->is_object() || !node->contains(key)) return nullptr;
        node = &(*node)[key];
        path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    }
    return node;
}
}  // namespace

std::string text(const Json& tree, std::string_view path) {
    const Json* node = find(tree, path);
    if (!node || node->is_null()) return {};
    if (node->is_string()) return node->get<std::string>();
    if (node->is_number_float()) return amount_text(node->get<double>());
    if (node->is_array()) {
        std::string joined;
        for (const Json& item : *node)
            joined +=
                (joined.empty() ? "" : ",") + (item.is_string() ? item.get<std::string>() : item.dump());
        return joined;
    }
    return node->dump();
}

double number(const Json& tree, std::string_view path) {
    const Json* node = find(tree, path);
    return node && node->is_number() ? node->get<double>() : 0;
}

std::string column_state(const Context& context, const std::string& state) {
    if (!context.colours) return state;
    const char* colour = "0";
    if (state == "Running" || state == "up")
        colour = "32";
    else if (state == "Failed" || state == "Lost" || state == "lost")
        colour = "31";
    else if (state == "Pending" || state == "Preempting" || state == "Preempted" || state == "draining")
        colour = "33";
    else if (state == "Preparing" || state == "Ready")
        colour = "36";
    return fmt::format("\x1b[{}m{}\x1b[0m", colour, state);
}

std::string bytes_text(double bytes) {
    static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < std::size(units)) bytes /= 1024, ++unit;
    return fmt::format("{}{}", amount_text(bytes), units[unit]);
}
std::string mib_text(double mib) { return bytes_text(mib * 1024 * 1024); }

std::string amount_text(double amount) {
    if (amount == static_cast<double>(static_cast<std::int64_t>(amount)))
        return fmt::format("{}", static_cast<std::int64_t>(amount));
    return fmt::format("{:.1f}", amount);
}

std::string ago_text(const std::string& instant) {
    auto at = parse_instant(instant);
    if (!at) return {};
    return span((system_clock()->now() - *at).count());
}

std::string until_text(const std::string& instant) {
    auto at = parse_instant(instant);
    if (!at) return {};
    return span(std::max<std::int64_t>(0, (*at - system_clock()->now()).count()));
}

std::string span_text(const std::string& from, const std::string& to) {
    auto begin = parse_instant(from);
    if (!begin) return {};
    auto end = parse_instant(to);
    return span(((end ? *end : system_clock()->now()) - *begin).count());
}

void print_changes(const Json& why, const std::string& thorough) {
    const Json changes = why.value("changes", Json::array());
    if (!changes.empty()) std::cout << "\nWould start now with one of\n";
    for (const Json& change : changes) std::cout << "  " << text(change, "text") << "\n";
    if (text(why, "more_changes") == "true")
        std::cout << (changes.empty() ? "\n" : "") << "Other changes may do as well"
                  << (thorough.empty() ? "" : ": " + thorough + " looks for them to the end") << ".\n";
}

void print_plan(const Json& plan) {
    std::cout << text(plan, "summary") << "\n";
    const Json jobs = plan.value("jobs", Json::array());
    const auto names = [](const Json& list) {
        std::string out;
        for (const Json& name : list) out += (out.empty() ? "" : ",") + name.get<std::string>();
        return out;
    };
    if (!jobs.empty())
        std::cout << fmt::format("\n{:<28} {:<13} {:<20} {:<20} {:>14}  {}\n", "JOB", "WHAT", "FROM", "TO",
                                 "LOST GPU-S", "");
    for (const Json& job : jobs)
        std::cout << fmt::format(
            "{:<28} {:<13} {:<20} {:<20} {:>14}  {}\n",
            text(job, "job").empty() ? "(this one)" : text(job, "job"), text(job, "effect"),
            names(job.value("from", Json::array())), names(job.value("to", Json::array())),
            number(job, "lost_gpu_seconds") > 0 ? amount_text(number(job, "lost_gpu_seconds")) : "",
            text(job, "detail"));
    if (number(plan, "affected") > static_cast<double>(jobs.size()))
        std::cout << "... " << text(plan, "affected") << " jobs in all\n";
    if (plan.contains("why")) print_changes(plan["why"]);
}

}  // namespace crater::cli
