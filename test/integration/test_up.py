"""`crater up` and `crater doctor` on good and bad machines."""
import os
import signal
import socket
import subprocess
import tempfile
import unittest

from base import BIN
from crater import Api, Process, until, wait_nodes

CRATER = os.path.join(BIN, "crater")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Up(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="crater-up-")
        os.chmod(self.folder.name, 0o755)
        self.data = os.path.join(self.folder.name, "data")
        self.listen = f"127.0.0.1:{free_port()}"
        self.up = None

    def tearDown(self):
        if self.up:
            self.up.stop()
        self.folder.cleanup()

    def start(self):
        self.up = Process([CRATER, "up", "--data", self.data, "--listen", self.listen], os.path.join(self.folder.name, "up.log"))
        until(lambda: "Ctrl-C" in self.up.log() or self.up.popen.poll() is not None, 60, "crater up")
        self.assertIsNone(self.up.popen.poll(), self.up.log())
        return Api(f"http://{self.listen}", open(os.path.join(self.data, "admin.token")).read().strip())

    def test_it_serves_refuses_a_second_one_and_stops_cleanly(self):
        api = self.start()
        wait_nodes(api, 1)
        self.assertEqual(os.stat(os.path.join(self.data, "admin.token")).st_mode & 0o777, 0o600)
        second = subprocess.run([CRATER, "up", "--data", self.data, "--listen", f"127.0.0.1:{free_port()}"], capture_output=True, text=True, timeout=60)
        self.assertEqual(second.returncode, 4)
        self.assertIn("in use", second.stderr)
        self.assertEqual(self.up.stop(), 0)

    def test_a_killed_scheduler_is_started_again(self):
        api = self.start()
        wait_nodes(api, 1)
        pid = next(int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if self.command(pid).startswith(os.path.join(BIN, "crater-scheduler")) and self.data in self.command(pid))
        os.kill(pid, signal.SIGKILL)
        until(lambda: self.answers(api), 30, "the scheduler to come back")

    def test_sighup_is_passed_on(self):
        if os.isatty(0):
            self.skipTest("on a terminal it means that the terminal is gone")
        api = self.start()
        wait_nodes(api, 1)
        self.up.popen.send_signal(signal.SIGHUP)
        for name in ("scheduler", "agent"):
            def said(log=os.path.join(self.data, "logs", name + ".log")):
                with open(log, errors="replace") as file:
                    return "was read again" in file.read()
            until(said, 30, f"the {name} to read its configuration again")
        self.assertIsNone(self.up.popen.poll())
        self.assertTrue(self.answers(api))

    @staticmethod
    def command(pid):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                return file.read()
        except OSError:
            return ""

    @staticmethod
    def answers(api):
        try:
            return api.raw("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def test_a_taken_port_is_told_in_words(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            done = subprocess.run([CRATER, "up", "--data", self.data, "--listen", f"127.0.0.1:{port}"], capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(str(port), done.stderr)
            doctor = subprocess.run([CRATER, "doctor", "--data", self.data, "--listen", f"127.0.0.1:{port}"], capture_output=True, text=True, timeout=60)
            self.assertEqual(doctor.returncode, 1)
            self.assertIn("is taken", doctor.stdout)

    @unittest.skipUnless(os.geteuid() == 0, "mounting needs root")
    def test_doctor_sees_a_full_disk(self):
        mount = os.path.join(self.folder.name, "small")
        os.makedirs(mount)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount]).returncode != 0:
            self.skipTest("cannot mount here")
        try:
            done = subprocess.run([CRATER, "doctor", "--data", os.path.join(mount, "data"), "--listen", self.listen], capture_output=True, text=True, timeout=60)
        finally:
            subprocess.run(["umount", mount])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"PROBLEM +disk: only .* free")

    @unittest.skipUnless(os.geteuid() == 0, "hiding the control groups needs root")
    def test_doctor_without_cgroup_access_and_without_gpu(self):
        hidden = "mount -t tmpfs -o ro tmpfs /sys/fs/cgroup && exec " + " ".join([CRATER, "doctor", "--data", self.data, "--listen", self.listen])
        done = subprocess.run(["unshare", "-m", "sh", "-c", hidden], capture_output=True, text=True, timeout=60)
        self.assertRegex(done.stdout, r"PROBLEM +cgroup: .* -> ")
        self.assertRegex(done.stdout, r"(note|ok) +gpu: ")
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
