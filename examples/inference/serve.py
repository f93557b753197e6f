#!/usr/bin/python3
"""Serves a model trained by ../training/train.py.

GET  /healthz            200 once the model is loaded, 503 before
POST /predict            {"inputs": [[784 numbers 0..1], ...]} -> {"outputs": [{"class", "probability"}, ...]}

The model is MODEL_PATH or the argument: a model file, a checkpoint, or a folder of which the newest is taken.
PORT (8000; 0 = any free one, printed) and HOST (all addresses, since a gateway may be on another node) say where.
SIGTERM: no new connection, requests in progress are answered, exit 0.
"""

import json
import os
import socketserver
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))

import runtime  # noqa: E402
from runtime import say  # noqa: E402

stop = runtime.StopFlag()
np = runtime.numpy()

import checkpoint  # noqa: E402
import fashion_mnist  # noqa: E402
import model  # noqa: E402

MAX_BODY = 16 << 20
MAX_INPUTS = 1024
DRAIN_SECONDS = 10


class BadRequest(Exception):
    def __init__(self, message, status=400):
        super().__init__(message)
        self.status = status


def parse_inputs(body):
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body is not JSON: {error}") from None
    inputs = document.get("inputs") if isinstance(document, dict) else None
    if not isinstance(inputs, list) or not inputs:
        raise BadRequest("inputs: a list of images is expected")
    if len(inputs) > MAX_INPUTS:
        raise BadRequest(f"inputs: {len(inputs)} images, at most {MAX_INPUTS} are allowed")
    for index, image in enumerate(inputs):
        check_image(f"inputs[{index}]", image)
    return np.array(inputs, dtype=np.float32)


def check_image(field, image):
    if not isinstance(image, list) or len(image) != fashion_mnist.PIXELS:
        raise BadRequest(f"{field}: a list of {fashion_mnist.PIXELS} numbers is expected")
    # `type`, since a bool is an int to isinstance; the comparison also refuses NaN.
    if not all(type(pixel) in (int, float) and 0 <= pixel <= 1 for pixel in image):
        raise BadRequest(f"{field}: each pixel is a number from 0 to 1")


def predict(weights, images):
    _, probabilities = model.forward(weights, images)
    best = probabilities.argmax(axis=1)
    return [{"class": fashion_mnist.CLASSES[index], "probability": round(float(row[index]), 6)}
            for index, row in zip(best, probabilities)]


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True  # an idle kept-alive connection must not hold up the end

    def __init__(self, address):
        super().__init__(address, Handler)
        self.weights = None
        self._busy = 0
        self._changed = threading.Condition()

    def server_bind(self):
        # Past HTTPServer's own, which looks up our name and may wait long for a name server.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def busy(self, change):
        with self._changed:
            self._busy += change
            self._changed.notify_all()

    def wait_until_idle(self, seconds):
        with self._changed:
            return self._changed.wait_for(lambda: self._busy == 0, seconds)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60

    def do_GET(self):
        self.answered(self.health)

    def do_POST(self):
        self.answered(self.predict)

    def answered(self, work):
        self.server.busy(+1)
        try:
            status, answer = work()
        except BadRequest as error:
            status, answer = error.status, {"error": {"message": str(error)}}
            if status != 400:  # the body was left unread, so the connection cannot go on
                self.close_connection = True
        try:
            self.send_json(status, answer)
        finally:
            self.server.busy(-1)

    def health(self):
        if self.path != "/healthz":
            raise BadRequest(f"no such path: {self.path}", 404)
        return (200, {"status": "ok"}) if self.server.weights else (503, {"status": "loading"})

    def predict(self):
        if self.path != "/predict":
            raise BadRequest(f"no such path: {self.path}", 404)
        body = self.read_body()
        if not self.server.weights:
            return 503, {"error": {"message": "the model is still loading"}}
        return 200, {"outputs": predict(self.server.weights, parse_inputs(body))}

    def read_body(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise BadRequest("Content-Length is needed", 411)
        if int(length) > MAX_BODY:
            raise BadRequest(f"{length} bytes, at most {MAX_BODY} are allowed", 413)
        return self.rfile.read(int(length))

    def send_json(self, status, answer):
        body = json.dumps(answer).encode()
        self.close_connection = self.close_connection or bool(stop)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, text, *values):
        if getattr(self, "path", "") != "/healthz":  # asked every few seconds, tells nothing
            say(f"{self.address_string()} {text % values}")


def load_model(path):
    if os.path.isdir(path):
        found = checkpoint.newest(path, lambda file, reason: say(f"not taken: {file}: {reason}"))
        if not found:
            raise ValueError("no whole checkpoint in this folder")
        path, arrays, _ = found
    else:
        arrays, _ = checkpoint.load(path)
    return path, model.from_arrays(arrays)


def settings():
    path = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("MODEL_PATH")
    if not path:
        runtime.fail("which model? Give MODEL_PATH or an argument (train one with examples/training/train.py)")
    port = os.environ.get("PORT", "8000")
    if not port.isdecimal() or int(port) > 65535:
        runtime.fail(f"PORT: {port!r}, 0 to 65535 is expected")
    return path, os.environ.get("HOST", "0.0.0.0"), int(port)


def main():
    path, host, port = settings()
    try:
        server = Server((host, port))
    except OSError as error:
        runtime.fail(f"cannot listen on {host}:{port}: {error.strerror}", 1)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        chosen, server.weights = load_model(path)
    except (OSError, ValueError) as error:
        runtime.fail(f"cannot load {path}: {error}", 1)
    say(f"serving {chosen} on port {server.server_port}")
    while not stop:
        stop.sleep(60)
    server.shutdown()
    server.server_close()
    server.wait_until_idle(DRAIN_SECONDS)
    say("stopped")


if __name__ == "__main__":
    main()
