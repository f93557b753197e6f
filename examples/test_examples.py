#!/usr/bin/python3
"""Proves what the examples and the AllData stand-in promise: /usr/bin/python3 examples/test_examples.py"""

import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ALLDATA = HERE.parent / "test/fakes/alldata/alldata.py"
sys.path.insert(0, str(HERE / "common"))

import runtime  # noqa: E402

np = runtime.numpy()

import checkpoint  # noqa: E402
import fashion_mnist  # noqa: E402

SMALL = {"LIMIT": "2000", "BATCH_SIZE": "100", "EPOCHS": "3", "HIDDEN": "32", "LOG_EVERY": "1", "CHECKPOINT_EVERY": "5"}


def environment(**extra):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CRATER_")}
    return {**clean, **extra}


def start(script, *arguments, **extra):
    return subprocess.Popen([sys.executable, str(script), *arguments], env=environment(**extra), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(script, *arguments, **extra):
    """(exit status, standard output, standard error)."""
    process = start(script, *arguments, **extra)
    output, errors = process.communicate()
    return process.returncode, output, errors


def wait_for_line(process, text):
    for line in process.stdout:
        if text in line:
            return line
    raise AssertionError(f"ended without {text!r}: {process.stderr.read()}")


@contextlib.contextmanager
def server(script, *arguments, **extra):
    process = start(script, *arguments, **extra)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ask(url, body=None, authorization=None):
    """(status, decoded answer)."""
    request = urllib.request.Request(url, None if body is None else body if isinstance(body, bytes)
                                     else json.dumps(body).encode())
    if authorization:
        request.add_header("Authorization", authorization)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


class InTemporaryFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def training(self, name, **extra):
        """Settings of a training run with folders of its own, its checkpoints in `name`."""
        return {**SMALL, "CRATER_CHECKPOINT_PATH": str(self.folder / name / "checkpoint"),
                "CRATER_OUTPUT_PATH": str(self.folder / name / "output"), **extra}

    def train(self, name, **extra):
        status, output, errors = run(HERE / "training/train.py", **self.training(name, **extra))
        self.assertEqual(status, 0, output + errors)
        return output

    def model(self, name):
        return (self.folder / name / "output/model.ckpt").read_bytes()

    def checkpoints(self, name):
        return sorted((self.folder / name / "checkpoint").glob("*.ckpt"))


class Training(InTemporaryFolder):
    def interrupt(self, name, line, number):
        process = start(HERE / "training/train.py", **self.training(name, PACE="0.02"))
        with process.stdout, process.stderr:
            wait_for_line(process, line)
            process.send_signal(number)
            rest = process.stdout.read()
        return process.wait(), rest

    def test_interrupted_and_resumed_ends_with_the_weights_of_an_uninterrupted_run(self):
        self.train("whole")
        status, rest = self.interrupt("parts", "epoch 1 step 7 ", signal.SIGTERM)
        self.assertEqual(status, 143)
        self.assertIn("stopped at epoch 1 step", rest)
        status, _ = self.interrupt("parts", "epoch 2 step 13 ", signal.SIGTERM)
        self.assertEqual(status, 143)
        output = self.train("parts")
        self.assertRegex(output, r"resumed from .* at epoch 2 step 1\d\n")
        self.assertRegex(output, r"\naccuracy 0\.\d+\n$")
        self.assertEqual(self.model("whole"), self.model("parts"))

    def test_killed_without_warning_ends_with_the_same_weights_too(self):
        self.train("whole")
        status, _ = self.interrupt("parts", "epoch 2 step 3 ", signal.SIGKILL)
        self.assertEqual(status, -signal.SIGKILL)
        self.assertIn("resumed from", self.train("parts"))
        self.assertEqual(self.model("whole"), self.model("parts"))

    def test_torn_and_damaged_newest_checkpoints_are_skipped(self):
        self.train("run")
        older, damaged, torn = self.checkpoints("run")
        torn.write_bytes(torn.read_bytes()[:-1000])
        content = bytearray(damaged.read_bytes())
        content[-1] ^= 1
        damaged.write_bytes(content)
        before = self.model("run")
        output = self.train("run")
        self.assertIn(f"not taken: {torn}: torn", output)
        self.assertIn(f"not taken: {damaged}: damaged", output)
        self.assertIn(f"resumed from {older} at", output)
        self.assertEqual(before, self.model("run"))

    def test_resumes_from_what_is_offered_file_or_folder_and_falls_back_when_that_is_torn(self):
        self.train("run")
        first = self.checkpoints("run")[0]
        self.assertIn(f"resumed from {first} ", self.train("file", CRATER_RESUME_FROM=str(first)))
        self.assertIn(f"resumed from {self.checkpoints('run')[-1]} ",
                      self.train("folder", CRATER_RESUME_FROM=str(first.parent)))
        bad = self.folder / "offered.ckpt"
        bad.write_bytes(b"half of something")
        output = self.train("run", CRATER_RESUME_FROM=str(bad))
        self.assertIn(f"not taken: {bad}", output)
        self.assertIn(f"resumed from {self.checkpoints('run')[-1]} ", output)

    def test_checkpoint_of_other_options_is_not_mixed_in_nor_pushes_out_new_ones(self):
        self.train("run")
        output = self.train("run", SEED="2", EPOCHS="1")
        self.assertIn("seed 1, now 2", output)
        self.assertIn("starting anew", output)
        self.assertIn("resumed from", self.train("run", SEED="2", EPOCHS="1"))

    def test_missing_dataset_names_the_package(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import runtime; runtime.numpy()\n"
                "import fashion_mnist; fashion_mnist.FOLDER = '/nowhere'; fashion_mnist.load('train')")
        done = subprocess.run([sys.executable, "-c", code, str(HERE / "common")], env=environment(),
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("dataset-fashion-mnist", done.stderr)


class Inference(InTemporaryFolder):
    def test_predicts_refuses_bad_input_and_stops_cleanly(self):
        self.train("run")
        model = self.folder / "run/output/model.ckpt"
        with server(HERE / "inference/serve.py", MODEL_PATH=str(model), PORT="0", HOST="127.0.0.1") as process:
            base = "http://127.0.0.1:" + wait_for_line(process, "serving").split()[-1]
            self.assertEqual(ask(base + "/healthz"), (200, {"status": "ok"}))

            images, labels = fashion_mnist.load("t10k", 100)
            status, answer = ask(base + "/predict", {"inputs": fashion_mnist.brightness(images).tolist()})
            self.assertEqual(status, 200)
            classes = [output["class"] for output in answer["outputs"]]
            right = sum(name == fashion_mnist.CLASSES[label] for name, label in zip(classes, labels))
            self.assertGreater(right, 60)

            for body, message in ((b"{", "not JSON"), ({}, "inputs"), ({"inputs": [[1, 2]]}, "784"),
                                  ({"inputs": [[255] * 784]}, "0 to 1"), ({"inputs": [["1"] * 784]}, "number"),
                                  (b'{"inputs": [[%s]]}' % b",".join([b"NaN"] * 784), "number")):
                status, answer = ask(base + "/predict", body)
                self.assertEqual(status, 400)
                self.assertIn(message, answer["error"]["message"])
            self.assertEqual(ask(base + "/other", {})[0], 404)

            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 0)

    def test_takes_the_newest_checkpoint_of_a_folder_and_names_a_bad_model(self):
        self.train("run")
        folder = self.folder / "run/checkpoint"
        with server(HERE / "inference/serve.py", str(folder), PORT="0", HOST="127.0.0.1") as process:
            self.assertIn(str(self.checkpoints("run")[-1]), wait_for_line(process, "serving"))
        status, _, errors = run(HERE / "inference/serve.py", str(HERE / "README.md"), PORT="0", HOST="127.0.0.1")
        self.assertEqual(status, 1)
        self.assertIn("not a checkpoint", errors)


class Batch(InTemporaryFolder):
    def test_parts_of_two_tasks_add_up_to_the_whole(self):
        script, merged = HERE / "batch/pixel_stats.py", []
        for size in (1, 2):
            output = self.folder / str(size)
            for index in range(size):
                status, _, errors = run(script, CRATER_TASK_INDEX=str(index), WORLD_SIZE=str(size),
                                        CRATER_OUTPUT_PATH=str(output))
                self.assertEqual(status, 0, errors)
            merged.append(run(script, "--merge", str(output)))
        self.assertEqual(merged[0], merged[1])
        self.assertIn("Sneaker,6000,", merged[0][1])

    def test_a_missing_part_is_noticed(self):
        run(HERE / "batch/pixel_stats.py", CRATER_TASK_INDEX="1", WORLD_SIZE="2", CRATER_OUTPUT_PATH=str(self.folder))
        self.assertEqual(run(HERE / "batch/pixel_stats.py", "--merge", str(self.folder))[0], 1)


class Documents(unittest.TestCase):
    def test_alldata_documents_are_json_and_name_scripts_that_exist(self):
        documents = sorted(HERE.glob("*/alldata*.json"))
        self.assertEqual(len(documents), 4)
        for path in documents:
            with self.subTest(path=path):
                script = json.loads(path.read_text())["command"][1]
                prefix = "/opt/crater/examples/"
                self.assertTrue(script.startswith(prefix))
                self.assertTrue((HERE / script[len(prefix):]).is_file())


class AllData(InTemporaryFolder):
    BASIC = "Basic " + base64.b64encode(b"crater:geheim").decode()
    TOKEN = "Bearer read-only"

    @contextlib.contextmanager
    def alldata(self, *arguments):
        with server(ALLDATA, "--port", "0", "--username", "crater", "--password", "geheim", "--token", "read-only",
                    "--record", str(self.folder / "record.jsonl"), *arguments) as process:
            self.base = f"http://127.0.0.1:{json.loads(process.stdout.readline())['port']}"
            yield process

    def call_back(self, task, status, sequence, authorization=BASIC):
        body = {"task_id": task, "status": status, "sequence": sequence}
        return ask(self.base + "/api/v1/crater/callback", body, authorization)[0]

    def order(self):
        return ask(self.base + "/order")[1]

    def test_wrong_password_is_refused_and_not_counted(self):
        with self.alldata():
            wrong = "Basic " + base64.b64encode(b"crater:other").decode()
            for authorization in (wrong, self.TOKEN, None, "Basic ???"):
                self.assertEqual(self.call_back("a", "queued", 1, authorization), 401)
            self.assertEqual(ask(self.base + "/received")[1], {"received": []})

    def test_judges_order_per_task_and_lets_duplicates_pass(self):
        with self.alldata():
            for task, status, sequence in (("good", "queued", 1), ("bad", "running", 4), ("good", "scheduled", 2),
                                           ("good", "scheduled", 2), ("bad", "queued", 1), ("good", "running", 3)):
                self.assertEqual(self.call_back(task, status, sequence), 200)
            order = self.order()
            self.assertFalse(order["ok"])
            good, bad = order["tasks"]["good"], order["tasks"]["bad"]
            self.assertTrue(good["ok"])
            self.assertEqual((good["duplicates"], good["statuses"]), ([2], ["queued", "scheduled", "running"]))
            self.assertEqual((bad["ok"], bad["late"], bad["missing"]), (False, [1], [2, 3]))
            self.call_back("good", "failed", 3)  # another event under a used number
            self.assertEqual(self.order()["tasks"]["good"]["conflicts"], [3])

    def test_fails_on_order_and_records_every_attempt(self):
        with self.alldata("--fail-first", "2"):
            answers = [self.call_back("a", "queued", 1) for _ in range(3)]
            self.assertEqual(answers, [500, 500, 200])
            ask(self.base + "/control", {"fail_every": 2})
            self.assertEqual([self.call_back("a", "running", 2) for _ in range(2)], [200, 500])
            self.assertTrue(self.order()["ok"])
            lines = [json.loads(line) for line in (self.folder / "record.jsonl").read_text().splitlines()]
            self.assertEqual([line["answered"] for line in lines], [500, 500, 200, 200, 500])
            self.assertEqual(lines, ask(self.base + "/received")[1]["received"])
            self.assertEqual(ask(self.base + "/control", {"fail_fist": 1})[0], 400)

    def test_malformed_callback_is_answered_400(self):
        with self.alldata():
            self.assertEqual(self.call_back("a", "flying", 1), 400)
            self.assertEqual(self.call_back("a", "queued", "1"), 400)
            self.assertEqual(ask(self.base + "/api/v1/crater/callback", b"{", self.BASIC)[0], 400)
            self.assertEqual(self.order(), {"ok": True, "tasks": {}})

    def test_queue_is_read_with_the_token_only_and_never_written_with_it(self):
        with self.alldata():
            documents = [{"task_id": name} for name in "abc"]
            self.assertEqual(ask(self.base + "/control", {"enqueue": documents})[1]["queued"], 3)
            self.assertEqual(ask(self.base + "/api/v1/tasks")[0], 401)
            status, page = ask(self.base + "/api/v1/tasks?pageNum=2&pageSize=2", authorization=self.TOKEN)
            self.assertEqual((status, page["success"]), (200, True))
            self.assertEqual(page["data"], {"pageNum": 2, "pageSize": 2, "total": 3, "data": [{"task_id": "c"}]})
            self.assertEqual(ask(self.base + "/api/v1/tasks", documents[0], self.TOKEN)[0], 403)
            self.assertEqual(ask(self.base + "/control", {"dequeue": ["a", "b"]})[1]["queued"], 1)

    def test_sigterm_ends_it_at_once(self):
        with self.alldata("--delay", "600") as process:
            ask(self.base + "/received")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 0)


if __name__ == "__main__":
    unittest.main()
