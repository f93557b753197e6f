"""AllData's calls: both documents, its envelope, callbacks in order through failures and a restart."""
import os
import unittest

from base import ClusterTest
from crater import Api, alldata, until


class AllData(ClusterTest):
    simulated = 1

    @classmethod
    def start_cluster(cls):
        cls.stand_in, port = alldata(cls.folder, username="crater", password="secret", fail_first=3)
        cls.received = Api(f"http://127.0.0.1:{port}")
        password = os.path.join(cls.folder, "password")
        with open(password, "w") as file:
            file.write("secret\n")
        cls.config = f"alldata:\n  api_url: http://127.0.0.1:{port}/api/v1\n  callback: {{username: crater, password_file: {password}}}\n" \
                     "  templates: {llm_finetune: {command: [echo, '{{train_dataset}}']}}\n"
        super().start_cluster()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.stand_in.stop()

    def statuses(self, task_id):
        return [row["body"]["status"] for row in self.received.get("/received")["received"] if row["answered"] == 200 and row["body"]["task_id"] == task_id]

    def test_both_documents_run_and_are_called_back_in_order(self):
        self.api.post("/api/v1/schedule", {"task_id": "doc-1", "task_type": "training", "command": ["true"], "resource_requirements": {"gpu": {"count": 1, "memory_mb": 16384}, "cpu": {"cores": 4}}})
        self.api.post("/api/v1/schedule", {"task_id": "doc-2", "task_type": "training", "command": ["true"], "priority": "high", "duration": "00:00:01",
                                           "resources": {"gpu": {"count": 1, "memory_gb": 20, "model": "A100"}, "cpu": {"cores": 2}, "memory": {"size_gb": 16}}})
        for task in ("doc-1", "doc-2"):
            self.api.wait_state(task, "Finished", 60)
            until(lambda: "finished" in self.statuses(task), 60, lambda: f"callbacks of {task}: {self.statuses(task)}")
            self.assertEqual(self.statuses(task)[:2], ["queued", "scheduled"])
        order = self.received.get("/order")
        self.assertTrue(order["ok"], order)

    def test_a_restart_between_change_and_callback_loses_none(self):
        self.received.post("/control", {"fail_first": 5})
        self.api.post("/api/v1/schedule", {"task_id": "doc-3", "task_type": "training", "command": ["true"], "resources": {"cpu": {"cores": 1}}})
        self.api.wait_state("doc-3", "Finished", 60)
        self.scheduler.kill()
        self.scheduler.start()
        until(lambda: "finished" in self.statuses("doc-3"), 90, lambda: f"{self.statuses('doc-3')}")
        self.assertTrue(self.received.get("/order")["tasks"]["doc-3"]["ok"])

    def test_a_template_fills_in_the_document(self):
        self.api.post("/api/v1/schedule", {"task_id": "tmpl-1", "task_type": "llm_finetune", "data_config": {"train_dataset": "s3://bucket/a b/"}, "resources": {"cpu": {"cores": 1}}})
        spec = self.api.get("/api/v1/jobs/tmpl-1")["spec"]
        self.assertIn("s3://bucket/a b/", spec["command"])
        error = self.refused(400, self.api.post, "/api/v1/schedule", {"task_id": "tmpl-2", "task_type": "unknown_kind", "resources": {"cpu": {"cores": 1}}})
        self.assertIn("llm_finetune", error["message"] + error.get("hint", ""))

    def test_the_envelope(self):
        applied = self.api.post("/alldata/v1/apply", {"task_id": "env-1", "task_type": "training", "command": ["true"], "resources": {"cpu": {"cores": 1}}})
        self.assertTrue(applied["success"])
        self.assertEqual(applied["code"], 200)
        self.assertEqual(applied["data"]["task_id"], "env-1")
        page = self.api.get("/alldata/v1/tasks?pageNum=1&pageSize=2")["data"]
        self.assertEqual(page["pageSize"], 2)
        self.assertLessEqual(len(page["data"]), 2)
        status, _, body = self.api.raw("GET", "/alldata/v1/tasks/nobody")
        self.assertEqual(status, 404)
        self.assertIn(b'"success":false', body.replace(b" ", b""))
        released = self.api.post("/alldata/v1/release", {"task_id": "env-1", "reason": "test"})
        self.assertTrue(released["success"])
        self.assertTrue(self.api.get("/alldata/v1/usage")["data"]["cluster"])

    def test_changes_can_be_polled(self):
        self.api.post("/api/v1/schedule", {"task_id": "poll-1", "task_type": "training", "command": ["true"], "resources": {"cpu": {"cores": 1}}})
        self.api.wait_state("poll-1", "Finished", 60)
        seen, cursor = [], "0"
        while True:
            answer = self.api.get(f"/api/v1/changes?since={cursor}")
            seen += [change["status"] for change in answer["changes"] if change["task_id"] == "poll-1"]
            cursor = answer["cursor"]
            if not answer.get("more"):
                break
        self.assertEqual(seen[0], "queued")
        self.assertEqual(seen[-1], "finished")


if __name__ == "__main__":
    unittest.main()
