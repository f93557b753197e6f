#include "server/port_owner.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace crater::wire {
namespace {

namespace fs = std::filesystem;

// The inode of the listening socket, from /proc/net/tcp: "  0: 0100007F:1F90 00000000:0000 0A ... inode".
std::string listening_inode(const char* table, std::uint16_t port) {
    std::ifstream in(table);
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
        std::istringstream words(line);
        std::string skip, local, remote, state, inode;
        words >> skip >> local >> remote >> state;
        for (int i = 0; i < 5; ++i) words >> skip;
        words >> inode;
        const std::size_t colon = local.rfind(':');
        if (state != "0A" || colon == std::string::npos) continue;
        if (std::stoul(local.substr(colon + 1), nullptr, 16) == port) return inode;
    }
    return {};
}

}  // namespace

std::string port_owner(std::uint16_t port) {
    std::string inode = listening_inode("/proc/net/tcp", port);
    if (inode.empty()) inode = listening_inode("/proc/net/tcp6", port);
    if (inode.empty()) return {};
    const std::string wanted = "socket:[" + inode + "]";
    std::error_code ec;
    for (fs::directory_iterator process("/proc", ec), end; !ec && process != end; process.increment(ec)) {
        const std::string pid = process->path().filename().string();
        if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
        std::error_code denied;
        for (fs::directory_iterator fd(process->path() / "fd", denied);
             !denied && fd != fs::directory_iterator(); fd.increment(denied)) {
            std::error_code gone;
            if (fs::read_symlink(fd->path(), gone).string() != wanted) continue;
            std::string name;
            std::getline(std::ifstream(process->path() / "comm"), name);
            return name + " (process " + pid + ")";
        }
    }
    return {};
}

}  // namespace crater::wire
