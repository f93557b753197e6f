#!/usr/bin/python3
"""From submit to placed in the engine: a job that can start comes while 100,000 others wait (500 x 8 cards, all held), in each order; and a job without
cards behind 10,000 blocked GPU jobs. CPU time of the deciding thread for `JobAdded` and the pass that places it. Baseline of the same run: a plain look
at each waiting job in order, over bare counters."""
import argparse
import json
import os
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--bin", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/bin"))
parser.add_argument("--pending", type=int, default=100_000)
options = parser.parse_args()
row = json.loads(subprocess.run([os.path.join(options.bin, "bench-backlog"), "--pending", str(options.pending)], check=True, stdout=subprocess.PIPE, text=True).stdout)
for order in ("fair", "fifo", "shortest", "las"):
    one = row[order]
    print(f"{row['pending']:,} pending, {order:<9} without cards p50 {one['cpu_p50_ms']:.3f} p99 {one['cpu_p99_ms']:.3f} ms; on a card that became free "
          f"p50 {one['gpu_p50_ms']:.3f} p99 {one['gpu_p99_ms']:.3f} ms (goal 1 and 10 ms)")
print(f"CPU job behind 10,000 blocked GPU jobs: p50 {row['behind_10k']['p50_ms']:.3f} p99 {row['behind_10k']['p99_ms']:.3f} ms (goal 1 and 10 ms)")
print(f"a plain look at each: {row['plain_look']['p50_ms']:.2f} ms with {row['pending']:,}, {row['plain_look']['behind_10k_p50_ms']:.2f} ms with 10,000")
print(json.dumps({"bench": "backlog", **row, "load_average": round(os.getloadavg()[0], 1), "simulated": True}))
sys.exit(0)
