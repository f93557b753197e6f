// Work with times: when each job comes, what it asks for, how long it runs. What `run` (timed.h) plays
// against a cluster. Immutable once read; everything drawn comes from a seed.
//
// Where it comes from:
//   philly    ../bench/philly/philly.csv: timestamp, duration, num_gpus (Microsoft's training cluster, 2017)
//   mix       those, and inference services whose number follows a request rate over the day
//   (docs/simulate.md) SPEC      a generator: "poisson:jobs=1000,load=0.9,..." or "burst:...", or a named one
//   of Kueue's
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "crater/base/error.h"
#include "crater/base/quantity.h"

namespace crater::replay {

// A cluster of equal servers, all of it simulated.
struct Fleet {
    int nodes = 64, cards = 8;  // cards of each node
    int card_mib = 40 * 1024;
    int total() const { return nodes * cards; }
    // The same cards as one pool without boundaries: what the textbook schedulers are measured on.
    Fleet flat() const { return {1, total(), card_mib}; }
};

struct TimedJob {
    Millis submitted{0};    // since the workload begins
    Millis run_time{1000};  // undisturbed, on what it asks for
    int tasks = 1;          // started together
    int cards = 1;          // of each task; 1 where it shares a card
    int memory_mib = 0;     // of the card it shares; 0 = whole cards
    int compute = 1000;     // thousandths of each card that it asks for
    int used = 1000;        // and that it uses
    bool service = false;
    bool near = false;  // its tasks may lie on any nodes; on one, if it has room

    bool shares_card() const { return memory_mib > 0; }
    int all_cards() const { return tasks * cards; }
};

struct Workload {
    std::string name;
    Fleet fleet;
    std::vector<TimedJob> jobs;  // by time of submission
    bool whole_cards = false;    // nobody shares a card, whatever he asks for
};

// Errors name the option or the file, line and column.
Result<Workload> read_philly(const std::string& folder, const Fleet& fleet = {});
Result<Workload> parse_philly(std::istream& in, const std::string& named, const Fleet& fleet = {});

// A job of `cards` whole cards as equal tasks that each fit a node.
void split_over_nodes(TimedJob& job, int cards, const Fleet& fleet);

// Relaxed locality: the cards of a job that wants several whole ones may lie anywhere, near each other if
// possible.
void relax_locality(Workload& workload);

// How many cards are asked for at a time on average, as a part of the fleet's.
double offered_load(const Workload& workload);

}  // namespace crater::replay
