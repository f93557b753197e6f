"""Every malformed document of the table is answered 4xx with field and hint, and changes nothing."""
import json
import os
import unittest

from base import TOP, ClusterTest

TABLE = os.path.join(TOP, "test/documents/malformed.jsonl")


def body_of(row):
    """The document's bytes: as given, or made by the row's `generate`."""
    if "generate" not in row:
        return row["body"].encode() if isinstance(row["body"], str) else json.dumps(row["body"]).encode()
    kind, _, amount = row["generate"].partition(":")
    made = {
        "10MB": lambda: b'{"name":"' + b"x" * (10 << 20) + b'"}',
        "deep": lambda: b'{"env":' + b'{"a":' * int(amount or 200) + b"1" + b"}" * int(amount or 200) + b"}",
        "bad-utf8": lambda: b'{"name":"\xff\xfe","command":["true"]}',
    }
    return made[kind]()


class Malformed(ClusterTest):
    simulated = 1

    def test_every_row_is_refused_and_changes_nothing(self):
        with open(TABLE) as table:
            rows = [json.loads(line) for line in table if line.strip() and not line.startswith("#")]
        self.assertGreaterEqual(len(rows), 60)
        for row in rows:  # what the table prepares first: ids that exist already
            for first in row.get("before", []):
                self.api.post(first["to"], first["body"])
        before = (self.api.get("/api/v1/cluster")["state_hash"], len(self.api.jobs()))
        for row in rows:
            with self.subTest(row["name"]):
                status, headers, data = self.api.raw("POST", row["to"], body_of(row), {"Content-Type": "application/json"})
                self.assertEqual(status, row["status"], data[:300])
                error = json.loads(data)["error"]
                self.assertTrue(error["message"])
                if row.get("field"):
                    self.assertEqual(error.get("field"), row["field"], error)
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
