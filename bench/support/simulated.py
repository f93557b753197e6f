"""`crater simulate` with jobs that have times, as the benchmarks use it."""
import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, "../../../shared/bench")


def add_options(parser):
    parser.add_argument("--bin", required=True, help="folder of the binaries")
    parser.add_argument("--shared", default=SHARED, help="folder that holds philly/ and azure-llm/ (default: shared/bench beside the repository)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default 2)")
    parser.add_argument("--report", help="also writes what was found as FILE.html, to look at")


def has(options, *files):
    """Whether the traces are there; says so when not."""
    for file in files:
        if not os.path.isfile(os.path.join(options.shared, file)):
            print(f"skipped: there is no {file} in {os.path.abspath(options.shared)}; --shared DIR names the folder that holds it", flush=True)
            return False
    return True


def simulate(options, *arguments):
    """The answer of one `crater simulate`."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "answer.json")
        command = [os.path.join(options.bin, "crater"), "simulate", *map(str, arguments), "--report", path, "--output", "json"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
        with open(path) as file:
            return json.load(file)


def run_of(answer, name):
    return next(run for run in answer["runs"] if run["run"] == name)


def all_of(options, wanted):
    """name -> arguments becomes name -> answer, at most --jobs at a time."""
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        return dict(zip(wanted, pool.map(lambda arguments: simulate(options, *arguments), wanted.values())))


def line(name, run):
    print(f"{name:<34}{run['completion_h']['mean']:>9.2f} h mean{run['completion_big_h']['mean']:>9.1f} h big{run['first_wait_h']['longest']:>9.1f} h to the first start"
          f"{run['wait_h']['longest']:>9.1f} h without cards{run['preemptions_per_job']:>7.2f} stops a job{run['replay_seconds']:>8.1f} s", flush=True)


def judge(result, targets):
    """Prints each key against its target; the number of those missed."""
    missed = 0
    for key, target in targets.items():
        met = result[key] <= target
        missed += not met
        print(f"  {key:<34}{result[key]:>8.3f}  target {target:<8g}{'' if met else 'MISSED'}", flush=True)
    return missed
