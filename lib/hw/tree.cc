#include "tree.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace crater::hw {

Tree::Tree(std::string_view root) : root_(root) {
    while (!root_.empty() && root_.back() == '/') root_.pop_back();
    if (root_.empty()) return;
    std::error_code error;
    if (auto real = std::filesystem::canonical(root_, error); !error) root_ = real.string();
}

std::string Tree::text(std::string_view path) const {
    std::ifstream in(full(path), std::ios::binary);
    std::ostringstream out;
    if (in) out << in.rdbuf();
    return std::move(out).str();
}

std::string Tree::line(std::string_view path) const {
    const std::string all = text(path);
    return std::string(trimmed(std::string_view(all).substr(0, all.find('\n'))));
}

std::optional<std::int64_t> Tree::number(std::string_view path) const { return whole_number(line(path)); }

std::vector<std::string> Tree::list(std::string_view path) const {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator it(full(path), error), end; !error && it != end;
         it.increment(error))
        names.push_back(it->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

bool Tree::exists(std::string_view path) const {
    std::error_code error;
    return std::filesystem::exists(full(path), error);
}

std::string Tree::real(std::string_view path) const {
    std::error_code error;
    const std::string found = std::filesystem::canonical(full(path), error).string();
    if (error || !found.starts_with(root_)) return {};
    return found.substr(root_.size());
}

std::int64_t Tree::numa_node(std::string_view device) const {
    for (std::string folder = real(device); folder.size() > 1; folder.erase(folder.rfind('/')))
        if (auto node = number(folder + "/numa_node")) return *node;
    return -1;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string_view> words(std::string_view text, std::string_view separators) {
    std::vector<std::string_view> out;
    for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos;) {
        const auto end = std::min(text.find_first_of(separators, at), text.size());
        out.push_back(text.substr(at, end - at));
        at = text.find_first_not_of(separators, end);
    }
    return out;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<std::int64_t> cpu_list(std::string_view text) {
    constexpr std::int64_t cpus_max = 1 << 20;
    std::vector<std::int64_t> out;
    for (auto part : words(text, ", \t\n")) {
        const auto dash = part.find('-');
        const auto first = whole_number(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : whole_number(part.substr(dash + 1));
        if (!first || !last || *first < 0 || *last >= cpus_max) continue;
        for (auto cpu = *first; cpu <= *last; ++cpu) out.push_back(cpu);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

}  // namespace crater::hw
