"""CPU time that processes took, and how long it alone keeps the cores of this machine busy: no run can take less."""
import os

TICK = os.sysconf("SC_CLK_TCK")


def taken(pid):
    """(user, system) seconds of a process that still runs, all its threads together."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return int(fields[11]) / TICK, int(fields[12]) / TICK


class Meter:
    """CPU time of named processes from now on."""

    def __init__(self, **pids):
        self.pids = pids
        self.before = {name: taken(pid) for name, pid in pids.items()}

    def read(self):
        return {name: tuple(round(now - then, 2) for now, then in zip(taken(pid), self.before[name])) for name, pid in self.pids.items()}


def cores():
    return len(os.sched_getaffinity(0))


def bound(read):
    """Seconds that what was read takes at least, were it spread evenly over the cores."""
    return sum(user + system for user, system in read.values()) / cores()
