"""What the integration tests share: a scheduler and agents of their own, in a temporary folder, for each test class."""
import os
import shutil
import tempfile
import unittest

from crater import TOP, Agent, ApiError, Scheduler, wait_nodes  # noqa: F401  (re-exported)

BIN = os.environ.get("CRATER_BIN", os.path.join(TOP, "build/bin"))

SMALL_NODES = """simulated_nodes:
  - name: sim-{01..%02d}
    gpus: {model: a100-pcie-40gb, count: %d, nvlink: pairs}
    cpu: {sockets: 2, cores: 32, features: [avx2]}
    memory_gb: 256
    disks: {nvme0n1: {size_gb: 4000, iops: 1000000, latency_us: 90}}
    runtime: %s
"""


class ClusterTest(unittest.TestCase):
    """One scheduler for the class; `simulated` nodes with `gpus` cards each, `machine`: this machine's agent too."""
    simulated, gpus, runtime, machine, config = 0, 4, "none", False, None
    nodes = None  # the description of the simulated ones, where it is not the small one

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="crater-test-")
        os.chmod(cls.folder, 0o755)
        try:
            cls.start_cluster()
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def start_cluster(cls):
        cls.agents = []
        config = None
        if cls.machine and not cls.config:
            # This machine runs the tests too: its live use shall not hold their jobs back.
            cls.config = "scheduling: {cpu_threshold: 1, memory_threshold: 1}\n"
        if cls.config:
            config = os.path.join(cls.folder, "scheduler.yaml")
            with open(config, "w") as file:
                file.write(cls.config)
        cls.scheduler = Scheduler(BIN, os.path.join(cls.folder, "scheduler"), config).start()
        cls.api = cls.scheduler.api
        if cls.simulated:
            nodes = os.path.join(cls.folder, "nodes.yaml")
            with open(nodes, "w") as file:
                file.write(cls.nodes or SMALL_NODES % (cls.simulated, cls.gpus, cls.runtime))
            cls.agents.append(Agent(cls.scheduler, os.path.join(cls.folder, "simulated"), nodes=nodes).start())
        if cls.machine:
            cls.agents.append(Agent(cls.scheduler, os.path.join(cls.folder, "machine"), name="machine").start())
        wait_nodes(cls.api, cls.simulated + bool(cls.machine))

    @classmethod
    def tearDownClass(cls):
        for agent in getattr(cls, "agents", []):
            agent.stop()
        if getattr(cls, "scheduler", None):
            cls.scheduler.stop()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def submit(self, **job):
        job.setdefault("command", ["true"])
        return self.api.post("/api/v1/jobs", job)["job"]["id"]

    def refused(self, status, call, *arguments, **named):
        with self.assertRaises(ApiError) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.status, status, caught.exception.body)
        return caught.exception.error
