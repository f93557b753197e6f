// A placement trace as it was published: servers, requests and the order in which they arrive. Immutable once
// read.
//
// The folder is that of the OpenB trace (ATC'23, "Beware of Fragmentation"):
//   openb_node_list_gpu_node.csv    sn, cpu_milli, memory_mib, gpu, model
//   openb_pod_list_WORKLOAD.csv     name, cpu_milli, memory_mib, num_gpu, gpu_milli; gpu_spec if cards differ
//   arrivals_compact/WORKLOAD.txt   "arrival SEED n n n ...": numbers in the pods' names, in order of arrival
//                                   "rank SEED r r r ...": of each server, servers in order of name
// Units as in the files: milli = a thousandth of a core or card, memory in MiB.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "crater/base/error.h"

namespace crater::replay {

inline constexpr int cards_max = 8;      // of one server: the published formulas know no larger one
inline constexpr int whole_card = 1000;  // milli

struct Server {
    std::string name;
    int cpu = 0, memory = 0, cards = 0;
    int model = 0;  // position in Trace::models
};

// What one pod asks for. Either no card, a part of one card, or whole cards.
struct Request {
    int cpu = 0, memory = 0;
    int cards = 0;
    int per_card = 0;           // milli of each card
    std::string models;         // "V100M16|V100M32"; empty = any
    std::uint64_t accepts = 0;  // the same as a set of positions in Trace::models

    bool shares_card() const { return cards == 1 && per_card < whole_card; }
    std::int64_t gpu() const { return std::int64_t{cards} * per_card; }
};

struct Trace {
    std::string workload;
    std::uint64_t seed = 0;
    std::vector<std::string> models;
    std::vector<Server> servers;    // by rank: of equally good ones the first is taken
    std::vector<Request> requests;  // each once
    std::vector<int> pods;          // the original list, as positions of requests
    std::vector<int> arrivals;      // positions of requests, in order

    std::int64_t gpu() const;  // of all servers, in milli
};

struct TraceSource {
    std::string folder;
    std::string workload = "default";
    std::uint64_t seed = 42;
    std::string arrivals;  // another file in the format of arrivals_compact; empty = the folder's
};
// Errors name the option or the file, line and column: what was found, what is allowed, and the nearest name.
Result<Trace> read_trace(const TraceSource& source);

// The same from open files; `named` stands for each in messages.
struct TraceFiles {
    std::istream &servers, &pods, &arrivals;
    std::string servers_named, pods_named, arrivals_named;
};
Result<Trace> parse_trace(const TraceFiles& files, const std::string& workload, std::uint64_t seed);

}  // namespace crater::replay
