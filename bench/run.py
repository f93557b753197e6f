#!/usr/bin/python3
"""./dev bench [NAME]: runs one benchmark, or all. Each prints one JSON object and a line for a person."""
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
names = sorted(name[:-3] for name in os.listdir(HERE) if name.endswith(".py") and name != "run.py")
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--bin", default=os.path.join(HERE, "../build/bin"))
parser.add_argument("name", nargs="?", choices=names)
options, rest = parser.parse_known_args()
status = 0
for name in [options.name] if options.name else names:
    print(f"== {name}", flush=True)
    status |= subprocess.call([sys.executable, os.path.join(HERE, name + ".py"), "--bin", options.bin, *rest])
sys.exit(status)
