#include "folder.h"

#include <sys/stat.h>

#include <filesystem>

#include "crater/base/ids.h"

namespace crater::plugin {
namespace {

constexpr std::size_t name_max = 63;

std::string stamp_of(const std::string& file) {
    struct stat s {};
    if (::stat(file.c_str(), &s) != 0) return "-";
    return std::to_string(s.st_dev) + "." + std::to_string(s.st_ino) + "." + std::to_string(s.st_size) + "." +
           std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec);
}

// What anyone may write is no place for code that the scheduler runs.
std::string wrong_with(const std::string& file, const std::string& name) {
    struct stat s {};
    if (::stat(file.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) return "it is not a regular file";
    if (s.st_mode & S_IWOTH) return "anyone may write to it; take that right away (chmod o-w)";
    if (!check_id(name, {}) || name.size() > name_max)
        return "its name is no plugin's: up to 63 characters of A-Za-z0-9._:-";
    return {};
}

}  // namespace

Result<std::map<std::string, Found>> plugins_in(const std::string& folder) {
    std::map<std::string, Found> out;
    std::error_code error;
    std::filesystem::directory_iterator entries(folder, error);
    if (error == std::errc::no_such_file_or_directory) return out;
    if (error) return fail(Code::unavailable, "cannot read " + folder + ": " + error.message(), "plugin_dir");
    for (const std::filesystem::directory_iterator end; entries != end; entries.increment(error)) {
        const auto& path = entries->path();
        if (path.extension() != ".so") continue;
        Found found{.file = path.string(), .config = (path.parent_path() / path.stem()).string() + ".conf"};
        found.stamp = stamp_of(found.file) + " " + stamp_of(found.config);
        found.wrong = wrong_with(found.file, path.stem().string());
        out[path.stem().string()] = std::move(found);
        if (error) break;
    }
    if (error) return fail(Code::unavailable, "cannot read " + folder + ": " + error.message(), "plugin_dir");
    return out;
}

}  // namespace crater::plugin
