#!/usr/bin/python3
"""Crater at work on this machine, for people to watch: real jobs through AllData's interface, a preemption, a resume, callbacks, simulated GPUs.

Every step prints what it did and what came of it; the last line is `demo: N passed, M failed`, and the exit status is 0 only if all passed.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from crater import TOP, Api, Process, alldata, until, wait_nodes  # noqa: E402

results = []


def say(text=""):
    print(text, flush=True)


class step:
    """One thing shown. An exception fails it; the demo goes on where it can."""

    def __init__(self, title, fatal=False):
        self.title, self.fatal = title, fatal

    def __enter__(self):
        say(f"\n== {self.title}")
        self.begin = time.monotonic()
        return self

    def __exit__(self, kind, error, trace):
        ok = kind is None
        results.append((self.title, ok))
        say(f"   {'passed' if ok else 'FAILED'} in {time.monotonic() - self.begin:.1f} s" + ("" if ok else f": {error}"))
        if not ok and os.environ.get("CRATER_DEMO_TRACE"):
            traceback.print_exception(kind, error, trace)
        return not ok and not self.fatal and kind is not KeyboardInterrupt


def show(text, lines=12):
    for line in text.strip().splitlines()[-lines:]:
        say("   | " + line)


class Demo:
    def __init__(self, bin_dir, folder):
        self.bin, self.folder = bin_dir, folder
        self.data = os.path.join(folder, "data")
        self.up = self.alldata = None

    # ---- programs
    def crater(self, *words, check=True):
        """The CLI, as a person would type it."""
        command = [os.path.join(self.bin, "crater"), *words]
        say("   $ crater " + " ".join(words))
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ, CRATER_SERVER=self.url, CRATER_TOKEN=self.token))
        show(done.stdout + done.stderr, 16)
        if check and done.returncode != 0:
            raise RuntimeError(f"exit status {done.returncode}")
        return done

    def start(self):
        self.alldata, port = alldata(self.folder, username="crater", password="demo-password", record=os.path.join(self.folder, "callbacks.jsonl"), fail_first=2)
        self.stand_in = Api(f"http://127.0.0.1:{port}")
        password = os.path.join(self.folder, "callback.password")
        with open(password, "w") as file:
            file.write("demo-password\n")
        config = os.path.join(self.folder, "scheduler.yaml")
        with open(config, "w") as file:
            # This machine is small and shows itself at work: its live use shall not hold jobs back.
            file.write("scheduling: {cpu_threshold: 1, memory_threshold: 1}\n"
                       f"alldata:\n  api_url: http://127.0.0.1:{port}/api/v1\n  callback: {{username: crater, password_file: {password}}}\n")
        self.up = Process([os.path.join(self.bin, "crater"), "up", "--data", self.data, "--listen", f"127.0.0.1:{free_port()}", "--config", config],
                          os.path.join(self.folder, "up.log"))

        def ready():
            if self.up.popen.poll() is not None:
                raise RuntimeError("crater up ended: " + self.up.log())
            return "Ctrl-C" in self.up.log()
        until(ready, 60, "crater up")
        self.url = re.search(r"(http://[\d.:]+)/api/v1", self.up.log()).group(1)
        self.token = open(os.path.join(self.data, "admin.token")).read().strip()
        self.api = Api(self.url, self.token)
        show(re.sub(r"#token=\S+", "#token=...", self.up.log()))

    def stop(self):
        if self.alldata:
            self.alldata.stop()
        if self.up and self.up.popen.poll() is None:
            self.up.stop(90)

    # ---- documents
    def document(self, path, **changes):
        """An example document with the checkout's path filled in and some keys changed."""
        with open(os.path.join(TOP, "examples", path)) as file:
            document = json.loads(file.read().replace("/opt/crater", TOP))
        for key, value in changes.items():
            if isinstance(value, dict) and isinstance(document.get(key), dict):
                document[key] = {**document[key], **value}
            else:
                document[key] = value
        return document

    def callbacks(self, task_id):
        """The statuses that AllData was told and took, in order."""
        rows = self.stand_in.get("/received")["received"]
        return [row["body"]["status"] for row in rows if row["answered"] == 200 and row["body"]["task_id"] == task_id]


def free_port():
    import socket
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def machine_share(api):
    """Cores and memory of this machine that make two of the demo's jobs exclude each other."""
    node = wait_nodes(api, 1)[0]
    cores = node["resources"]["cpu"]["total"]
    return node["name"], max(1, min(int(cores), int(cores) // 2 + 1))


def first_model(demo):
    """A short training through the CLI leaves the model that the service will load."""
    model = os.path.join(demo.folder, "model")
    os.makedirs(model, exist_ok=True)
    os.chmod(model, 0o777)
    job_file = os.path.join(demo.folder, "first.yaml")
    with open(job_file, "w") as file:
        file.write(f"""name: first-model
type: training
resources: {{cpu: {{cores: 1}}, memory: {{size: 600Mi}}}}
command: [/usr/bin/python3, {TOP}/examples/training/train.py]
working_dir: {TOP}/examples
env: {{EPOCHS: "1", LIMIT: "12000"}}
mounts: [{{source: {model}, target: {model}}}]
output: {model}
""")
    demo.crater("job", "submit", "--file", job_file, "--wait")
    if not any(name.startswith("model") for name in os.listdir(model)):
        raise RuntimeError(f"no model in {model}: {os.listdir(model)}")
    say(f"   left {', '.join(os.listdir(model))} in its output folder")
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default=os.path.join(TOP, "build/bin"))
    parser.add_argument("--keep", action="store_true", help="leave the data folder")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="crater-demo-")
    os.chmod(folder, 0o755)
    demo = Demo(options.bin, folder)
    train, serve = "train-fashion-001", "serve-fashion-001"
    try:
        with step("Start scheduler and agent on this machine, with an AllData stand-in that fails the first two callbacks", fatal=True):
            demo.start()
            say("   the first line of each check of this machine:")
            demo.crater("doctor", "--data", demo.data, "--listen", f"127.0.0.1:{free_port()}", check=False)
        with step("This machine joined the pool", fatal=True):
            node, cores = machine_share(demo.api)
            demo.crater("node", "list")
        model = None
        with step("A short training job by the CLI leaves a first model"):
            model = first_model(demo)

        with step("AllData submits a training job (POST /api/v1/schedule), preemptible"):
            document = demo.document("training/alldata.json", task_id=train, env={"EPOCHS": "3", "LIMIT": "20000", "PACE": "0.02"},
                                     resource_requirements={"cpu": {"cores": cores}}, grace_period="20s")
            answer = demo.api.post("/api/v1/schedule", document)
            say(f"   answered {json.dumps(answer)}")
            again = demo.api.post("/api/v1/schedule", document)
            assert again["task_id"] == train, again
            demo.api.wait_state(train, "Running", 60)
            until(lambda: re.search(r"epoch \d+ step \d+", demo.api.log(train)), 60, "the first training steps")
            show(demo.api.log(train), 4)
        with step("AllData submits an inference service of higher priority: the training gives way with a checkpoint"):
            document = demo.document("inference/alldata.json", task_id=serve, priority="high",
                                     env={"MODEL_PATH": "/model", "PORT": str(free_port())}, mounts=[{"source": model, "target": "/model", "read_only": True}])
            port = int(document["env"]["PORT"])
            resources = document.setdefault("resource_requirements" if "resource_requirements" in document else "resources", {})
            resources["cpu"] = {"cores": cores}
            demo.api.post("/api/v1/schedule", document)
            demo.api.wait_state(serve, "Running", 90)
            service = Api(f"http://127.0.0.1:{port}")
            until(lambda: answers(service), 60, "the service to load its model")
            prediction = service.post("/predict", {"inputs": [[0.0] * 784]})
            say(f"   the service predicts: {json.dumps(prediction)[:120]}")
            job = demo.api.job(train)
            assert job["state"] in ("Pending", "Preempted"), job
            assert job["preemptions"] == 1, job
            demo.crater("job", "why", train)
            demo.crater("job", "list")
        with step("AllData releases the service; the training resumes from its checkpoint and finishes"):
            demo.api.post(f"/api/v1/tasks/{serve}/release", {"reason": "demo"})
            demo.api.wait_state(serve, "Cancelled", 60)
            demo.api.wait_state(train, "Finished", 180)
            log = demo.api.log(train)
            resumed = re.search(r"resumed from .*", log)
            assert resumed, "the log shows no resume: " + log[-500:]
            say("   " + resumed.group(0))
            show(log, 3)
            demo.crater("job", "describe", train)
        with step("Every status change was called back, in order, though the receiver failed at first"):
            wanted = ["queued", "scheduled", "preparing", "running", "preempted", "finished"]
            until(lambda: "finished" in demo.callbacks(train), 60, lambda: f"callbacks of {train}: {demo.callbacks(train)}")
            statuses = demo.callbacks(train)
            say(f"   {train}: {' '.join(statuses)}")
            missing = [status for status in wanted if status not in statuses]
            assert not missing, f"never called back: {missing}"
            order = demo.stand_in.get("/order")
            say(f"   the stand-in's own check of order and gaps: {'ok' if order['ok'] else order}")
            assert_in_order(order, (train, serve))

        with step("Simulated servers join: 3 x 4 A100 and 1 x 8 H100 (simulated)"):
            demo.simulated = Process([os.path.join(demo.bin, "crater-agent"), "--scheduler", demo.url, "--token-file", os.path.join(demo.data, "join.token"),
                                      "--data", os.path.join(demo.folder, "simulated"), "--nodes", os.path.join(TOP, "examples/nodes/small.yaml")],
                                     os.path.join(folder, "simulated.log"))
            wait_nodes(demo.api, 5)
            demo.crater("cluster", "info")
        with step("Four services of 10 GiB share simulated cards; a gang of 2 x 4 cards starts whole or not at all"):
            shared = [submit(demo, {"name": f"share-{i}", "type": "inference", "command": ["true"], "duration": "4s",
                                    "resources": {"gpu": {"count": 1, "memory": "10Gi", "model": "a100"}}}) for i in range(4)]
            gang = submit(demo, {"name": "gang", "type": "training", "tasks": 2, "command": ["true"], "duration": "3s",
                                 "resources": {"gpu": {"count": 4, "model": "a100"}}})
            demo.api.wait_state(gang, ["Running", "Finished"], 30)
            demo.crater("job", "list", "--limit", "6")
            for job in shared + [gang]:
                demo.api.wait_state(job, "Finished", 60)
        with step("A job that must wait says what is missing, where, and who holds it; one that can never start is refused"):
            holders = [submit(demo, {"name": f"holder-{i}", "type": "batch", "command": ["true"], "duration": "1h", "node": {"labels": {"zone": "zone-a"}},
                                     "resources": {"gpu": {"count": 1, "memory": "30Gi", "model": "a100"}}}) for i in range(12)]
            for job in holders:
                demo.api.wait_state(job, "Running", 30)
            waiting = submit(demo, {"name": "waits", "type": "batch", "command": ["true"], "resources": {"gpu": {"count": 1, "memory": "16Gi", "model": "a100"}}})
            why = demo.crater("job", "why", waiting).stdout
            assert "holder" in why or "GiB" in why, why
            refused = demo.crater("job", "submit", "--name", "never", "--gpu", "1", "--gpu-memory", "200Gi", "--command", "true", check=False)
            assert refused.returncode == 4, refused
            demo.crater("job", "evict", "--all", "--priority", "1000", "--reason", "end of the demo")
        with step("The console and the description of the API are served"):
            status, _, page = demo.api.raw("GET", "/", token="")
            assert status == 200 and b"<script" in page, (status, page[:200])
            document = demo.api.get("/openapi.json")
            say(f"   {demo.url}/ answers; openapi.json describes {len(document['paths'])} paths")
        with step("Everything stops cleanly"):
            demo.simulated.stop()
            status = demo.up.stop(90)
            assert status == 0, f"exit status {status}: {demo.up.log()[-500:]}"
            left = until(lambda: not processes_of(demo.data) or None, 20, lambda: f"processes left: {processes_of(demo.data)}")
            assert left
    except (Exception, KeyboardInterrupt) as error:
        say(f"\nthe demo cannot go on: {error}")
        if demo.up:
            show(demo.up.log())
            logs = os.path.join(demo.data, "logs")
            for name in sorted(os.listdir(logs)) if os.path.isdir(logs) else []:
                say(f"   {name}:")
                show(open(os.path.join(logs, name), errors="replace").read(), 6)
    finally:
        demo.stop()
        if getattr(demo, "simulated", None):
            demo.simulated.stop()
        if options.keep:
            say(f"data folder kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    failed = sum(not ok for _, ok in results)
    say("\n" + "\n".join(f"{'passed' if ok else 'FAILED'}  {title}" for title, ok in results))
    complete = len(results) >= 11
    say(f"demo: {len(results) - failed} passed, {failed} failed")
    return 0 if failed == 0 and complete else 1


def submit(demo, job):
    return demo.api.post("/api/v1/jobs", job)["job"]["id"]


def answers(service):
    try:
        return service.raw("GET", "/healthz")[0] == 200
    except OSError:
        return False


def assert_in_order(order, tasks):
    for task in tasks:
        assert order["tasks"][task]["ok"], f"{task}: {order['tasks'][task]}"


def processes_of(data):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace")
            with open(f"/proc/{pid}/stat") as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if data in words and state != "Z" and int(pid) != os.getpid():
            found.append((int(pid), words.replace("\0", " ")[:80]))
    return found


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
