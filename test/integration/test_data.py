"""Datasets and weights in the caches of nodes: jobs go to them, wait for them, and are told where they are."""
import os
import subprocess
import unittest

from base import BIN, ClusterTest
from crater import until

NODES = """simulated_nodes:
  - {name: a-none, cpu: {cores: 8}, memory_gb: 32}
  - {name: b-some, cpu: {cores: 8}, memory_gb: 32, cache: {datasets: [imagenet]}}
  - {name: c-all, cpu: {cores: 8}, memory_gb: 32, cache: {datasets: [imagenet, tokens], models: ["llama-7b:3"]}}
"""


class Data(ClusterTest):
    simulated, nodes, machine = 3, NODES, True

    def crater(self, *words):
        env = dict(os.environ, CRATER_SERVER=self.scheduler.url, CRATER_TOKEN=self.api.token)
        answer = subprocess.run([os.path.join(BIN, "crater"), *words], capture_output=True, text=True, timeout=60, env=env)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout

    def ask(self, **more):
        return self.api.post("/api/v1/jobs", dict({"type": "batch", "command": ["true"], "duration": "1s",
                                                   "resources": {"cpu": {"cores": 1}, "memory": {"size": "1Gi"}}}, **more))["job"]

    def place_of(self, **more):
        job = self.ask(**more)
        self.api.wait_state(job["id"], "Finished")
        return self.api.job(job["id"])["nodes"]

    def test_jobs_go_to_their_data(self):
        self.assertEqual(self.place_of(datasets=["imagenet", "tokens"]), ["c-all"])
        self.assertEqual(self.place_of(datasets=["tokens"], dataLocality="required"), ["c-all"])
        self.assertEqual(self.place_of(models=["llama-7b:3"], datasets=["imagenet"], data_locality="required"), ["c-all"])
        self.assertIn("imagenet, tokens", self.crater("node", "describe", "c-all"))

    def test_a_job_waits_for_data_and_runs_where_it_comes_to_lie(self):
        job = self.ask(datasets=["fashion"], data_locality="required")
        until(lambda: self.api.job(job["id"])["reason"] == "waiting_for_data", 20, "the job to say what it waits for")
        self.assertIn("dataset fashion is cached on no node", self.crater("job", "why", job["id"]))
        cache = os.path.join(self.folder, "machine", "cache", "dataset")
        os.makedirs(os.path.join(cache, ".fashion"))
        with open(os.path.join(cache, ".fashion", "train"), "w") as file:
            file.write("x" * 1000)
        os.rename(os.path.join(cache, ".fashion"), os.path.join(cache, "fashion"))
        self.api.wait_state(job["id"], "Finished", timeout=90)


if __name__ == "__main__":
    unittest.main()
