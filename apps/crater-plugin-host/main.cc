// crater-plugin-host NAME FILE CONFIG: one placement plugin in a process of its own, so that what it does to
// itself it does to itself alone. Started by the scheduler, with a socket and shared memory as descriptors 3
// and 4; ends when the socket does.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "crater/plugin/protocol.h"
#include "loader.h"

namespace crater::plugin_host {
namespace {

using namespace plugin;

// A hook that never returns ends the process even when nobody is left to do it.
constexpr unsigned patience_s = 10;

void limit(int resource, rlim_t value) {
    const rlimit limits{value, value};
    ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limits);
}

void confine() {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NOFILE, 64);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    limit(RLIMIT_DATA, rlim_t{1} << 30);
#else
    ::signal(SIGSEGV, SIG_DFL);  // a crash is seen as one
#endif
    // When memory runs out it is this that goes, not the scheduler.
    if (const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); fd >= 0) {
        [[maybe_unused]] const auto written = ::write(fd, "1000", 4);
        ::close(fd);
    }
}

template <std::size_t N>
void put(char (&out)[N], const std::string& text) {
    std::memcpy(out, text.data(), std::min(text.size(), N - 1));
}

Hello greeting(const std::string& name, const Result<Loaded>& loaded) {
    Hello hello;
    put(hello.name, name);
    if (!loaded) {
        put(hello.reason, loaded.error().message);
        return hello;
    }
    const auto& descriptor = loaded->descriptor;
    hello.hooks = (descriptor.filter ? filter_hook : 0u) | (descriptor.score ? score_hook : 0u);
    put(hello.version, descriptor.version);
    if (descriptor.description) put(hello.description, descriptor.description);
    return hello;
}

template <class T>
bool say(const T& packet) {
    return ::send(socket_fd, &packet, sizeof packet, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof packet);
}

// The nodes that the filter kept, and their scores back to where they belong.
int score_kept(const Loaded& plugin, const Views& views) {
    std::vector<const crater_node_view*> nodes;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < views.count; ++i)
        if (views.keep[i]) nodes.push_back(views.nodes[i]), places.push_back(i);
    if (nodes.empty()) return 0;
    std::vector<double> score(nodes.size(),
                              std::numeric_limits<double>::quiet_NaN());  // none may be left out
    const int returned =
        plugin.descriptor.score(plugin.context, views.job, nodes.data(), nodes.size(), score.data());
    for (std::size_t i = 0; i < places.size(); ++i) views.score[places[i]] = score[i];
    return returned;
}

Answer answer(const Loaded& plugin, const Ask& ask, std::byte* memory) {
    const Views views = open_image(memory);
    std::fill_n(views.keep, views.count, std::uint8_t{1});
    if (plugin.descriptor.filter)
        if (const int returned =
                plugin.descriptor.filter(plugin.context, views.job, views.nodes, views.count, views.keep))
            return {ask.sequence, filter_hook, returned};
    if (plugin.descriptor.score)
        if (const int returned = score_kept(plugin, views)) return {ask.sequence, score_hook, returned};
    return {ask.sequence, no_hook, 0};
}

int serve(const Loaded& plugin, std::byte* memory) {
    for (Ask ask; ::recv(socket_fd, &ask, sizeof ask, 0) == static_cast<ssize_t>(sizeof ask);) {
        ::alarm(patience_s);
        if (!say(answer(plugin, ask, memory))) break;
        ::alarm(0);
    }
    ::alarm(patience_s);
    if (plugin.descriptor.destroy) plugin.descriptor.destroy(plugin.context);
    return 0;
}

int run(const std::string& name, const std::string& file, const std::string& config) {
    void* memory = ::mmap(nullptr, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
    if (memory == MAP_FAILED) {
        std::fprintf(stderr, "crater-plugin-host is started by crater-scheduler\n");
        return 2;
    }
    confine();
    ::alarm(patience_s);
    const auto loaded = load(name, file, config);
    ::alarm(0);
    if (!say(greeting(name, loaded)) || !loaded) return 1;
    return serve(*loaded, static_cast<std::byte*>(memory));
}

}  // namespace
}  // namespace crater::plugin_host

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: crater-plugin-host NAME FILE CONFIG; crater-scheduler starts it\n");
        return 2;
    }
    return crater::plugin_host::run(argv[1], argv[2], argv[3]);
}
