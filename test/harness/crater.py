"""Runs Crater's real programs for the demo and the integration tests. Standard library only."""
import base64
import http.client
import json
import os
import re
import signal
import subprocess
import time
import urllib.parse

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class ApiError(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status, self.body = status, body

    @property
    def error(self):
        return self.body.get("error", {}) if isinstance(self.body, dict) else {}


class Api:
    """A client of one scheduler. Answers are parsed JSON; a status of 400 or more raises ApiError."""

    def __init__(self, url, token=None, timeout=30):
        self.url, self.token, self.timeout = url.rstrip("/"), token, timeout

    def raw(self, method, path, body=None, headers=None, token=None):
        """(status, headers, body bytes) of one request; nothing raises but the transport."""
        parts = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=self.timeout)
        sent = dict(headers or {})
        token = self.token if token is None else token
        if token:
            sent["Authorization"] = "Bearer " + token
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        try:
            connection.request(method, parts.path + path, body, sent)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def call(self, method, path, body=None, **more):
        status, _, data = self.raw(method, path, body, **more)
        try:
            parsed = json.loads(data)
        except ValueError:
            parsed = data.decode(errors="replace")
        if status >= 400:
            raise ApiError(status, parsed)
        return parsed

    def get(self, path, **more):
        return self.call("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.call("POST", path, {} if body is None else body, **more)

    def job(self, job_id):
        return self.get(f"/api/v1/jobs/{job_id}")["job"]

    def jobs(self, **query):
        """All pages of the job list."""
        items, cursor = [], None
        while True:
            wanted = dict(query, limit=1000, **({"cursor": cursor} if cursor else {}))
            page = self.get("/api/v1/jobs?" + urllib.parse.urlencode(wanted))
            items += page["items"]
            cursor = page.get("next")
            if not cursor:
                return items

    def log(self, job_id, **query):
        status, _, data = self.raw("GET", f"/api/v1/jobs/{job_id}/logs?" + urllib.parse.urlencode(query))
        return data.decode(errors="replace") if status == 200 else ""

    def wait_state(self, job_id, states, timeout=60):
        states = [states] if isinstance(states, str) else states
        return until(lambda: (lambda job: job if job["state"] in states else None)(self.job(job_id)), timeout,
                     lambda: f"{job_id} is {self.job(job_id)['state']} ({self.job(job_id).get('detail', '')}), wanted {states}")


def until(condition, timeout=60, what="the condition", pause=0.05):
    """The first true answer of `condition`; raises TimeoutError with `what` (text or a function) at the deadline."""
    end = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError("timed out: " + (what() if callable(what) else what))
        time.sleep(pause)


def alive(pid):
    """Whether the process runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Process:
    """A child with its output in a file."""

    def __init__(self, command, log, env=None):
        self.command, self.log_path = command, log
        self.log_file = open(log, "ab")
        self.popen = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log_file, stderr=subprocess.STDOUT,
                                      env=dict(os.environ, **(env or {})))

    @property
    def pid(self):
        return self.popen.pid

    def log(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()

    def kill(self):
        self.popen.kill()
        self.popen.wait(30)
        self.log_file.close()

    def stop(self, timeout=60):
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGTERM)
        try:
            return self.popen.wait(timeout)
        finally:
            if self.popen.poll() is None:
                self.kill()
            self.log_file.close()


class Scheduler:
    """crater-scheduler on a port of the system's choice, which it keeps over restarts."""

    def __init__(self, bin_dir, data, config=None, env=None):
        self.bin, self.data, self.config, self.env = bin_dir, data, config, env or {}
        self.port, self.process = 0, None
        os.makedirs(data, exist_ok=True)
        for name in ("admin", "join"):
            path = os.path.join(data, name + ".token")
            if not os.path.exists(path):
                with open(path, "w") as file:
                    file.write(f"{name}-{os.urandom(12).hex()}\n")
                os.chmod(path, 0o600)
        with open(os.path.join(data, "admin.token")) as file:
            self.admin = file.read().strip()
        self.join_file = os.path.join(data, "join.token")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def api(self):
        return Api(self.url, self.admin)

    def start(self, env=None, wait=True):
        command = [os.path.join(self.bin, "crater-scheduler"), "--listen", f"127.0.0.1:{self.port}", "--store", os.path.join(self.data, "crater.db"),
                   "--admin-token-file", os.path.join(self.data, "admin.token"), "--join-token-file", self.join_file]
        if self.config:
            command += ["--config", self.config]
        seen = os.path.getsize(self.log_path) if os.path.exists(self.log_path) else 0
        self.process = Process(command, self.log_path, dict(self.env, **(env or {})))

        def listening():
            if self.process.popen.poll() is not None:
                raise RuntimeError(f"the scheduler ended with {self.process.popen.returncode}: {self.process.log()[-2000:]}")
            with open(self.log_path, errors="replace") as log:
                log.seek(seen)
                found = re.search(r'"msg":"listening".*?"port":"?(\d+)', log.read())
            return found and int(found.group(1))

        if wait:
            self.port = until(listening, 60, "the scheduler to listen")
        return self

    @property
    def log_path(self):
        return os.path.join(self.data, "scheduler.log")

    def kill(self):
        self.process.kill()

    def stop(self):
        return self.process.stop() if self.process else 0


class Agent:
    """crater-agent of this machine, or of simulated nodes."""

    def __init__(self, scheduler, data, nodes=None, name=None, extra=()):
        self.scheduler, self.data, self.nodes, self.name, self.extra = scheduler, data, nodes, name, list(extra)
        self.process = None
        os.makedirs(data, exist_ok=True)

    def start(self):
        command = [os.path.join(self.scheduler.bin, "crater-agent"), "--scheduler", self.scheduler.url, "--token-file", self.scheduler.join_file,
                   "--data", self.data] + self.extra
        if self.nodes:
            command += ["--nodes", self.nodes]
        if self.name:
            command += ["--node-name", self.name]
        self.process = Process(command, os.path.join(self.data, "agent.log"))
        return self

    def kill(self):
        self.process.kill()

    def stop(self):
        return self.process.stop() if self.process else 0


def wait_nodes(api, count, timeout=60):
    def up():
        page = api.get("/api/v1/nodes?limit=1000&state=up")
        return page["items"] if len(page["items"]) >= count else None
    return until(up, timeout, f"{count} nodes to be up")


def alldata(folder, **options):
    """The AllData stand-in; returns (process, port)."""
    log = os.path.join(folder, "alldata.log")
    command = ["/usr/bin/python3", os.path.join(TOP, "test/fakes/alldata/alldata.py"), "--port", "0"]
    for key, value in {"token": "read-only", **options}.items():
        command += ["--" + key.replace("_", "-"), str(value)]
    process = Process(command, log)
    port = until(lambda: (lambda found: found and int(found.group(1)))(re.search(r'"port": ?(\d+)', process.log())), 20, "the AllData stand-in")
    return process, port


def basic(username, password):
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
