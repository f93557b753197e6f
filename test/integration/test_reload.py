"""SIGHUP: the configuration is read again; what can change while it runs holds at once, what needs a restart is named, a mistake changes nothing."""
import os
import signal
import unittest

from base import ClusterTest
from crater import until


class Reload(ClusterTest):
    simulated, gpus = 1, 2
    config = "log_level: info\n"

    def reload(self, text, said):
        with open(os.path.join(self.folder, "scheduler.yaml"), "w") as file:
            file.write(text)
        seen = len(self.scheduler.process.log())
        os.kill(self.scheduler.process.popen.pid, signal.SIGHUP)
        return until(lambda: (lambda new: said in new and new)(self.scheduler.process.log()[seen:]), 20, f"the scheduler to say: {said}")

    def queues(self):
        return [queue["spec"]["name"] for queue in self.api.get("/api/v1/queues")["items"]]

    def test_a_running_scheduler_takes_over_what_it_can(self):
        error = self.refused(400, self.submit, quota_policy="small", type="batch", resources={"gpu": {"count": 1}})
        self.assertEqual(error["field"], "quota_policy")
        text = ("log_level: debug\nheartbeat_interval: 2s\ncluster_name: other\nquota_policies: {small: {gpu: 1}}\n"
                "queues:\n  - {name: training}\n  - {name: night, policy: binpack, priority: low}\n")
        said = self.reload(text, "need a restart")
        for key in ("heartbeat_interval", "log_level", "queues", "quota_policies"):
            self.assertIn(key, said)
        self.assertRegex(said, r'need a restart[^}]*cluster_name')
        self.assertNotRegex(said, r'need a restart[^}]*queues')
        until(lambda: "night" in self.queues(), 20, "the new queue to be durable and shown")
        self.refused(422, self.submit, quota_policy="small", type="batch", resources={"gpu": {"count": 2}})
        job = self.submit(quota_policy="small", queue="night", type="batch", resources={"gpu": {"count": 1}})
        self.api.wait_state(job, "Finished")

        said = self.reload("queues: [{name: a}, {name: a}]\n", "is not taken over")
        self.assertIn("queues[1].name", said)
        self.assertIn("night", self.queues())


if __name__ == "__main__":
    unittest.main()
