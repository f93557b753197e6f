// What the CPUs are: model, instruction sets, operating system.
#pragma once

#include <string>
#include <vector>

#include "tree.h"

namespace crater::hw {

struct CpuFacts {
    std::string model;
    std::vector<std::string> features;  // sorted; those that every usable CPU has, by one name each
};

CpuFacts read_cpu(const Tree& tree, const std::vector<std::int64_t>& usable);
// "Debian GNU/Linux 12 (bookworm), Linux 6.1.0".
std::string read_os(const Tree& tree);

}  // namespace crater::hw
