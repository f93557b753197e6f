"""Checkpoint files: arrays and a description in one file that is whole or is not taken.

Layout: a line `MAGIC sha256 length`, then `length` bytes: one line of JSON, then the arrays' bytes in the JSON's
order. Equal content gives equal bytes, so two runs can be compared with `cmp`.
"""

import hashlib
import json
import os
from pathlib import Path

import numpy as np

MAGIC = "FASHION-CKPT-1"
SUFFIX = ".ckpt"


def save(path, arrays, description):
    """Writes beside `path` and renames: a reader sees the old file or the new one, also after a power loss."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    payload = _encode(arrays, description)
    header = f"{MAGIC} {hashlib.sha256(payload).hexdigest()} {len(payload)}\n".encode()
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(header)
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)  # the rename itself must last, too


def load(path):
    """(arrays, description); ValueError says why the file is not a whole checkpoint."""
    with open(path, "rb") as file:
        header = file.readline(200).decode("ascii", "replace").split()
        payload = file.read()
    if len(header) != 3 or header[0] != MAGIC:
        raise ValueError("not a checkpoint of this example")
    if str(len(payload)) != header[2]:
        raise ValueError(f"torn: {len(payload)} bytes of {header[2]}")
    if hashlib.sha256(payload).hexdigest() != header[1]:
        raise ValueError("damaged: the checksum differs")
    return _decode(payload)


def newest(folder, report, accept=lambda description: None):
    """(path, arrays, description) of the furthest whole checkpoint in `folder`, or None.

    `accept` returns why a description does not fit, or None. `report(path, reason)` hears of each one left aside.
    """
    best = None
    for path in sorted(Path(folder).glob(f"*{SUFFIX}")):
        found = load_if_whole(path, report, accept)
        # On a tie the later name: the end of an epoch is one step of work further than its last step.
        if found and (best is None or found[2].get("total_steps", 0) >= best[2].get("total_steps", 0)):
            best = found
    return best


def load_if_whole(path, report, accept=lambda description: None):
    try:
        arrays, description = load(path)
    except (OSError, ValueError) as error:
        report(path, error)
        return None
    if (reason := accept(description)) is not None:
        report(path, reason)
        return None
    return Path(path), arrays, description


def _encode(arrays, description):
    names = sorted(arrays)
    table = [[name, arrays[name].dtype.str, list(arrays[name].shape)] for name in names]
    head = json.dumps({"arrays": table, "description": description}, sort_keys=True).encode() + b"\n"
    return head + b"".join(arrays[name].tobytes() for name in names)


def _decode(payload):
    head, _, body = payload.partition(b"\n")
    head = json.loads(head)
    arrays, at = {}, 0
    for name, kind, shape in head["arrays"]:
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(body, dtype=kind, count=count, offset=at).reshape(shape).copy()
        at += arrays[name].nbytes
    return arrays, head["description"]


def _sync_folder(folder):
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
