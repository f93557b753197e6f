// What `crater simulate --help` says below the options.
#pragma once

namespace crater::cli {

inline constexpr const char* simulate_guide =
    R"(How well does a policy fill a cluster? This replays a published trace, one pod after the other,
and says how much of the GPUs is in use. It needs no server and changes nothing.

The trace is OpenB: 1213 servers with 6212 cards, and lists of some 8000 pods that ask for cores,
memory and a part of a card, one card or several. Each pod is placed at once or refused for good;
none ever ends, so the cluster fills up. A better policy places more before nothing fits any more.

Policies:
  price        Crater's own: the engine that schedules real clusters, placing where the least value is lost
  fgd          fragmentation gradient descent (ATC'23), the best of the published ones
  best_fit, dot_product, gpu_packing, gpu_clustering, random      what it was compared with
  engine:NAME  any policy of Crater's queues: engine:best_fit, engine:binpack, engine:fragmentation, ...

What is printed, when the pods so far asked for 100, 110, 120 and 130 % of the cluster's GPU:
  allocation     GPU in use, in percent of the cluster
  fragmentation  GPU that is free but of no use to a typical pod, in percent of the cluster
  decisions/s    per second of one core's time

With --departures pods end. They arrive at random, as many as keep --offered of the cluster's GPU in
use if none were refused, hold what they got for a random time (--holding-time on average), and are
lost when they do not fit at once. The seed gives the arrivals too, the same for every policy. The
first 30 % are not counted: the cluster has to fill first. What is printed then:
  refused        GPU-time of lost pods (cards times holding time), in percent of all that was offered
  multi-card     the same of the pods that ask for several cards: the hardest to find room for
  used           GPU in use, the mean that arriving pods met, in percent of the cluster

Examples:
  crater simulate --trace openb --policy fgd
  crater simulate --trace openb --workload gpuspec33 --seed 45 --policy price --output json
  crater simulate --trace openb --policy best_fit --departures --offered 0.95 --arrivals-count 60000
  ./dev bench openb --shared DIR         all workloads and seeds against the published figures
  ./dev bench departures --shared DIR    policies with pods that end)";

}  // namespace crater::cli
