"""What people are told when a job waits, or can never run."""
import unittest

from base import ClusterTest
from crater import until


class Words(ClusterTest):
    simulated, gpus = 2, 4

    def test_a_request_that_fits_an_empty_card_but_not_what_is_free_waits_and_says_who_holds_it(self):
        holders = [self.submit(name=f"holder-{i}", type="batch", duration="1h", resources={"gpu": {"count": 1, "memory": "30Gi"}}) for i in range(8)]
        for job in holders:
            self.api.wait_state(job, "Running")
        waiting = self.submit(name="waits", type="batch", resources={"gpu": {"count": 1, "memory": "16Gi"}})
        self.assertEqual(self.api.job(waiting)["state"], "Pending")
        until(lambda: self.api.job(waiting)["reason"] == "waiting_for_gpu", 20, "the reason that says what it waits for")
        why = self.api.get(f"/api/v1/jobs/{waiting}/why")
        self.assertIn("GiB", why["summary"])
        self.assertIn("16", why["summary"])
        self.assertEqual(why["binding"], "gpu_memory")
        self.assertEqual(why["rank"], 1)
        self.assertTrue({holder["job"] for holder in why["holders"]} <= set(holders))
        self.assertTrue(why["holders"])
        short = next(need for need in why["requirements"] if need["binding"])
        self.assertEqual(short["nodes_short"], 2)
        for job in holders:
            self.api.post(f"/api/v1/jobs/{job}/cancel")
        self.api.wait_state(waiting, "Finished")

    def test_a_request_beyond_every_card_is_refused_at_submit_with_the_shortfall(self):
        error = self.refused(422, self.submit, type="batch", resources={"gpu": {"count": 1, "memory": "64Gi"}})
        self.assertEqual(error["code"], "unsatisfiable")
        self.assertIn("resources.gpu", error["field"])
        self.assertIn("64", error["message"])
        self.assertIn("40", error["message"])

    def test_a_gang_larger_than_the_cluster_is_refused(self):
        error = self.refused(422, self.submit, type="training", tasks=3, resources={"gpu": {"count": 4}})
        self.assertTrue(error["message"])

    def test_a_plan_changes_nothing(self):
        before = self.api.get("/api/v1/cluster")
        fit = self.api.post("/api/v1/plans/submit", {"type": "batch", "command": ["true"], "resources": {"gpu": {"count": 1}}})
        self.assertTrue(fit["fits_ever"])
        self.assertEqual(self.api.get("/api/v1/cluster")["state_hash"], before["state_hash"])


if __name__ == "__main__":
    unittest.main()
