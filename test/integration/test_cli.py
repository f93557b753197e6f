"""The command line as a newcomer meets it: exit codes, outputs, errors that help."""
import json
import os
import subprocess
import unittest

from base import BIN, ClusterTest


class Cli(ClusterTest):
    simulated = 2

    def crater(self, *words, server=None):
        env = dict(os.environ, CRATER_SERVER=server or self.scheduler.url, CRATER_TOKEN=self.api.token, XDG_CONFIG_HOME=os.path.join(self.folder, "config"))
        return subprocess.run([os.path.join(BIN, "crater"), *words], capture_output=True, text=True, timeout=60, env=env)

    def test_submit_wait_describe_why_list_cancel(self):
        done = self.crater("job", "submit", "--name", "hello", "--gpu", "1", "--duration", "200ms", "--wait", "--command", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        job = done.stdout.strip()
        self.assertIn("hello", self.crater("job", "list").stdout)
        described = self.crater("job", "describe", job)
        self.assertIn("simulated", described.stdout)
        self.assertIn("Finished", described.stdout)
        self.assertEqual(self.crater("job", "why", job).returncode, 0)
        cancelled = self.crater("job", "cancel", job)
        self.assertEqual(cancelled.returncode, 4, cancelled.stdout)

    def test_every_list_speaks_json_and_yaml(self):
        for noun in (["job", "list"], ["node", "list"], ["queue", "list"], ["token", "list"], ["cluster", "info"], ["node", "describe", "sim-01"], ["node", "topology", "sim-01"]):
            done = self.crater(*noun, "--output", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            json.loads(done.stdout)
            self.assertEqual(self.crater(*noun, "--output", "yaml").returncode, 0)
            self.assertEqual(self.crater(*noun, "--output", "wide").returncode, 0)

    def test_exit_codes(self):
        self.assertEqual(self.crater("job", "submit").returncode, 2)
        self.assertEqual(self.crater("jbo").returncode, 2)
        self.assertIn("job", self.crater("jbo").stderr)
        self.assertEqual(self.crater("job", "describe", "nobody").returncode, 4)
        self.assertEqual(self.crater("job", "list", server="http://127.0.0.1:9").returncode, 5)
        never = self.crater("job", "submit", "--gpu", "64", "--command", "true", "--output", "json")
        self.assertEqual(never.returncode, 4)
        self.assertEqual(json.loads(never.stderr)["error"]["code"], "unsatisfiable")

    def test_what_is_wrong_is_named(self):
        for words, said in ((["jbo"], "did you mean 'job'?"), (["job", "frobnicate"], "no command 'frobnicate'"),
                            (["--output=json", "frobnicate"], "no command 'frobnicate'"), (["job", "--colour", "red", "list"], "--colour"),
                            (["-o", "fancy", "job", "list"], '"fancy" is none of table, wide, json, yaml'),
                            (["job", "submit", "--array", "0", "--command", "true"], "--array"), (["job", "submit", "--tasks", "-1", "--command", "true"], "--tasks")):
            done = self.crater(*words)
            self.assertNotIn(done.returncode, (0, 1), words)
            self.assertIn(said, done.stderr, words)

    def test_quota_set_and_get(self):
        self.assertEqual(self.crater("quota", "set", "--tenant", "lab", "--gpu-hard", "2", "--memory-hard", "64Gi").returncode, 0)
        shown = json.loads(self.crater("quota", "get", "--tenant", "lab", "--output", "json").stdout)
        self.assertEqual(shown["hard"]["gpu"], 2)
        refused = self.crater("job", "submit", "--tenant", "lab", "--gpu", "3", "--command", "true")
        self.assertEqual(refused.returncode, 4)
        self.assertIn("quota", refused.stderr)

    def test_drain_takes_no_new_work_and_resume_does(self):
        for node in ("sim-01", "sim-02"):
            self.assertEqual(self.crater("node", "drain", node).returncode, 0)
        job = self.submit(name="waits", type="batch", duration="100ms", resources={"gpu": {"count": 1}})
        self.assertEqual(self.api.job(job)["state"], "Pending")
        self.assertIn("drain", self.crater("job", "why", job).stdout)
        for node in ("sim-01", "sim-02"):
            self.assertEqual(self.crater("node", "resume", node).returncode, 0)
        self.api.wait_state(job, "Finished")

    def test_a_dry_run_says_where(self):
        done = self.crater("job", "submit", "--gpu", "1", "--command", "true", "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("would start now", done.stdout)

    def test_completion_knows_the_commands(self):
        script = self.crater("completion", "bash").stdout
        done = subprocess.run(["bash", "-c", script + "\nCOMP_WORDS=(crater job sub); COMP_CWORD=2; _crater; echo ${COMPREPLY[@]}"], capture_output=True, text=True)
        self.assertIn("submit", done.stdout)

    def test_config_is_remembered(self):
        env = dict(os.environ, XDG_CONFIG_HOME=os.path.join(self.folder, "config"))
        for variable in ("CRATER_SERVER", "CRATER_TOKEN"):
            env.pop(variable, None)
        run = lambda *words: subprocess.run([os.path.join(BIN, "crater"), *words], capture_output=True, text=True, env=env)
        self.assertEqual(run("config", "set", "--server", self.scheduler.url, "--token", self.api.token).returncode, 0)
        self.assertEqual(run("queue", "list").returncode, 0)
        self.assertEqual(os.stat(os.path.join(self.folder, "config/crater/config.yaml")).st_mode & 0o777, 0o600)


if __name__ == "__main__":
    unittest.main()
