"""A task is not root, sees nothing of Crater's own nor of other tasks, and is held to its limits."""
import os
import unittest

from base import ClusterTest

SMALL = {"cpu": {"cores": 0.2}, "memory": {"size": "64Mi"}}


@unittest.skipUnless(os.geteuid() == 0, "isolation needs root")
class Isolation(ClusterTest):
    machine = True

    def run_shell(self, script, state="Finished", **job):
        job_id = self.submit(resources=job.pop("resources", SMALL), command=["/bin/sh", "-c", script], **job)
        row = self.api.wait_state(job_id, [state], 60)
        return row, self.api.log(job_id), job_id

    def test_a_task_is_not_root_and_has_no_capabilities(self):
        _, log, _ = self.run_shell("id -u; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status")
        self.assertNotEqual(log.split()[0], "0")
        self.assertIn("0000000000000000", log)
        self.assertRegex(log, r"NoNewPrivs:\s+1")

    def test_a_task_cannot_read_tokens_store_or_other_tasks(self):
        _, _, other = self.run_shell("echo secret-of-another > $CRATER_CHECKPOINT_PATH/secret; echo done")
        targets = [f"{self.scheduler.data}/admin.token", f"{self.scheduler.data}/crater.db", f"{self.scheduler.data}/join.token"]
        for root, _, files in os.walk(os.path.join(self.folder, "machine")):
            targets += [os.path.join(root, name) for name in files]
        self.assertTrue(any(other in path for path in targets))
        script = "\n".join(f"cat '{path}' 2>/dev/null && echo READ {path}" for path in targets) + f"\nls {self.folder}/machine/tasks 2>/dev/null\necho end"
        _, log, own = self.run_shell(script)
        read = [line for line in log.splitlines() if line.startswith("READ") and own not in line]
        self.assertEqual(read, [])
        self.assertNotIn("secret-of-another", log)

    def test_memory_beyond_the_request_ends_the_task_with_the_cause(self):
        script = "/usr/bin/python3 -c 'x = bytearray(400 << 20); print(len(x))'"
        row, _, job_id = self.run_shell(script, "Failed")
        self.assertEqual(row["reason"], "out_of_memory", row)

    def test_exit_codes_and_signals_are_told(self):
        row, _, job_id = self.run_shell("exit 3", "Failed")
        self.assertEqual(self.api.get(f"/api/v1/jobs/{job_id}")["tasks"][0]["exit_code"], 3)
        self.assertEqual(row["reason"], "exit_nonzero")
        row, _, job_id = self.run_shell("kill -KILL $$", "Failed")
        self.assertEqual(row["reason"], "killed_by_signal")

    def test_a_command_that_does_not_exist_says_so(self):
        job_id = self.submit(resources=SMALL, command=["/no/such/program"])
        row = self.api.wait_state(job_id, "Failed")
        self.assertEqual(row["reason"], "start_failed")
        self.assertIn("/no/such/program", row["detail"])

    def test_a_time_limit_ends_the_task(self):
        row, _, _ = self.run_shell("sleep 600", "Failed", time_limit="1s", grace_period="1s")
        self.assertEqual(row["reason"], "time_limit")

    def test_cancel_gives_the_grace_period(self):
        script = "trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.1; done"
        job_id = self.submit(resources=SMALL, command=["/bin/sh", "-c", script], grace_period="20s")
        from crater import until
        until(lambda: "ready" in self.api.log(job_id), 30, "the task")
        self.api.post(f"/api/v1/jobs/{job_id}/cancel")
        self.api.wait_state(job_id, "Cancelled")
        self.assertIn("saved", self.api.log(job_id))

    def test_the_environment_of_the_contract_is_set(self):
        names = ["CRATER_JOB_ID", "CRATER_TASK_INDEX", "CRATER_CPU_CORES", "CRATER_CHECKPOINT_PATH", "CRATER_TEMP_PATH", "CRATER_OUTPUT_PATH"]
        _, log, job_id = self.run_shell("\n".join(f"echo {name}=${name}" for name in names))
        for name in names:
            self.assertRegex(log, rf"(?m)^{name}=.+$")
        self.assertIn(f"CRATER_JOB_ID={job_id}", log)

    def test_the_tasks_of_a_gang_find_each_other(self):
        script = "echo rank $NODE_RANK of $WORLD_SIZE at $MASTER_ADDR:$MASTER_PORT"
        _, log, job_id = self.run_shell(script, tasks=2)
        self.assertRegex(log, r"rank 0 of 2 at \S+:\d+")
        self.assertRegex(self.api.log(job_id, task=1), r"rank 1 of 2 at \S+:\d+")


if __name__ == "__main__":
    unittest.main()
