#include "nvml.h"

#include <dlfcn.h>

namespace crater::hw::nvml {
namespace {

template <class F>
void resolve(void* handle, const char* symbol, F*& function) {
    function = reinterpret_cast<F*>(dlsym(handle, symbol));
}

}  // namespace

std::unique_ptr<Library> Library::open(const std::string& path, std::string& why) {
    std::unique_ptr<Library> library(new Library);
    library->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library->handle_) {
        const char* said = dlerror();
        why = said ? said : "not found";
        return nullptr;
    }
#define CRATER_NVML_RESOLVE(symbol, member, arguments) resolve(library->handle_, #symbol, library->member);
    CRATER_NVML_FUNCTIONS(CRATER_NVML_RESOLVE)
#undef CRATER_NVML_RESOLVE
    library->fake_ = dlsym(library->handle_, "crater_fake_nvml") != nullptr;
    if (const int code = call(library->init); code != success) {
        why = code == driver_not_loaded ? "the NVIDIA driver is not loaded"
                                        : "nvmlInit failed with code " + std::to_string(code);
        return nullptr;
    }
    library->started_ = true;
    return library;
}

Library::~Library() {
    if (started_) call(shutdown);
    if (handle_) dlclose(handle_);
}

}  // namespace crater::hw::nvml
