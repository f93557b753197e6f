#!/usr/bin/python3
"""A restart with 5,000 nodes and 87,000 running jobs of 140,000 tasks: from opening the store to the first correct decision, in one process that does
what the scheduler's recovery does (read, parse, apply, decide). Baseline of the same run: reading the file alone. The nodes are simulated."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--bin", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/bin"))
parser.add_argument("--shared", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/bench"), help="folder with openb/ (the mix of requests)")
options = parser.parse_args()
program = os.path.join(options.bin, "bench-restart")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "store.db")
    made = json.loads(subprocess.run([program, "make", path, options.shared], check=True, stdout=subprocess.PIPE, text=True).stdout)
    began = time.monotonic()
    with open(path, "rb") as file:
        size = len(file.read())
    reading = time.monotonic() - began
    row = json.loads(subprocess.run([program, "run", path], check=True, stdout=subprocess.PIPE, text=True).stdout)
row.update({"store_mib": round(size / 2**20), "reading_seconds": round(reading, 3), "ratio": round(row["seconds"] / max(reading, 1e-6), 1),
            "load_average": round(os.getloadavg()[0], 1)})
print(f"{row['jobs']:,} jobs, {row['tasks']:,} tasks, {made['nodes']:,} nodes: first decision after {row['seconds']:.2f} s, {row['resident_mib']} MiB "
      f"(goals: 2 s, 300 MB); reading the {row['store_mib']} MiB alone {row['reading_seconds']:.2f} s; machine load {row['load_average']}")
print(json.dumps({"bench": "restart", **row, "simulated": True}))
sys.exit(0)
