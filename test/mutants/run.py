#!/usr/bin/env python3
"""Puts one known fault after the other into a copy of the tree and asks how many seeds the simulator needs to find it.

    run.py --source TREE [--build FOLDER] [--scratch FOLDER] [--seeds N] [--jobs N] [NUMBER...]

A mutant is a file NN_name.mutant: a sentence that says what it breaks, then the files it changes and what is replaced in them by what, each
text found exactly once. The copy keeps its build between mutants, so only what a mutant touches is compiled anew. Exit status 1 when one is
not found or does not apply any more, 2 when it cannot be tried.
"""
import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

SETTINGS = ("CMAKE_BUILD_TYPE", "CRATER_PCH", "CRATER_UNITY", "CRATER_WERROR", "CMAKE_CXX_COMPILER")


class DoesNotApply(Exception):
    pass


@dataclass
class Change:
    file: str
    old: str
    new: str


@dataclass
class Mutant:
    name: str
    what: str
    changes: list

    @property
    def number(self):
        return int(self.name.split("_")[0])


def read_mutant(path):
    """Sentence, then `file PATH` lines, each followed by <<<< old ==== new >>>> blocks."""
    lines = path.read_text().splitlines(keepends=True)
    what, file, changes, part, parts = lines[0].strip(), None, [], None, {}
    for number, line in enumerate(lines[1:], 2):
        mark = line.strip()
        if part is None and mark.startswith("file "):
            file = mark[5:]
        elif part is None and mark == "<<<<" and file:
            part, parts = "old", {"old": "", "new": ""}
        elif part == "old" and mark == "====":
            part = "new"
        elif part == "new" and mark == ">>>>":
            changes.append(Change(file, parts["old"].rstrip("\n"), parts["new"].rstrip("\n")))
            part = None
        elif part:
            parts[part] += line
        elif mark:
            raise ValueError(f"{path.name}:{number}: {mark!r} is out of place")
    if part or not changes:
        raise ValueError(f"{path.name}: it changes nothing, or its last block does not end")
    return Mutant(path.stem, what, changes)


def mutated(tree, mutant):
    """The changed files' new texts. Nothing is written."""
    texts = {}
    for change in mutant.changes:
        path = tree / change.file
        if not path.is_file():
            raise DoesNotApply(f"there is no {change.file}")
        text = texts.get(change.file, path.read_text())
        found = text.count(change.old)
        if found != 1:
            first = change.old.strip().splitlines()[0]
            raise DoesNotApply(f"{change.file}: found {found} times, not once: {first}")
        texts[change.file] = text.replace(change.old, change.new)
    return texts


def files_of(tree):
    """What belongs to the tree: what git knows or would take, or all but what is made."""
    if (tree / ".git").exists():
        listed = subprocess.run(["git", "-C", str(tree), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                stdout=subprocess.PIPE, check=True, text=True).stdout.split("\0")
        return {Path(name) for name in listed if name and (tree / name).is_file()}
    made = {"build", "node_modules", "__pycache__"}
    return {f.relative_to(tree) for f in tree.rglob("*") if f.is_file() and not made & set(f.relative_to(tree).parts)}


def mirror(source, copy):
    """Makes `copy` hold what `source` does; files that are the same already keep their time."""
    wanted = files_of(source)
    for name in (files_of(copy) if copy.is_dir() else set()) - wanted:
        (copy / name).unlink()
    for name in sorted(wanted):
        put(copy / name, (source / name).read_bytes())


def put(path, content):
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def settings_of(build):
    """How the tree's own build is set, so that the copy's finds the same objects in the compiler cache."""
    cache = build / "CMakeCache.txt"
    if not cache.is_file():
        return ["-DCMAKE_BUILD_TYPE=Release"]
    values = dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(), re.M))
    return [f"-D{name}={values[name]}" for name in SETTINGS if values.get(name)]


class Copy:
    def __init__(self, source, build, scratch, jobs):
        # Named and placed like the originals: then the compiler sees the same relative paths.
        self.source, self.jobs = source, jobs
        self.tree = scratch / source.name
        self.build = Path(os.path.normpath(self.tree / os.path.relpath(build, source)))
        mirror(source, self.tree)
        if not (self.build / "build.ninja").is_file():
            self.call("cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", *settings_of(build))

    def call(self, *command):
        environment = {**os.environ, "CCACHE_BASEDIR": str(self.tree.parent), "CCACHE_NOHASHDIR": "1"}
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        if done.returncode:
            sys.stderr.write(done.stdout[-4000:])
            raise RuntimeError(f"{command[0]} failed")

    def compile(self):
        self.call("ninja", "-C", self.build, "-j", self.jobs, "crater-sim")
        return self.build / "bin" / "crater-sim"


def hunt(program, seeds, jobs):
    """The first seed in which something is wrong, and what is said of it."""
    done = subprocess.run([str(program), "--seeds", str(seeds), "--jobs", str(jobs), "--first", "--no-shrink", "--twice", "2"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = sorted((int(seed), checker, text) for seed, checker, text in re.findall(r"^seed (\d+): ([\w ]+): (.*)$", done.stdout, re.M))
    if not found and not re.search(r"^sim: \d+ seeds, 0 violations", done.stdout, re.M):
        raise RuntimeError("the simulator ended without a word:\n" + done.stdout[-2000:])
    return found[0] if found else None


def main():
    parser = argparse.ArgumentParser(description="How many seeds the simulator needs to find known faults.")
    here = Path(__file__).resolve().parent
    parser.add_argument("--source", type=Path, default=here.parent.parent)
    parser.add_argument("--build", type=Path, help="the tree's own build folder")
    parser.add_argument("--scratch", type=Path, help="where the copy lives; BUILD/mutants when absent")
    parser.add_argument("--mutants", type=Path, default=here)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--check", action="store_true", help="only whether each of them applies")
    parser.add_argument("numbers", type=int, nargs="*")
    options = parser.parse_args()
    source = options.source.resolve()
    build = (options.build or source / "build").resolve()
    try:
        mutants = [read_mutant(path) for path in sorted(options.mutants.glob("*.mutant"))]
    except ValueError as error:
        sys.exit(f"mutants: {error}")
    unknown = set(options.numbers) - {m.number for m in mutants}
    if unknown:
        parser.error(f"there is no mutant {min(unknown)}; known: {', '.join(str(m.number) for m in mutants)}")
    mutants = [m for m in mutants if not options.numbers or m.number in options.numbers]

    bad = 0
    for mutant in mutants:
        try:
            mutated(source, mutant)
        except DoesNotApply as why:
            bad += 1
            print(f"{mutant.name}: does not apply: {why}", flush=True)
    if options.check or bad:
        print(f"mutants: {len(mutants)}, {bad} do not apply")
        return 1 if bad else 0

    copy = Copy(source, build, (options.scratch or build / "mutants").resolve(), options.jobs)
    # What is wrong with the tree itself would be found in place of a mutant.
    if found := hunt(copy.compile(), options.seeds, options.jobs):
        raise RuntimeError("nothing was put in, and seed {} is wrong: {}: {}".format(*found))
    print(f"{'mutant':28} {'seed':>5} {'seconds':>8}  found by", flush=True)
    for mutant in mutants:
        texts = mutated(copy.tree, mutant)
        before = {file: (copy.tree / file).read_bytes() for file in texts}
        try:
            for file, text in texts.items():
                put(copy.tree / file, text.encode())
            program = copy.compile()
            began = time.monotonic()
            found = hunt(program, options.seeds, options.jobs)
            took = time.monotonic() - began
        finally:
            for file, content in before.items():
                put(copy.tree / file, content)
        bad += found is None
        seed, checker, text = found or ("-", f"NOT FOUND in {options.seeds} seeds", mutant.what)
        print(f"{mutant.name:28} {seed:>5} {took:8.1f}  {checker}: {text[:110]}", flush=True)
    print(f"mutants: {len(mutants)}, {bad} not found")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        print(f"mutants: {error}", file=sys.stderr)
        sys.exit(2)
