#!/usr/bin/python3
"""Stands in for the AllData platform in tests and demonstrations; Python's standard library only.

Listens on 127.0.0.1. The first line on standard output is {"port": N}. SIGTERM ends it at once.

POST /api/v1/crater/callback   Crater's task events; HTTP Basic. 200, or the failure that was ordered.
GET  /api/v1/tasks             The queue Crater polls; read-only bearer token; ?pageNum=1&pageSize=100. Documents stay
                               listed until they are dequeued, so whoever polls must be idempotent by task_id.
GET  /received                 {"received": [...]} every callback in order of arrival, refused ones too:
                               {received_at (RFC 3339), received_ms, answered (HTTP status), body, reason?}
GET  /order                    {"ok", "tasks": {task_id: {...}}}, judged over the callbacks answered with 200:
                               ok, in_order, missing, late, conflicts, duplicates, sequences, statuses.
                               A repeated event is a duplicate, as at-least-once delivery allows, and no error.
POST /control                  {"fail_first": N, "fail_every": N, "fail_status": 503, "delay": SECONDS,
                               "enqueue": [documents], "dequeue": [task ids] or "all", "reset": true}
GET  /control                  The present settings.

/received, /order and /control need no password: they belong to the test, and only this machine reaches them.
"""

import argparse
import base64
import binascii
import datetime
import hmac
import json
import os
import signal
import socketserver
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

CALLBACK, TASKS = "/api/v1/crater/callback", "/api/v1/tasks"
STATUSES = ("queued", "scheduled", "preparing", "running", "preempted", "finished",
            "failed", "cancelled", "evicted", "lost", "rejected")
MAX_BODY = 16 << 20


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Failures:
    """What goes wrong on order. `fail_first` counts down; `fail_every` 3 lets the 3rd, 6th ... fail."""

    def __init__(self, fail_first=0, fail_every=0, delay=0.0, fail_status=500):
        self.settings = {"fail_first": fail_first, "fail_every": fail_every,
                         "delay": delay, "fail_status": fail_status}
        self._seen = 0

    def check(self, changes):
        for name, value in changes.items():
            number = (int, float) if name == "delay" else int
            if isinstance(value, bool) or not isinstance(value, number) or value < 0:
                raise Refused(400, f"{name}: a number not below 0 is expected")

    def change(self, changes):
        self.settings.update(changes)
        if "fail_every" in changes:
            self._seen = 0

    def next_fails(self):
        self._seen += 1
        if self.settings["fail_first"] > 0:
            self.settings["fail_first"] -= 1
            return True
        return self.settings["fail_every"] > 0 and self._seen % self.settings["fail_every"] == 0


class Platform:
    """All state, behind one lock; each request has its own thread."""

    def __init__(self, failures, record=None):
        self._lock = threading.Lock()
        self._failures = failures
        self._record = open(record, "a", encoding="utf-8") if record else None
        self._received = []
        self._queue = {}  # task_id -> document, in order of arrival

    def callback(self, raw):
        """Records one callback; (status to answer, reason, seconds to wait before the answer)."""
        arrived = datetime.datetime.now(datetime.timezone.utc)
        body, reason = parse_callback(raw)
        with self._lock:
            status = 400 if reason else 200
            if self._failures.next_fails():
                status, reason = self._failures.settings["fail_status"], "failure on order"
            entry = {"received_at": arrived.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                     "received_ms": int(arrived.timestamp() * 1000), "answered": status, "body": body}
            if reason:
                entry["reason"] = reason
            self._received.append(entry)
            if self._record:
                self._record.write(json.dumps(entry, ensure_ascii=False) + "\n")
                self._record.flush()
            return status, reason, self._failures.settings["delay"]

    def received(self):
        with self._lock:
            return {"received": list(self._received)}

    def order(self):
        tasks = {}
        for entry in self.received()["received"]:
            if entry["answered"] == 200:
                tasks.setdefault(entry["body"]["task_id"], []).append(entry["body"])
        judged = {task: judge_order(bodies) for task, bodies in tasks.items()}
        return {"ok": all(task["ok"] for task in judged.values()), "tasks": judged}

    def tasks(self, page, size):
        with self._lock:
            documents = list(self._queue.values())
        return {"pageNum": page, "pageSize": size, "total": len(documents),
                "data": documents[(page - 1) * size:page * size]}

    def control(self, order):
        """Checks all of an order before it does any of it."""
        with self._lock:
            known = set(self._failures.settings) | {"enqueue", "dequeue", "reset"}
            if unknown := set(order) - known:
                raise Refused(400, f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(sorted(known))}")
            documents = check_documents(order.get("enqueue", []))
            leaving = check_dequeue(order.get("dequeue", []))
            changes = {name: order[name] for name in order.keys() & self._failures.settings.keys()}
            self._failures.check(changes)
            self._failures.change(changes)
            if order.get("reset"):
                self._received.clear()
                self._queue.clear()
            for task in list(self._queue) if leaving == "all" else leaving:
                self._queue.pop(task, None)
            for document in documents:
                self._queue[document["task_id"]] = document
            return {**self._failures.settings, "queued": len(self._queue)}


def parse_callback(raw):
    """(body, None) or (whatever came, why it is no callback)."""
    try:
        body = json.loads(raw)
    except ValueError:
        return raw.decode("utf-8", "replace"), "the body is not JSON"
    if not isinstance(body, dict):
        return body, "a JSON object is expected"
    if not isinstance(body.get("task_id"), str) or not body["task_id"]:
        return body, "task_id: a text is expected"
    if body.get("status") not in STATUSES:
        return body, f"status: one of {', '.join(STATUSES)} is expected"
    if type(body.get("sequence")) is not int or body["sequence"] < 0:
        return body, "sequence: a whole number is expected"
    if not isinstance(body.get("allocated_resources", {}), (dict, type(None))):
        return body, "allocated_resources: an object is expected"
    return body, None


def check_documents(documents):
    if not isinstance(documents, list):
        raise Refused(400, "enqueue: a list of documents is expected")
    for document in documents:
        if not isinstance(document, dict) or not isinstance(document.get("task_id"), str):
            raise Refused(400, "enqueue: each document is an object with a task_id")
    return documents


def check_dequeue(which):
    if which != "all" and not (isinstance(which, list) and all(isinstance(task, str) for task in which)):
        raise Refused(400, 'dequeue: a list of task ids, or "all", is expected')
    return which


def judge_order(bodies):
    """Were one task's events delivered in order and without a gap? The first one sets where counting starts."""
    first_with, sequences, duplicates, conflicts, late = {}, [], [], [], []
    for body in bodies:
        number = body["sequence"]
        if number in first_with:
            (duplicates if first_with[number] == body else conflicts).append(number)
            continue
        if sequences and number < max(sequences):
            late.append(number)
        first_with[number] = body
        sequences.append(number)
    missing = sorted(set(range(min(sequences), max(sequences) + 1)) - set(sequences))
    return {"ok": not (late or missing or conflicts), "in_order": not late, "missing": missing, "late": late,
            "conflicts": conflicts, "duplicates": duplicates, "sequences": sequences,
            "statuses": [first_with[number]["status"] for number in sequences]}


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def __init__(self, port, platform, options):
        super().__init__(("127.0.0.1", port), Handler)
        self.platform = platform
        self.basic = f"{options.username}:{options.password}".encode()
        self.token = options.token.encode()

    def server_bind(self):
        # Past HTTPServer's own, which looks up our name and may wait long for a name server.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.serve({TASKS: self.get_tasks, "/received": self.server.platform.received,
                    "/order": self.server.platform.order, "/control": lambda: self.server.platform.control({})})

    def do_POST(self):
        self.serve({CALLBACK: self.post_callback, "/control": self.post_control, TASKS: self.refuse_write})

    def do_DELETE(self):
        self.serve({TASKS: self.refuse_write})

    do_PUT = do_PATCH = do_DELETE

    def serve(self, routes):
        url = urlsplit(self.path)
        self.query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        try:
            self.body = self.read_body()  # also for a refused request, else the connection is out of step
            if url.path not in routes:
                raise Refused(404, f"no such path: {self.command} {url.path}")
            self.answer(200, routes[url.path]())
        except Refused as refusal:
            self.answer(refusal.status, envelope(None, refusal.status, str(refusal)))

    def read_body(self):
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            raise Refused(411, f"a Content-Length up to {MAX_BODY} is needed")
        return self.rfile.read(int(length))

    def post_callback(self):
        self.need_basic()
        status, reason, delay = self.server.platform.callback(self.body)
        time.sleep(delay)
        if status != 200:
            raise Refused(status, reason)
        return envelope(None)

    def get_tasks(self):
        self.need_token()
        return envelope(self.server.platform.tasks(self.number("pageNum", 1), self.number("pageSize", 100)))

    def refuse_write(self):
        self.need_token()
        raise Refused(403, "this token may only read")

    def post_control(self):
        try:
            order = json.loads(self.body)
        except ValueError as error:
            raise Refused(400, f"the body is not JSON: {error}") from None
        if not isinstance(order, dict):
            raise Refused(400, "a JSON object is expected")
        return self.server.platform.control(order)

    def number(self, name, default):
        text = self.query.get(name, str(default))
        if not text.isdecimal() or int(text) < 1:
            raise Refused(400, f"{name}: a number from 1 is expected")
        return int(text)

    def need_basic(self):
        kind, _, encoded = self.headers.get("Authorization", "").partition(" ")
        try:
            given = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            given = b""
        if kind.lower() != "basic" or not hmac.compare_digest(given, self.server.basic):
            raise Refused(401, "wrong username or password")

    def need_token(self):
        kind, _, given = self.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer" or not hmac.compare_digest(given.encode(), self.server.token):
            raise Refused(401, "wrong token")

    def answer(self, status, value):
        body = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer" if self.path.startswith(TASKS) else 'Basic realm="alldata"')
        if self.close_connection:
            self.send_header("Connection", "close")
        try:
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # the other side gave up during the delay that was ordered
            self.close_connection = True

    def log_message(self, text, *values):
        print(text % values, file=sys.stderr, flush=True)


def envelope(data, code=200, message="ok"):
    return {"success": code == 200, "code": code, "msg": message, "data": data, "timestamp": int(time.time() * 1000)}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0 = any free one")
    parser.add_argument("--username", default="crater")
    parser.add_argument("--password", required=True)
    parser.add_argument("--token", required=True, help="read-only, for the queue")
    parser.add_argument("--record", metavar="FILE", help="append each callback as one line of JSON")
    parser.add_argument("--fail-first", type=int, default=0, metavar="N", help="answer 500 to the first N callbacks")
    parser.add_argument("--fail-every", type=int, default=0, metavar="N", help="answer 500 to every Nth callback")
    parser.add_argument("--delay", type=float, default=0.0, metavar="SECONDS", help="before each callback's answer")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # at once, also amid an ordered delay
    options = parse_options()
    failures = Failures(options.fail_first, options.fail_every, options.delay)
    server = Server(options.port, Platform(failures, options.record), options)
    print(json.dumps({"port": server.server_port}), flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
