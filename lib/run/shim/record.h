// The files that the shim leaves in the task's folder, each written whole or not at all (key=value lines, the
// last "end=1"):
//   shim.lock  locked (OFD lock) while the shim or the task's init lives; holds "pid start_time boot_id". Not
//   empty and not locked,
//              without `exit`: the shim died, the task with it.
//   started    the command runs
//   exit       how it ended
//   stop       (read) a request to end the task: grace_ms
#pragma once

#include "util.h"

namespace shim {

struct Exit {
    int code = -1;  // 128 + signal when killed by one
    int signal = 0;
    bool oom = false, time_limit = false, shutdown = false, disk_full = false;
    bool stopped = false;  // a stop request was acted on before the command ended
    bool killed = false;   // the grace period passed
    long long started_ms = 0, ended_ms = 0, disk_used = 0;
    Message error;  // the command could not be started
};

enum class Lock { taken, held, used, error };
// Takes the lock and writes who holds it. `used`: a shim ran here before.
Lock take_lock(const char* dir, Message& why);
void reserve_exit(const char* dir);
void write_started(const char* dir, long long ms);
// Tries until the disk takes it.
void write_exit(const char* dir, const Exit& exit);
// The grace of a stop request, -1 when there is none.
long long stop_request(const char* dir);

}  // namespace shim
