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
options = parser.parse_args()
shared = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/bench")
result = json.loads(subprocess.check_output([os.path.join(options.bin, "bench-why"), "--shared", shared, "--nodes", options.nodes, "--pending", options.pending,
                                             "--checks", options.checks]))
print(json.dumps(result))
print(f"why: {result['answered_percent']:.1f} % of {result['asked']} answered, p50 {result['why_p50_us']:.0f} us, p99 {result['why_p99_us']:.0f} us, "
      f"max {result['why_max_us']:.0f} us (node by node {result['node_by_node_p50_us']:.0f} us); {result['changes_made']} changes made: "
      f"{result['did_not_start']} did not start the job, {result['one_step_less_started']} of {result['one_step_less_made']} started it with one step less")
