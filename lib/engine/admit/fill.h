// What a request leaves open, decided once at submit and told to the user.
#pragma once

#include <string>
#include <vector>

#include "crater/model/job.h"
#include "state/cluster.h"

namespace crater::engine {

// Cores and memory of a job that names none: for cards the smallest ratio among the nodes that could serve,
// at most 16 cores a card for training and 4 for inference, or what jobs of its kind used at their peak and a
// quarter, where that is known and less; without cards one core and 512 MiB, or less where
// no node has that much. GPU memory is rounded up to what is given out, when all cards that could serve agree
// on it.
void fill_request(JobSpec& spec, const Profile* profile, const Cluster& cluster,
                  std::vector<std::string>& notes);

}  // namespace crater::engine
