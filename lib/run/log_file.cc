#include "log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "fs.h"

namespace crater::run {
namespace {

struct Part {
    Fd fd;
    std::int64_t base = 0, size = 0;
    std::uint64_t inode = 0;
};

Part open_part(const std::string& path) {
    Part part;
    part.fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat st {};
    if (!part.fd || ::fstat(part.fd.get(), &st) != 0) return {};
    part.size = st.st_size;
    part.inode = st.st_ino;
    return part;
}

// False when the file is not in the index: it was rotated between two looks.
bool find_base(Part& part, const std::string& index) {
    std::istringstream in(index);
    std::uint64_t inode = 0;
    std::int64_t base = 0;
    while (in >> inode >> base)
        if (inode == part.inode) {
            part.base = base;
            return true;
        }
    return false;
}

}  // namespace

Result<std::pair<std::string, std::int64_t>> read_log(const std::string& path, const std::string& index,
                                                      std::int64_t offset, std::size_t bytes_max) {
    constexpr int looks_max = 100;
    for (int look = 0; look < looks_max; ++look) {
        Part old = open_part(path + ".1"), now = open_part(path);
        const std::string list = read_text(index).value_or("");
        if (!now.fd && !old.fd) return fail(Code::not_found, "there is no log of this task (yet)");
        if ((now.fd && !find_base(now, list)) || (old.fd && !find_base(old, list))) continue;
        std::string out;
        std::int64_t at = std::max<std::int64_t>(0, offset);
        for (Part* part : {&old, &now}) {
            if (out.size() >= bytes_max) break;
            if (!part->fd || at >= part->base + part->size) continue;
            at = std::max(at, part->base);
            const std::size_t before = out.size();
            out.resize(std::min(bytes_max, before + static_cast<std::size_t>(part->base + part->size - at)));
            std::size_t filled = before;
            while (filled < out.size()) {
                const ssize_t got =
                    ::pread(part->fd.get(), out.data() + filled, out.size() - filled, at - part->base);
                if (got <= 0) break;
                filled += static_cast<std::size_t>(got);
                at += got;
            }
            out.resize(filled);
        }
        return std::pair(std::move(out), at);
    }
    return fail(Code::unavailable, "the log is being rotated faster than it can be read");
}

}  // namespace crater::run
