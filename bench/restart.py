#!/usr/bin/python3
"""A restart with 5,000 nodes and 87,000 running jobs of 140,000 tasks: the scheduler's own start (open the store, read, decode, apply, readers' view),
then the agent of one node comes back and a new job is placed there and made durable. Correct means that the rebuilt state has the stored hash.
Baselines of the same run: reading every row without decoding it, and the same store with its values as JSON text. The nodes are simulated."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--bin", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/bin"))
parser.add_argument("--shared", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/bench"), help="folder with openb/ (the mix of requests)")
parser.add_argument("--nodes", type=int, default=5000)
parser.add_argument("--jobs", type=int, default=87000)
parser.add_argument("--runs", type=int, default=3, help="the best of so many restarts counts; all are printed")
options = parser.parse_args()
program = os.path.join(options.bin, "bench-restart")


def bench(verb, path):
    out = subprocess.run([program, verb, path, options.shared, str(options.nodes), str(options.jobs)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out)


with tempfile.TemporaryDirectory() as folder:
    store, older = (os.path.join(folder, name) for name in ("store.db", "older.db"))

    def restart(path):
        with tempfile.TemporaryDirectory(dir=folder) as own:  # a restart writes
            return bench("run", shutil.copy(path, own))

    made = bench("make", store)
    bench("make-json", older)
    runs, reading = [], []
    for _ in range(max(1, options.runs)):
        reading.append(bench("read", store))
        runs.append(restart(store))
    as_json = restart(older)
    size = os.path.getsize(store)
row = min(runs, key=lambda run: run["seconds"])
row.update({"all_seconds": [run["seconds"] for run in runs], "all_cpu_seconds": [run["cpu_seconds"] for run in runs],
            "store_mib": round(size / 2**20), "reading_seconds": min(r["seconds"] for r in reading), "reading_resident_mib": reading[0]["resident_mib"],
            "json_seconds": as_json["seconds"], "json_cpu_seconds": as_json["cpu_seconds"], "json_resident_mib": as_json["resident_mib"],
            "load_average": round(os.getloadavg()[0], 1)})
row["ratio"] = round(row["json_cpu_seconds"] / row["cpu_seconds"], 1)
print(f"{row['jobs']:,} jobs, {row['tasks']:,} tasks, {made['nodes']:,} nodes: first decision after {row['seconds']:.2f} s ({row['cpu_seconds']:.2f} s of CPU), "
      f"{row['resident_mib']} MiB = {row['resident_mib'] * 1.048576:.0f} MB at most, {row['resident_after_mib']} MiB afterwards (goals: 2 s, 300 MB); reading the rows alone {row['reading_seconds']:.2f} s; values as JSON {row['json_seconds']:.2f} s "
      f"({row['json_cpu_seconds']:.2f} s of CPU), {row['json_resident_mib']} MiB; machine load {row['load_average']}")
print(json.dumps({"bench": "restart", **row, "simulated": True}))
sys.exit(0)
