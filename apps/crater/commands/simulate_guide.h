// What `crater simulate --help` says below the options.
#pragma once

namespace crater::cli {

inline constexpr const char* simulate_guide =
    R"(It needs no server and changes nothing; the cluster is simulated, the decisions are the engine's.

JOBS WITH TIMES: --trace philly, --trace mix or --generate
How long do jobs wait, when are they done, how much of the cluster works? Jobs come, wait, run, may give
way, and end.

Orders, one or several with commas:
  fair, fifo, shortest, las      those of Crater's queues; shortest@keep stops nobody
  peer:easy, peer:fifo, peer:sjf, peer:sjf_aged, peer:whole_card     what it is compared with; @flat: on a pool
  peer:srtf, peer:las2                                always on a pool of cards without nodes

  crater simulate --trace philly --order shortest,las,peer:easy,peer:srtf --report philly.html
  crater simulate --trace philly --locality relaxed --order las,peer:easy@flat
  crater simulate --trace mix ../shared/bench --load 5 --until 7d --order fair,peer:whole_card
  crater simulate --generate poisson:jobs=5000,load=0.9,cards=1/2/8 --order fair --durations noisy
  ./dev bench philly, ./dev bench mix      the figures that Crater is held to
docs/simulate.md says what each is made of.

PLACEMENT ALONE: --trace openb
How well does a policy fill a cluster? This replays a published trace, one pod after the other, and says
how much of the GPUs is in use.

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
