"""kill -9 of the scheduler under load and around each commit, kill -9 of the agent: nothing acknowledged is lost, nothing starts twice.

Rounds: CRATER_CRASH_ROUNDS (default 12; the full proof uses 200).
"""
import collections
import os
import random
import threading
import time
import unittest

from base import ClusterTest
from crater import alive, until

ROUNDS = int(os.environ.get("CRATER_CRASH_ROUNDS", "12"))
POINTS = ["before_begin", "after_write", "before_commit", "after_commit", "before_answer"]


class Submitter(threading.Thread):
    """Submits jobs that append their id and attempt to a file; remembers which were acknowledged."""

    def __init__(self, api, ledger, prefix, mounts):
        super().__init__(daemon=True)
        self.api, self.ledger, self.prefix, self.mounts = api, ledger, prefix, mounts
        self.acknowledged, self.stopping, self.number = [], threading.Event(), 0

    def run(self):
        while not self.stopping.is_set():
            task_id = f"{self.prefix}-{self.number}"
            document = {"task_id": task_id, "task_type": "batch", "resources": {"cpu": {"cores": 0.1}, "memory": {"size": "8Mi"}},
                        "command": ["/bin/sh", "-c", f"echo {task_id} >> {self.ledger}"], "mounts": self.mounts}
            try:
                status, _, _ = self.api.raw("POST", "/api/v1/schedule", document)
                if status in (200, 201):
                    self.acknowledged.append(task_id)
                    self.number += 1
            except OSError:
                pass
            time.sleep(0.02)

    def stop(self):
        self.stopping.set()
        self.join(30)


class Crash(ClusterTest):
    machine = True

    def setUp(self):
        # A task sees a /tmp of its own: what it shares with this test is mounted.
        self.shared = os.path.join(self.folder, "shared")
        os.makedirs(self.shared, exist_ok=True)
        os.chmod(self.shared, 0o777)
        self.mounts = [{"source": self.shared, "target": self.shared}]
        self.ledger = os.path.join(self.shared, f"ledger-{self._testMethodName}")
        open(self.ledger, "w").close()
        os.chmod(self.ledger, 0o666)

    def check(self, submitter):
        """Every acknowledged job ended well and ran exactly once."""
        submitter.stop()
        self.assertGreater(len(submitter.acknowledged), 0)
        pending = set(submitter.acknowledged)

        def all_ended():
            jobs = {job["id"]: job for job in self.api.jobs(name=submitter.prefix)}
            lost = pending - set(jobs)
            self.assertFalse(lost, "acknowledged but unknown")
            return all(jobs[task]["state"] in ("Finished", "Failed") for task in pending) and jobs
        jobs = until(all_ended, 120, "all acknowledged jobs to end", 0.3)
        failed = [jobs[task] for task in pending if jobs[task]["state"] != "Finished"]
        self.assertFalse(failed)
        with open(self.ledger) as ledger:
            starts = collections.Counter(ledger.read().split())
        self.assertEqual([task for task in pending if starts[task] != 1], [], "jobs that did not run exactly once")

    def test_killed_at_random_moments_under_load(self):
        chance = random.Random(os.environ.get("CRATER_SEED", "7"))
        submitter = Submitter(self.api, self.ledger, "random", self.mounts)
        submitter.start()
        for _ in range(ROUNDS):
            time.sleep(chance.uniform(0.05, 0.6))
            self.scheduler.kill()
            self.scheduler.start()
        self.check(submitter)
        self.assertTrue(self.api.get("/api/v1/cluster")["state_hash_verified"])

    def test_killed_at_each_point_of_a_commit(self):
        submitter = Submitter(self.api, self.ledger, "point", self.mounts)
        submitter.start()
        rounds = max(1, ROUNDS // len(POINTS))
        for point in POINTS * rounds:
            self.scheduler.kill()
            self.scheduler.start(env={"CRATER_CRASH_AT": f"{point}:20"}, wait=True)
            until(lambda: self.scheduler.process.popen.poll() is not None, 60, f"the scheduler to end itself at {point}")
            self.assertEqual(self.scheduler.process.popen.returncode, 99)
            self.scheduler.start()
        self.check(submitter)

    def test_the_restarted_scheduler_shows_the_same_hash_at_the_same_revision(self):
        job = self.submit(name="long", resources={"cpu": {"cores": 0.1}, "memory": {"size": "8Mi"}}, command=["sleep", "3600"])
        self.api.wait_state(job, "Running")
        before = until(self.quiet, 20, "a quiet moment")
        self.scheduler.kill()
        self.scheduler.start()
        after = self.api.get("/api/v1/cluster")
        self.assertEqual((after["recovered_revision"], after["recovered_state_hash"]), (before["revision"], before["state_hash"]))
        self.assertTrue(after["state_hash_verified"])
        self.api.wait_state(job, "Running")
        self.assertEqual(self.api.get(f"/api/v1/jobs/{job}")["tasks"][0]["attempt"], 1)
        self.api.post(f"/api/v1/jobs/{job}/cancel", {"grace_period": "1s"})
        self.api.wait_state(job, "Cancelled")

    def quiet(self):
        first = self.api.get("/api/v1/cluster")
        time.sleep(0.5)
        second = self.api.get("/api/v1/cluster")
        return second if first["revision"] == second["revision"] else None

    def test_a_killed_agent_leaves_tasks_running_and_reports_what_ended_meanwhile(self):
        agent = self.agents[-1]
        small = {"cpu": {"cores": 0.1}, "memory": {"size": "16Mi"}}
        gate = os.path.join(self.shared, "gate")
        stays = self.submit(name="stays", resources=small, command=["sleep", "3600"])
        ends = self.submit(name="ends", resources=small, command=["/bin/sh", "-c", f"until [ -e {gate} ]; do sleep 0.1; done; exit 7"], mounts=self.mounts)
        self.api.wait_state(stays, "Running")
        self.api.wait_state(ends, "Running")
        agent.kill()
        open(gate, "w").close()
        until(lambda: not self.processes_with(gate), 30, "the task to end by itself")
        self.assertTrue(self.processes_with("sleep\0003600"), "the other task must go on without its agent")
        agent.start()
        job = self.api.wait_state(ends, "Failed", 60)
        self.assertEqual(self.api.get(f"/api/v1/jobs/{ends}")["tasks"][0]["exit_code"], 7, job)
        self.api.wait_state(stays, "Running", 60)
        self.assertEqual(self.api.get(f"/api/v1/jobs/{stays}")["tasks"][0]["attempt"], 1)
        self.api.post(f"/api/v1/jobs/{stays}/cancel", {"grace_period": "1s"})
        self.api.wait_state(stays, "Cancelled")

    @staticmethod
    def processes_with(words):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if words.encode() in file.read() and alive(pid):
                        found.append(int(pid))
            except OSError:
                pass
        return found


if __name__ == "__main__":
    unittest.main()
