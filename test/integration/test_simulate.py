"""crater simulate on a small made-up trace: what it prints, and how it says what is wrong."""
import json
import os
import random
import shutil
import subprocess
import tempfile
import unittest

from base import BIN

SERVERS, PODS = 12, 120


def write_trace(folder):
    draw = random.Random(1)
    with open(os.path.join(folder, "openb_node_list_gpu_node.csv"), "w") as file:
        file.write("sn,cpu_milli,memory_mib,gpu,model\n")
        for s in range(SERVERS):
            file.write(f"server-{s:02},{64000 if s % 2 else 32000},262144,{4 if s % 2 else 2},{'G2' if s % 2 else 'T4'}\n")
    gpu = 0
    with open(os.path.join(folder, "openb_pod_list_default.csv"), "w") as file:
        file.write("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n")
        for p in range(PODS):
            cards, milli = draw.choice([(0, 0), (1, 300), (1, 500), (1, 810), (1, 1000), (2, 1000)])
            gpu += cards * milli
            file.write(f"pod-{p:04},{draw.choice([1000, 4000])},4096,{cards},{milli},{draw.choice(['', '', 'G2', 'G2|T4'])},LS\n")
    assert gpu > 1.3 * 36000
    os.mkdir(os.path.join(folder, "arrivals_compact"))
    with open(os.path.join(folder, "arrivals_compact", "default.txt"), "w") as file:
        for seed in (42, 43):
            order, ranks = random.Random(seed).sample(range(PODS), PODS), random.Random(seed).sample(range(SERVERS), SERVERS)
            file.write(f"arrival {seed} {' '.join(map(str, order))}\nrank {seed} {' '.join(map(str, ranks))}\n")


class Simulate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="crater-test-")
        write_trace(cls.folder)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def crater(self, *words, trace=None):
        # A server that nobody could reach: none is asked.
        env = dict(os.environ, CRATER_SERVER="http://127.0.0.1:9")
        return subprocess.run([os.path.join(BIN, "crater"), "simulate", "--trace", trace or self.folder, *words], capture_output=True, text=True, timeout=60, env=env)

    def figures(self, *words):
        done = self.crater(*words, "--output", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def refused(self, *words, **options):
        done = self.crater(*words, "--output", "json", **options)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        return json.loads(done.stderr)["error"]

    def test_one_object_with_the_figures_at_four_loads(self):
        for policy in ("fgd", "best_fit", "random", "dot_product", "gpu_packing", "gpu_clustering", "engine:best_fit"):
            answer = self.figures("--policy", policy)
            self.assertEqual((answer["workload"], answer["seed"], answer["policy"]), ("default", 42, policy))
            self.assertEqual(answer["decisions"], PODS)
            self.assertEqual(answer["placed"] + answer["refused"], PODS)
            self.assertEqual(answer["cluster_gpu_milli"], 36000)
            self.assertGreater(answer["decisions_per_second"], 0)
            for figures in (answer["allocation_percent"], answer["fragmentation_percent"]):
                self.assertEqual(list(figures), ["100", "110", "120", "130"])
            for load, percent in answer["allocation_percent"].items():
                if percent is not None:  # so few pods pass a percentage without stopping at it
                    self.assertTrue(60 < percent <= 100, (policy, load, percent))

    def test_a_seed_gives_the_same_every_time_and_another_seed_another_order(self):
        first, again, other = (self.figures("--policy", "random", "--seed", seed) for seed in ("42", "42", "43"))
        for answer in (first, again, other):
            del answer["decisions_per_second"], answer["decisions_per_second_learning_aside"]
        self.assertEqual(first, again)
        self.assertNotEqual(first["allocation_percent"], other["allocation_percent"])

    def test_people_get_a_short_table(self):
        done = self.crater("--policy", "fgd")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")  # no progress where nobody watches
        self.assertIn("allocation %", done.stdout)
        self.assertLessEqual(len(done.stdout.splitlines()), 6)

    def test_with_departures_every_policy_meets_the_same_arrivals(self):
        words = ("--departures", "--offered", "1.2", "--arrivals-count", "3000", "--holding-time", "10m")
        for policy in ("fgd", "engine:best_fit"):
            answer = self.figures("--policy", policy, *words)
            self.assertEqual((answer["decisions"], answer["counted"], answer["offered_percent"]), (3000, 2100, 120))
            self.assertTrue(5 < answer["refused_percent"] < 60, answer)
            self.assertGreater(answer["refused_multi_card_percent"], 0)
            self.assertTrue(50 < answer["used_percent"] < 100, answer)
        self.assertEqual(self.refused("--policy", "fgd", "--departures", "--offered", "-1")["field"], "offered")
        self.assertEqual(self.refused("--policy", "fgd", "--departures", "--holding-time", "long")["field"], "holding-time")
        self.assertEqual(self.crater("--policy", "fgd", "--offered", "1").returncode, 2)

    def test_another_file_with_arrivals(self):
        other = os.path.join(self.folder, "mine.txt")
        with open(other, "w") as file:
            file.write(f"arrival 5 3 4\nrank 5 {' '.join(map(str, range(SERVERS)))}\n")
        self.assertEqual(self.figures("--policy", "fgd", "--arrivals", other, "--seed", "5")["decisions"], 2)

    def test_what_is_wrong_is_named_with_what_is_allowed(self):
        error = self.refused("--policy", "fdg")
        self.assertEqual((error["field"], error["hint"]), ("policy", "did you mean 'fgd'?"))
        self.assertIn("gpu_packing", error["message"])
        self.assertEqual(self.refused("--policy", "engine:bestfit")["hint"], "did you mean 'engine:best_fit'?")
        error = self.refused("--policy", "fgd", "--workload", "defalt")
        self.assertEqual((error["field"], error["hint"]), ("workload", "did you mean 'default'?"))
        error = self.refused("--policy", "fgd", "--seed", "44")
        self.assertEqual(error["field"], "seed")
        self.assertIn("42, 43", error["message"])
        self.assertEqual(self.refused("--policy", "fgd", "--seed", "-1")["field"], "seed")
        self.assertEqual(self.refused("--policy", "fgd", trace="/nowhere")["field"], "trace")
        self.assertEqual(self.refused("--policy", "fgd", "--arrivals", "/nowhere")["field"], "arrivals")

    def test_a_broken_line_is_named(self):
        broken = tempfile.mkdtemp(prefix="crater-test-")
        try:
            shutil.copytree(self.folder, broken, dirs_exist_ok=True)
            path = os.path.join(broken, "openb_pod_list_default.csv")
            with open(path) as file:
                lines = file.readlines()
            lines[6] = "pod-0005,many,4096,0,0,,LS\n"
            with open(path, "w") as file:
                file.writelines(lines)
            error = self.refused("--policy", "fgd", trace=broken)
            self.assertEqual(error["field"], "openb_pod_list_default.csv line 7")
            self.assertIn('cpu_milli is "many"', error["message"])
        finally:
            shutil.rmtree(broken)

    def test_help_is_a_guide(self):
        done = self.crater("--help")
        self.assertEqual(done.returncode, 0)
        for word in ("price", "fgd", "engine:NAME", "allocation", "fragmentation", "Examples"):
            self.assertIn(word, done.stdout)


if __name__ == "__main__":
    unittest.main()
