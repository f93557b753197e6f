"""Racks, taints, maintenance and arrays through the command line and the API."""
import json
import os
import subprocess
import unittest

from base import BIN, ClusterTest
from crater import until

NODES = """simulated_nodes:
  - name: a-{01..02}
    labels: {topology.rack: a, topology.spine: s}
    gpus: {model: a100-pcie-40gb, count: 4}
    cpu: {sockets: 1, cores: 32}
    memory_gb: 256
    runtime: none
  - name: b-{01..03}
    labels: {topology.rack: b, topology.spine: s}
    gpus: {model: a100-pcie-40gb, count: 4}
    cpu: {sockets: 1, cores: 32}
    memory_gb: 256
    runtime: none
"""


class Topology(ClusterTest):
    simulated, nodes = 5, NODES

    def crater(self, *words):
        env = dict(os.environ, CRATER_SERVER=self.scheduler.url, CRATER_TOKEN=self.api.token)
        return subprocess.run([os.path.join(BIN, "crater"), *words], capture_output=True, text=True, timeout=60, env=env)

    def done(self, *words):
        answer = self.crater(*words)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout.strip()

    def gang(self, tasks, **more):
        return dict({"name": "gang", "type": "training", "tasks": tasks, "command": ["true"], "duration": "1h",
                     "resources": {"gpu": {"count": 4}, "cpu": {"cores": 4}, "memory": {"size": "8Gi"}}}, **more)

    def test_a_gang_stays_in_one_rack_and_why_says_what_is_missing(self):
        rack = {"topology": {"level": "rack", "required": True}}
        first = self.api.post("/api/v1/jobs", self.gang(2, **rack))["job"]["id"]
        self.api.wait_state(first, ["Preparing", "Ready", "Running"])
        self.assertEqual({node[0] for node in self.api.job(first)["nodes"]}, {"a"})
        one = self.done("job", "submit", "--type", "training", "--gpu", "4", "--duration", "1h", "--command", "true")
        self.api.wait_state(one, ["Preparing", "Ready", "Running"])
        second = self.api.post("/api/v1/jobs", self.gang(3, **rack))["job"]["id"]
        self.assertIn("No rack holds all 3 tasks: the best, rack b, has room for 2.", self.done("job", "why", second))
        status, _, body = self.api.raw("POST", "/api/v1/jobs", self.gang(4, **rack))
        self.assertEqual(status, 422, body)
        self.assertIn("rack b, holds 3", json.loads(body)["error"]["message"])
        self.done("job", "cancel", one)
        self.api.wait_state(second, ["Preparing", "Ready", "Running"])
        for job in (first, second):
            self.done("job", "cancel", job)
            self.api.wait_state(job, "Cancelled")

    def test_taints_keep_away_who_does_not_tolerate_them(self):
        for node in ("a-01", "a-02", "b-01", "b-02", "b-03"):
            self.done("node", "taint", node, "kind=old:no_schedule")
        self.assertIn("kind=old:no_schedule", self.done("node", "describe", "a-01"))
        refused = self.crater("job", "submit", "--cpu", "1", "--command", "true")
        self.assertEqual(refused.returncode, 4)
        self.assertIn("kind=old", refused.stderr)
        tolerant = self.submit(name="tolerant", command=["true"], duration="100ms", tolerations=[{"key": "kind"}])
        self.api.wait_state(tolerant, "Finished")
        for node in ("a-01", "a-02", "b-01", "b-02", "b-03"):
            self.done("node", "untaint", node, "kind")
        self.assertNotIn("taints", self.api.get("/api/v1/nodes/a-01")["node"])
        self.assertEqual(self.crater("node", "taint", "a-01", "a b=c").returncode, 2)
        self.assertEqual(self.crater("node", "taint", "a-01", "a=c:no_execute").returncode, 2)

    def test_maintenance_is_shown_kept_and_given_up(self):
        self.done("node", "maintenance", "b-03", "--start", "1h", "--end", "2h")
        self.done("node", "maintenance", "b-03", "--start", "1s", "--end", "3h")
        self.api.get("/api/v1/nodes/b-03")
        shown = self.api.get("/api/v1/nodes/b-03")["node"]
        self.assertEqual(len(shown["maintenance"]), 2)
        self.assertIn("Maintenance", self.done("node", "describe", "b-03"))
        self.until_state("b-03", "draining")
        waits = self.submit(name="waits", command=["true"], duration="100ms", node={"include": ["b-03"]})
        self.assertIn("under maintenance", self.done("job", "why", waits))
        self.done("node", "maintenance", "b-03", "--cancel")
        self.until_state("b-03", "up")
        self.api.wait_state(waits, "Finished")
        self.assertEqual(self.crater("node", "maintenance", "b-03", "--start", "2h", "--end", "1h").returncode, 2)

    def until_state(self, node, state):
        until(lambda: self.api.get(f"/api/v1/nodes/{node}")["node"]["state"] == state, what=f"{node} {state}")

    def test_an_array_is_listed_and_cancelled_as_one(self):
        array = self.done("job", "submit", "--array", "30", "--gpu", "1", "--duration", "1h", "--command", "true")
        listed = json.loads(self.done("job", "list", "--label", f"crater.array={array}", "--output", "json"))
        self.assertEqual({job["id"] for job in listed["items"]}, {f"{array}.{i}" for i in range(30)})
        self.done("job", "cancel", array)
        for i in range(30):
            self.api.wait_state(f"{array}.{i}", "Cancelled")
        quick = self.crater("job", "submit", "--array", "3", "--cpu", "1", "--duration", "100ms", "--wait", "--command", "true")
        self.assertEqual(quick.returncode, 0, quick.stderr)


if __name__ == "__main__":
    unittest.main()
