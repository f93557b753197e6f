"""The reference policy that `price` is held to, a program written to be read: compiled where its source lies beside the repository, and run on the same
arrivals."""
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/reference/prototype/placement_explore.cpp")


def allocations(options, folder):
    """(workload, seed) -> load -> allocation in percent; None after saying why there are none."""
    compiler = shutil.which("c++")
    if not os.path.isfile(options.reference) or compiler is None:
        print(f"reference policy left out: {'no c++ compiler' if compiler is None else f'{os.path.abspath(options.reference)} is not there'}", flush=True)
        return None
    with tempfile.TemporaryDirectory(prefix="crater-reference-") as place:
        program = os.path.join(place, "reference")
        subprocess.run([compiler, "-O3", "-ffp-contract=off", "-std=c++17", "-o", program, options.reference], check=True, stdout=sys.stderr)

        def one(run):
            workload, seed = run
            row = subprocess.check_output([program, folder, workload, str(seed), str(seed), "price"], text=True).split(",")
            at = row.index("alloc")
            return dict(zip(("100", "110", "120", "130"), map(float, row[at + 1:at + 5])))

        runs = [(w, s) for w in options.workloads for s in options.seeds]
        with ThreadPoolExecutor(max(1, options.jobs)) as pool:
            return dict(zip(runs, pool.map(one, runs)))
