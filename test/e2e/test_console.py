"""The built console in a real browser against a real scheduler: each page in both languages, no console errors, nothing untranslated."""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../integration"))
from base import TOP, ClusterTest  # noqa: E402

DIST = os.path.join(TOP, "web/dist")


@unittest.skipUnless(os.path.exists(os.path.join(DIST, "index.html")) and shutil.which("chromium"), "needs the built console and chromium")
class Console(ClusterTest):
    simulated, gpus = 8, 4
    config = f"console_dir: {DIST}\n"

    def test_every_page_in_both_languages(self):
        for i in range(6):
            self.submit(name=f"service-{i}", type="inference", duration="1h", resources={"gpu": {"count": 1, "memory": "8Gi"}})
        for i in range(10):
            self.submit(name=f"training-{i}", type="training", duration="1h", resources={"gpu": {"count": 4}})
        pictures = os.path.join(self.folder, "pictures")
        done = subprocess.run(["node", os.path.join(TOP, "web/test/pages.mjs")], capture_output=True, text=True, timeout=250,
                              env=dict(os.environ, BASE_URL=self.scheduler.url, TOKEN=self.api.token, OUT=pictures, ONLY="overview,heatmap,jobs,waiting"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreaterEqual(len(os.listdir(pictures)), 8)


if __name__ == "__main__":
    unittest.main()
