"""Every malformed document of the table is answered 4xx with field and hint, and changes nothing."""
import json
import os
import unittest

from base import TOP, ClusterTest

TABLE = os.path.join(TOP, "test/documents/malformed.jsonl")


def body_of(row):
    """The document's bytes: text, hexadecimal, or made by the row's `generate` (test/documents/README.md)."""
    if "body" in row:
        return row["body"].encode()
    if "body_hex" in row:
        return bytes.fromhex(row["body_hex"])
    kind, amount = row["generate"].split(":")
    amount = int(amount)
    if kind == "big":
        return b'{"command":["true"],"name":"' + b"x" * amount + b'"}'
    if kind == "deep":
        return b'{"command":["true"],"env":' + b"[" * amount + b"]" * amount + b"}"
    assert kind == "wide", kind
    return json.dumps({"command": ["true"], "env": {f"NAME_{i}": "x" for i in range(amount)}}).encode()


class Malformed(ClusterTest):
    simulated = 1

    def test_every_row_is_refused_and_changes_nothing(self):
        with open(TABLE) as table:
            rows = [json.loads(line) for line in table if line.strip() and not line.startswith("#")]
        self.assertGreaterEqual(len(rows), 60)
        before = (self.api.get("/api/v1/cluster")["state_hash"], len(self.api.jobs()))
        for row in rows:
            with self.subTest(row["name"]):
                status, headers, data = self.api.raw("POST", row["to"], body_of(row), {"Content-Type": "application/json"})
                self.assertEqual(status, row["status"], data[:300])
                error = json.loads(data)["error"]
                self.assertTrue(error["message"])
                if row.get("field"):
                    self.assertEqual(error.get("field"), row["field"], error)
                self.assertIn(row.get("hint", ""), error.get("hint", ""))
        self.assertEqual((self.api.get("/api/v1/cluster")["state_hash"], len(self.api.jobs())), before)

    def test_the_same_id_with_another_document_is_a_conflict_and_the_first_stays(self):
        document = {"task_id": "twice", "task_type": "training", "command": ["true"], "resources": {"cpu": {"cores": 1}}}
        first = self.api.post("/api/v1/schedule", document)
        self.assertEqual(self.api.post("/api/v1/schedule", document)["task_id"], first["task_id"])
        other = dict(document, resources={"cpu": {"cores": 2}})
        self.refused(409, self.api.post, "/api/v1/schedule", other)
        self.assertEqual(self.api.get("/api/v1/jobs/twice")["spec"]["resources"]["cpu"]["cores"], 1)

    def test_an_idempotency_key_makes_one_job(self):
        job = {"command": ["true"], "name": "once"}
        answers = [self.api.raw("POST", "/api/v1/jobs", job, {"Idempotency-Key": "k-1"}) for _ in range(2)]
        self.assertEqual([answer[0] for answer in answers], [201, 200])
        self.assertEqual(len({json.loads(answer[2])["job"]["id"] for answer in answers}), 1)
        self.assertEqual(self.api.raw("POST", "/api/v1/jobs", dict(job, name="other"), {"Idempotency-Key": "k-1"})[0], 409)


if __name__ == "__main__":
    unittest.main()
