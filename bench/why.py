#!/usr/bin/python3
"""What it costs in the engine to say why a job waits, for each of 100,000 waiting jobs on 5,000 nodes of 8 cards, and whether what it says is true:
changes that it offered are made at random, the job must start at the next pass, and with one step less of the change it must not."""
import argparse
import json
import os
import subprocess

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--bin", required=True)
parser.add_argument("--nodes", default="5000")
parser.add_argument("--pending", default="100000")
parser.add_argument("--checks", default="100000")
parser.add_argument("--kinds", default="200")
options = parser.parse_args()
shared = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/bench")
result = json.loads(subprocess.check_output([os.path.join(options.bin, "bench-why"), "--shared", shared, "--nodes", options.nodes, "--pending", options.pending,
                                             "--checks", options.checks, "--kinds", options.kinds]))
print(json.dumps(result))
cpu, wall = result["cpu_us"], result["wall_us"]
print(f"why: {result['answered_percent']:.1f} % of {result['asked']} answered; CPU time p50 {cpu['p50']:.0f}, p99 {cpu['p99']:.0f}, p99.9 {cpu['p999']:.0f}, "
      f"max {cpu['max']:.0f} us, {result['above_1_ms']} above 1 ms; wall p50 {wall['p50']:.0f}, p99 {wall['p99']:.0f}, p99.9 {wall['p999']:.0f}, max {wall['max']:.0f} us "
      f"(node by node {result['node_by_node_p50_us']:.0f} us)")
first = result["cpu_us_first_of_its_kind"]
print(f"the first question {result['cpu_us_first']:.0f} us, the first about a kind of job p50 {first['p50']:.0f}, max {first['max']:.0f} us, "
      f"the start time apart: p50 {result['cpu_us_estimate']['p50']:.0f} us, {result['cpu_us_simulation_of_starts']:.0f} us when it is simulated anew; "
      f"after a change p50 {result['cpu_us_after_a_change']['p50']:.0f} us, where nothing changed p50 {result['cpu_us_nothing_changed']['p50']:.0f} us")
print(f"{result['changes_made']} changes made: {result['did_not_start']} did not start the job, {result['one_step_less_started']} of "
      f"{result['one_step_less_made']} started it with one step less")
