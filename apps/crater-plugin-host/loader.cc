#include "loader.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace crater::plugin_host {
namespace {

auto refuse(const std::string& why) { return fail(Code::invalid, why); }

Result<int> copy_in_memory(const std::string& file) {
    const int from = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (from < 0) return refuse("cannot read " + file + ": " + std::strerror(errno));
    const int to = ::memfd_create("plugin", MFD_CLOEXEC);
    if (to < 0) return refuse(std::string("memfd_create: ") + std::strerror(errno));
    ssize_t moved = 0;
    while ((moved = ::sendfile(to, from, nullptr, 1 << 24)) > 0) {
    }
    ::close(from);
    if (moved < 0) return refuse("cannot read " + file + ": " + std::strerror(errno));
    return to;
}

// The loader's own words name the copy; people know the file.
std::string loader_says(const std::string& copy) {
    const char* said = ::dlerror();
    std::string text = said ? said : "unknown";
    for (std::size_t at; (at = text.find(copy + ": ")) != std::string::npos;) text.erase(at, copy.size() + 2);
    return text;
}

Result<void*> open_object(const std::string& file) {
    CRATER_TRY(copy, copy_in_memory(file));
    char magic[4] = {};
    if (::pread(copy, magic, 4, 0) != 4 || std::memcmp(magic, "\177ELF", 4) != 0)
        return refuse("it is not a shared object");
    const std::string path = "/proc/self/fd/" + std::to_string(copy);
    void* object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!object) return refuse("it cannot be loaded: " + loader_says(path));
    return object;
}

Result<crater_plugin_descriptor> descriptor_in(void* object) {
    using Entry = const crater_plugin_descriptor* (*)();
    const auto entry = reinterpret_cast<Entry>(::dlsym(object, "crater_plugin"));
    if (!entry) return refuse("it does not export crater_plugin");
    const crater_plugin_descriptor* given = entry();
    if (!given) return refuse("crater_plugin returned null");
    if (given->abi_version != CRATER_PLUGIN_ABI_VERSION)
        return refuse("it was built for version " + std::to_string(given->abi_version) +
                      " of the plugin interface; this is version " +
                      std::to_string(CRATER_PLUGIN_ABI_VERSION));
    crater_plugin_descriptor out{};
    std::memcpy(&out, given, std::min<std::size_t>(given->size, sizeof out));
    return out;
}

Result<void> check(const crater_plugin_descriptor& descriptor, const std::string& name) {
    if (!descriptor.name || !descriptor.version) return refuse("its descriptor has no name or no version");
    if (name != descriptor.name)
        return refuse("it calls itself \"" + std::string(descriptor.name).substr(0, 63) +
                      "\"; a file is called like its plugin: " + name);
    if (!descriptor.filter && !descriptor.score) return refuse("it has neither filter nor score");
    return {};
}

std::string text_of(const std::string& file) {
    std::ostringstream text;
    if (std::ifstream in(file); in) text << in.rdbuf();
    return text.str();
}

}  // namespace

Result<Loaded> load(const std::string& name, const std::string& file, const std::string& config) {
    CRATER_TRY(object, open_object(file));
    CRATER_TRY(descriptor, descriptor_in(object));
    CRATER_TRY_VOID(check(descriptor, name));
    Loaded out{descriptor, nullptr};
    if (!descriptor.create) return out;
    char error[256] = {};
    const int returned = descriptor.create(text_of(config).c_str(), &out.context, error, sizeof error);
    if (returned == 0) return out;
    error[sizeof error - 1] = '\0';
    const std::string why = error[0] ? error : "it did not say why";
    return refuse("create returned " + std::to_string(returned) + ": " + why);
}

}  // namespace crater::plugin_host
