// The first process of a task: makes its namespaces, starts the command, reaps what it leaves behind and
// tells the shim. Over one socket of packets: from the init 's' (the command runs), 'x' + wait status (it
// ended), 'e' + code + text (it could not be started); to the init 't' (SIGTERM to all), 'k' (SIGKILL to
// all).
#pragma once

#include "launch.h"

namespace shim {

struct Packet {
    char kind = 0;
    int number = 0;
    Message text;
};

[[noreturn]] void run_init(Launch& launch, int socket, int output);

// SIGTERM or SIGKILL to every process below this one. In an own pid namespace all at once; else found through
// /proc, until none is new.
void signal_below(int signal, bool pid_namespace);

}  // namespace shim
