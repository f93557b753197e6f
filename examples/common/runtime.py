"""What every example needs before its own work starts: numpy held to the cores of the task, and a polite stop."""

import os
import signal
import sys
import time

MISSING = 2  # exit status: something must be installed or given first


def fail(message, status=MISSING):
    print(message, file=sys.stderr, flush=True)
    sys.exit(status)


def say(message):
    # Flushed, because a task's standard output is a file or a pipe and people follow it live.
    print(message, flush=True)


def core_count():
    """Whole cores this task was given; 1 when nobody said."""
    try:
        return max(1, int(float(os.environ.get("CRATER_CPU_CORES", "1"))))
    except ValueError:
        return 1


def numpy():
    """Imports numpy. The thread limits only count when they are set before its first import."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
        os.environ[name] = str(core_count())
    try:
        import numpy as module
    except ImportError:
        fail("numpy is not installed: apt-get install python3-numpy (and run with /usr/bin/python3)")
    return module


class StopFlag:
    """True once SIGTERM came. The handler only sets it: whoever works decides where stopping is safe."""

    def __init__(self):
        self._stopped = False
        signal.signal(signal.SIGTERM, self._on_signal)

    def _on_signal(self, _number, _frame):
        self._stopped = True

    def __bool__(self):
        return self._stopped

    def sleep(self, seconds):
        """Sleeps, but not through a stop (time.sleep alone goes on after a handled signal)."""
        deadline = time.monotonic() + seconds
        while not self._stopped and (rest := deadline - time.monotonic()) > 0:
            time.sleep(min(rest, 0.05))
