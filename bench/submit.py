#!/usr/bin/python3
"""Jobs submitted over HTTP to 100 simulated nodes x 8 GPUs: accepted durably per second, submit to running, and at every sample the agents' own
tables against the scheduler's books per device. Baseline from the same run: single fsyncs of this disk, what a scheduler that makes each job
durable by itself could accept at most. All hardware is simulated; processes, sockets and disk are real."""
import argparse
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../test/harness"))
from crater import Agent, Scheduler, until, wait_nodes  # noqa: E402

from datetime import datetime  # noqa: E402


def fsyncs(folder, seconds=2.0):
    """How long each took, in ms."""
    path = os.path.join(folder, "fsync")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    took, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        os.pwrite(fd, b"x" * 4096, (len(took) % 1024) * 4096)
        begun = time.monotonic()
        os.fsync(fd)
        took.append((time.monotonic() - begun) * 1000)
    os.close(fd)
    os.unlink(path)
    return took


def one_at_a_time(scheduler, body, count, pause=0.02):
    """(submit to answer, submit to placed) in ms of each, as a client sees it over one connection: both are durable by then."""
    with open(body) as file:
        document = json.dumps(dict(json.load(file), name="single"))
    headers = {"Authorization": "Bearer " + scheduler.admin, "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", scheduler.port, timeout=30)

    def ask(method, path, content=None):
        connection.request(method, path, content, headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
        return json.loads(text)["job"]

    answered, placed = [], []
    for _ in range(count):
        begun = time.monotonic()
        job = ask("POST", "/api/v1/jobs", document)
        answered.append((time.monotonic() - begun) * 1000)
        while job["state"] == "Pending":
            job = ask("GET", "/api/v1/jobs/" + job["id"])
        placed.append((time.monotonic() - begun) * 1000)
        time.sleep(pause)
    connection.close()
    return answered, placed


def percentile(values, p):
    values = sorted(values)
    return values[int(p * (len(values) - 1))] if values else 0.0


def quiet(api):
    """The cluster, once half a second passes without a new revision."""
    first = api.get("/api/v1/cluster")
    time.sleep(0.5)
    second = api.get("/api/v1/cluster")
    return second if first["revision"] == second["revision"] else None


def restart(scheduler, agent, body):
    """kill -9 while 500 jobs run; the agents are held still meanwhile, so that nothing new happens: the state must be the same at the same revision."""
    with open(body) as file:
        job = dict(json.load(file), duration="1h")
    for _ in range(500):
        scheduler.api.post("/api/v1/jobs", job)
    until(lambda: scheduler.api.get("/api/v1/cluster")["jobs"].get("Running", 0) >= 500, 60, "500 jobs to run")
    os.kill(agent.process.pid, signal.SIGSTOP)
    before = until(lambda: quiet(scheduler.api), 30, "a quiet moment")
    scheduler.kill()
    scheduler.start()
    after = scheduler.api.get("/api/v1/cluster")
    os.kill(agent.process.pid, signal.SIGCONT)
    wait_nodes(scheduler.api, after["nodes"].get("up", 0), 60)
    return {"restart_running_jobs": after["jobs"]["Running"], "restart_revision_before": before["revision"], "restart_revision_after": after["recovered_revision"],
            "restart_hash_before": before["state_hash"], "restart_hash_after": after["recovered_state_hash"],
            "hash_after_restart_equal": (before["revision"], before["state_hash"]) == (after["recovered_revision"], after["recovered_state_hash"]) and after["state_hash_verified"]}


def at(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Sampler(threading.Thread):
    """Compares books and tables again and again while the load runs."""

    def __init__(self, api):
        super().__init__(daemon=True)
        self.api, self.samples, self.rows, self.differences, self.stopping = api, 0, 0, [], threading.Event()

    def run(self):
        while not self.stopping.wait(0.3):
            answer = self.api.get("/api/v1/cluster/holdings")
            self.samples += 1
            self.rows += answer["compared"]
            self.differences += answer.get("differences", [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--jobs", type=int, default=10000)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--single", type=int, default=300, help="jobs submitted one at a time before the load")
    parser.add_argument("--duration", default="1s")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="crater-bench-")
    nodes = os.path.join(folder, "nodes.yaml")
    with open(nodes, "w") as file:
        file.write(f"""simulated_nodes:
  - name: node-{{001..{options.nodes:03d}}}
    gpus: {{model: a100-pcie-40gb, count: 8, nvlink: all}}
    cpu: {{sockets: 2, cores: 64, features: [avx2], memory_bandwidth_gbps: 142.3}}
    memory_gb: 512
    disks: {{nvme0n1: {{size_gb: 4000, iops: 1120000, latency_us: 87.2}}}}
    runtime: none
""")
    body = os.path.join(folder, "job.json")
    with open(body, "w") as file:
        json.dump({"name": "bench", "type": "batch", "command": ["true"], "duration": options.duration,
                   "resources": {"gpu": {"count": 1, "memory": "16Gi"}, "cpu": {"cores": 4}, "memory": {"size": "16Gi"}}}, file)
    scheduler = agent = None
    try:
        disk = fsyncs(folder)
        baseline = len(disk) / (sum(disk) / 1000)
        scheduler = Scheduler(options.bin, os.path.join(folder, "scheduler")).start()
        agent = Agent(scheduler, os.path.join(folder, "agents"), nodes=nodes).start()
        api = scheduler.api
        wait_nodes(api, options.nodes, 120)
        answered, placed = one_at_a_time(scheduler, body, options.single)
        sampler = Sampler(scheduler.api)
        sampler.start()
        client = subprocess.run([os.path.join(options.bin, "bench-submit"), "--port", str(scheduler.port), "--token-file", os.path.join(scheduler.data, "admin.token"),
                                 "--jobs", str(options.jobs), "--connections", str(options.connections), "--body", body], capture_output=True, text=True, timeout=300)
        if client.returncode != 0:
            raise RuntimeError(client.stderr + client.stdout)
        result = json.loads(client.stdout)
        until(lambda: api.get("/api/v1/cluster")["jobs"].get("Finished", 0) >= options.jobs + options.single, 300,
              lambda: f"all jobs to finish: {api.get('/api/v1/cluster')['jobs']}", 0.5)
        sampler.stopping.set()
        sampler.join(30)
        waits = [(at(job["started"]) - at(job["submitted"])) * 1000 for job in api.jobs() if job["name"] != "single"]
        cluster = until(lambda: quiet(api), 30, "a quiet moment")
        result.update({
            "benchmark": "submit", "simulated": True, "nodes": options.nodes, "gpus": options.nodes * 8,
            "submit_to_running_ms_p50": round(percentile(waits, 0.5), 1), "submit_to_running_ms_p99": round(percentile(waits, 0.99), 1),
            "finished": cluster["jobs"].get("Finished", 0), "holdings_samples": sampler.samples, "holdings_rows_compared": sampler.rows,
            "holdings_differences": len(sampler.differences), "baseline_fsyncs_per_second": round(baseline),
            "accepted_per_fsync": round(result["accepted_per_second"] / baseline, 2)})
        bound = 2 * percentile(disk, 0.5) + 5
        result.update({"single_answer_ms_p50": round(percentile(answered, 0.5), 2), "single_placed_ms_p50": round(percentile(placed, 0.5), 2),
                       "single_placed_ms_p99": round(percentile(placed, 0.99), 2), "fsync_ms_p50": round(percentile(disk, 0.5), 2),
                       "single_placed_goal_ms": round(bound, 2)})
        result.update(restart(scheduler, agent, body))
        print(json.dumps(result))
        print(f"{result['accepted_per_second']:.0f} jobs/s accepted durably over {options.connections} connections = {result['accepted_per_fsync']} per fsync of this disk "
              f"({baseline:.0f}/s); submit to running p50 {result['submit_to_running_ms_p50']} ms, p99 {result['submit_to_running_ms_p99']} ms "
              f"(800 cards, 1 s a job: the queue is part of it); {result['finished']} finished; {sampler.samples} samples, {len(sampler.differences)} differences")
        print(f"through HTTP and disk, one at a time: submitted to placed p50 {result['single_placed_ms_p50']} ms, p99 {result['single_placed_ms_p99']} ms "
              f"(answered p50 {result['single_answer_ms_p50']} ms); an fsync here takes p50 {result['fsync_ms_p50']} ms, the goal is twice that + 5 ms = "
              f"{result['single_placed_goal_ms']} ms")
        return 0 if result["finished"] == options.jobs + options.single and not sampler.differences and result["hash_after_restart_equal"] else 1
    finally:
        if agent:
            agent.stop()
        if scheduler:
            scheduler.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
