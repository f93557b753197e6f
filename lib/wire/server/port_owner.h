#pragma once

#include <cstdint>
#include <string>

namespace crater::wire {

// Who listens on a TCP port of this machine: "nginx (process 812)"; "" when that cannot be seen.
std::string port_owner(std::uint16_t port);

}  // namespace crater::wire
