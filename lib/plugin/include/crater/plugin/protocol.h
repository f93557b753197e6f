// What the scheduler and a plugin's host process say to each other: packets on a socket, and beside it shared
// memory that carries the views of one decision and the answer. Both come from the same build on the same
// machine, so structures travel as they lie in memory.
//
// The scheduler trusts nothing that comes back: it knows itself how long an answer is and where it lies,
// copies it, and checks the copy. The memory cannot be cut short (it is sealed).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "crater/engine/hooks.h"
#include "crater/plugin.h"

namespace crater::plugin {

inline constexpr std::uint32_t protocol_version = 1;
inline constexpr std::size_t shared_bytes = std::size_t{4} << 20;
inline constexpr int socket_fd = 3, memory_fd = 4;  // in the host process

enum Hooks : std::uint32_t { no_hook = 0, filter_hook = 1, score_hook = 2 };

// The host's first packet: the plugin is loaded, or why not. Texts end with a NUL.
struct Hello {
    std::uint32_t protocol = protocol_version;
    std::uint32_t hooks = no_hook;  // none: refused
    char name[64] = {}, version[32] = {}, description[256] = {};
    char reason[512] = {};  // a sentence, when refused
};
// An image of `nodes` nodes lies in the shared memory.
struct Ask {
    std::uint64_t sequence = 0;
};
struct Answer {
    std::uint64_t sequence = 0;
    std::uint32_t failed = no_hook;  // which hook returned other than 0
    std::int32_t returned = 0;
};

// At the beginning of the shared memory; places are offsets from there.
struct ImageHead {
    std::uint32_t nodes = 0, reserved = 0;
    std::uint64_t job_at = 0;    // crater_job_view
    std::uint64_t list_at = 0;   // crater_node_view*[nodes]
    std::uint64_t keep_at = 0;   // uint8_t[nodes]
    std::uint64_t score_at = 0;  // double[nodes]
};

// Writes the views, with offsets where pointers will be; nothing when they have no room.
std::optional<ImageHead> write_image(std::span<std::byte> memory, const engine::JobView& job,
                                     std::span<const engine::NodeView> nodes);
// Turns the offsets into pointers, once, in the process that reads.
struct Views {
    const crater_job_view* job = nullptr;
    const crater_node_view* const* nodes = nullptr;
    std::uint8_t* keep = nullptr;
    double* score = nullptr;
    std::size_t count = 0;
};
Views open_image(std::byte* memory);

}  // namespace crater::plugin
