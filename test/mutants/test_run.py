#!/usr/bin/env python3
"""The one who applies mutants: takes a change that is found once, refuses any other, and leaves the tree as it was."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import run  # noqa: E402

TEXT = "one\ntwo\nthree\ntwo\n"


class Mutants(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.tree = Path(self.folder.name)
        (self.tree / "a.cc").write_text(TEXT)

    def tearDown(self):
        self.folder.cleanup()

    def mutant(self, old, new="new", file="a.cc", name="01_some.mutant"):
        path = self.tree / name
        path.write_text(f"It breaks.\nfile {file}\n<<<<\n{old}\n====\n{new}\n>>>>\n")
        return path

    def test_what_is_found_once_is_replaced_and_nothing_is_written(self):
        texts = run.mutated(self.tree, run.read_mutant(self.mutant("one\ntwo", "1")))
        self.assertEqual(texts, {"a.cc": "1\nthree\ntwo\n"})
        self.assertEqual((self.tree / "a.cc").read_text(), TEXT)

    def test_what_is_not_found_once_does_not_apply(self):
        for old, said in (("four", "found 0 times"), ("two", "found 2 times")):
            with self.assertRaisesRegex(run.DoesNotApply, said):
                run.mutated(self.tree, run.read_mutant(self.mutant(old)))
        with self.assertRaisesRegex(run.DoesNotApply, "there is no b.cc"):
            run.mutated(self.tree, run.read_mutant(self.mutant("one", file="b.cc")))

    def test_a_mutant_that_changes_nothing_is_no_mutant(self):
        path = self.tree / "01_some.mutant"
        for text in ("It breaks.\n", "It breaks.\nfile a.cc\n<<<<\none\n====\n", "It breaks.\nrubbish\n"):
            path.write_text(text)
            with self.assertRaises(ValueError):
                run.read_mutant(path)

    def test_the_program_names_what_does_not_apply_and_fails(self):
        self.mutant("one")
        self.mutant("four", name="02_other.mutant")
        done = subprocess.run([sys.executable, HERE / "run.py", "--check", "--source", self.tree, "--mutants", self.tree],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("02_other: does not apply", done.stdout)
        self.assertNotIn("01_some", done.stdout)

    def test_the_tree_s_own_mutants_apply(self):
        done = subprocess.run([sys.executable, HERE / "run.py", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("0 do not apply", done.stdout)

    def test_a_copy_keeps_the_time_of_what_did_not_change(self):
        source, copy = self.tree / "source", self.tree / "copy"
        for part in ("lib/a.cc", "lib/gone.cc", "build/made"):
            (source / part).parent.mkdir(parents=True, exist_ok=True)
            (source / part).write_text(part)
        run.mirror(source, copy)
        before = (copy / "lib/a.cc").stat().st_mtime_ns
        (source / "lib/gone.cc").unlink()
        run.mirror(source, copy)
        self.assertEqual((copy / "lib/a.cc").stat().st_mtime_ns, before)
        self.assertFalse((copy / "lib/gone.cc").exists())
        self.assertFalse((copy / "build").exists())


if __name__ == "__main__":
    unittest.main()
