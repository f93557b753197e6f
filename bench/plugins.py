#!/usr/bin/python3
"""What one decision pays for asking a placement plugin about its candidates, by their number: the round trip to the plugin's process, with the views
of nodes of 8 cards written and the answer checked. `views` and `image` are the parts of it that happen before any process is woken."""
import argparse
import json
import os
import subprocess

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--bin", required=True)
options = parser.parse_args()
plugins = os.path.join(options.bin, "../plugins")
result = json.loads(subprocess.check_output([os.path.join(options.bin, "bench-plugins"), os.path.join(options.bin, "crater-plugin-host"), plugins]))
print(json.dumps(result))
at = result["nodes_64"]
print(f"64 candidates: {at['views_p50_us']} us for the views; spread_tenant answers in {at['spread_tenant_p50_us']} us (p99 {at['spread_tenant_p99_us']}), "
      f"nvlink_first in {at['nvlink_first_p50_us']} us (p99 {at['nvlink_first_p99_us']})")
