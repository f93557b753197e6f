#!/usr/bin/python3
"""How good start times are that waiting jobs are told: 82,247 Philly jobs on 64 simulated nodes with 8 cards, started by the production engine. One in
--every jobs that do not start at once asks when it will; those that then wait a minute or longer count. Baseline of the same run: what jobs waited
on average until then. Durations: known exactly; known with a log-normal error of 0.5; not said, learned from the jobs that ended before."""
import argparse
import json
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--bin", default=os.path.join(here, "../build/bin"))
parser.add_argument("--shared", default=os.path.join(here, "../../shared/bench"), help="folder with philly/philly.csv")
parser.add_argument("--every", type=int, default=8)
parser.add_argument("--order", default="fair")
options = parser.parse_args()
trace = os.path.join(options.shared, "philly/philly.csv")
if not os.path.isfile(trace):
    print(f"no {trace}: this figure needs the Philly trace")
    print(json.dumps({"bench": "estimates", "skipped": "no trace"}))
    sys.exit(0)

program = os.path.join(options.bin, "bench-estimates")


def run(*arguments):
    return json.loads(subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout)


rows = []
for known in ("exact", "noisy", "history"):
    row = run("--trace", trace, "--known", known, "--every", str(options.every), "--order", options.order)
    rows.append(row)
    print(f"{known:<8} {row['waited_60s']:>6,} jobs: P90 covers {row['p90_covers_percent']:.1f} % (goal 90), P50 is off by {100 * row['median_error']:.0f} % of the wait in the "
          f"median (goal 25; the best factors in hindsight: {100 * row['hindsight_median_error']:.0f} %; queue's mean wait as the estimate: {100 * row['baseline_median_error']:.0f} %, covers {row['baseline_covers_percent']:.0f} %), P90/P50 {row['width_median']:.1f} (in hindsight {row['hindsight_width']:.1f}); "
          f"a pass {row['pass_mean_us']:.0f} us, an answer {row['ask_mean_ms']:.1f} ms", flush=True)
costs = run("--costs", "1")
print(f"10,000 waiting, all at once: {costs['all_seconds_64_nodes']:.2f} s on 64 nodes, {costs['all_seconds_5000_nodes']:.2f} s on 5,000 (goal 1); one more answer "
      f"{costs['one_us_64_nodes']:.1f} us, {costs['one_us_5000_nodes']:.1f} us (goal 1,000); a pass over 10,000 new ones {costs['pass_ms_64_nodes']:.0f} ms, {costs['pass_ms_5000_nodes']:.0f} ms")
print(json.dumps({"bench": "estimates", "cases": rows, "costs": costs, "simulated": True}))
