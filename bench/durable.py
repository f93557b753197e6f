#!/usr/bin/python3
"""Decisions made durable per second: 5,000 simulated nodes at 93 % of their GPUs, each decision's job status in SQLite with the disk's fsync behind
it. Baseline of the same run: single fsyncs of this disk, what deciding one by one could reach at most."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--bin", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/bin"))
parser.add_argument("--shared", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../shared/bench"), help="folder with openb/ (the mix of requests)")
parser.add_argument("--batch", type=int, default=128, help="decisions in one batch")
parser.add_argument("--form", default="binary", choices=["binary", "json"], help="of the stored values; json is what it was before")
parser.add_argument("--seconds", type=float, default=5.0)
parser.add_argument("--folder", default=None, help="on the disk to be measured (default: a new one under the system's temporary folder)")
options = parser.parse_args()
with tempfile.TemporaryDirectory(dir=options.folder) as folder:
    out = subprocess.run([os.path.join(options.bin, "bench-durable"), "--shared", options.shared, "--folder", folder, "--batch", str(options.batch), "--form", options.form,
                          "--seconds", str(options.seconds)], check=True, stdout=subprocess.PIPE, text=True).stdout
row = json.loads(out)
row["load_average"] = round(os.getloadavg()[0], 1)
print(f"{row['decisions_per_second']:,.0f} durable decisions/s, p50 {row['latency_p50_ms']:.1f} ms, p99 {row['latency_p99_ms']:.1f} ms (goals: 20,000/s, 20 ms); "
      f"this disk syncs {row['fsyncs_per_second']:,.0f}/s, so {row['ratio']:.0f} decisions a sync; machine load {row['load_average']}")
print(json.dumps({"bench": "durable", **row, "simulated": True}))
sys.exit(0)
