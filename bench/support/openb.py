"""The OpenB trace and `crater simulate`, as the benchmarks use them."""
import csv
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, "../../../shared/bench")
WORKLOADS = ["default", "cpu050", "cpu100", "cpu200", "cpu250", "gpushare40", "gpushare60", "gpushare80", "gpushare100", "gpuspec10", "gpuspec20", "gpuspec25",
             "gpuspec33", "multigpu20", "multigpu30", "multigpu40", "multigpu50"]
SEEDS = [42, 43, 44, 45, 46, 47]
# Ours -> as published.
PEERS = {"fgd": "FGD", "best_fit": "BestFit", "dot_product": "DotProd", "gpu_packing": "GpuPacking", "gpu_clustering": "GpuClustering", "random": "Random"}
LOADS = ["100", "110", "120", "130"]


def add_options(parser):
    parser.add_argument("--bin", required=True, help="folder of the binaries")
    parser.add_argument("--shared", default=SHARED, help="folder that holds openb/ (default: shared/bench beside the repository)")
    parser.add_argument("--workloads", nargs="+", default=WORKLOADS, choices=WORKLOADS, metavar="NAME", help="only these of " + ", ".join(WORKLOADS))
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS, metavar="SEED", help="only these")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default 2)")


def folder_of(options):
    """The folder of the trace, or None after saying that it is not there."""
    folder = os.path.join(options.shared, "openb")
    if os.path.isfile(os.path.join(folder, "openb_node_list_gpu_node.csv")):
        return folder
    print(f"skipped: the OpenB trace is not in {os.path.abspath(folder)}; --shared DIR names the folder that holds openb/", flush=True)
    return None


def published(folder):
    """(workload, policy as published, seed) -> its row of figures."""
    with open(os.path.join(folder, "published_by_seed.csv")) as file:
        return {(row["workload"], row["policy"], int(row["seed"])): row for row in csv.DictReader(file)}


class Refused(Exception):
    """crater simulate ended with an error; its words."""


def simulate(options, folder, policy, workload, seed, *more):
    command = [os.path.join(options.bin, "crater"), "simulate", "--trace", folder, "--workload", workload, "--seed", str(seed), "--policy", policy, "--output", "json", *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        error = json.loads(done.stderr)["error"] if done.stderr.startswith('{"error"') else {"field": "crater", "message": done.stderr.strip()}
        raise Refused(f"{error['field']}: {error['message']}")
    return json.loads(done.stdout)


def simulate_all(options, folder, runs):
    """The answers of [(policy, workload, seed, more...)] in the same order, at most --jobs at a time."""
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        return list(pool.map(lambda run: simulate(options, folder, *run), runs))


def engine_has(options, folder, policy):
    """Whether this build's engine knows the policy; says why not."""
    try:
        simulate(options, folder, policy, options.workloads[0], options.seeds[0])
        return True
    except Refused as refused:
        if "has no policy" not in str(refused):
            raise
        print(f"{policy} left out: this build's engine has no such policy", flush=True)
        return False


def run(main):
    """main(), whose refusals are a line and not a trace."""
    try:
        return main()
    except Refused as refused:
        print(f"crater simulate: {refused}", file=sys.stderr)
        return 1


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0
