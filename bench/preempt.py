#!/usr/bin/python3
"""Who gives way. Quality: random small clusters, where the engine's set of victims is compared with all sets by brute force. Time: 4,000 jobs of one card
that push aside 4,000 others on 500 x 8 cards, and a gang that needs one rack of 2,000 nodes cleared of some of 700 jobs; CPU time of the deciding thread.
Baselines of the same run are bare loops over counters that keep no books: a copy of the counters for each job, and a set grown and trimmed by trial."""
import argparse
import json
import os
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--bin", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/bin"))
parser.add_argument("--cases", type=int, default=10_000)
options = parser.parse_args()
row = json.loads(subprocess.run([os.path.join(options.bin, "bench-preempt"), "--cases", str(options.cases)], check=True, stdout=subprocess.PIPE, text=True).stdout)
print(f"{row['cases']:,} small cases: same objective value {100 * row['same_objective']:.2f} % (goal 99 %), worst cost {row['worst_cost_ratio']:.3f} of the least "
      f"(goal 1.10), no member can be left out {100 * row['none_can_be_left_out']:.2f} % (goal 100 %), without a plan {row['no_plan']}")
print(f"wave of {row['wave_jobs']:,} on as many: {row['wave_preemptions']:,} preemptions in {row['wave_seconds']:.3f} s (goal 0.5 s; a copy and a loop for each: "
      f"{row['wave_snapshot_loop_seconds']:.3f} s)")
print(f"gang in one rack of 2,000 nodes, 700 candidates: {row['racks_preemptions']} preemptions in {1000 * row['racks_seconds']:.1f} ms (goal 100 ms; bare trials: "
      f"{1000 * row['racks_bare_trial_seconds']:.1f} ms)")
print(json.dumps({"bench": "preempt", **row, "load_average": round(os.getloadavg()[0], 1), "simulated": True}))
sys.exit(0)
