#!/usr/bin/python3
"""Pixel statistics of Fashion-MNIST per class, worked on by several tasks.

Task CRATER_TASK_INDEX of WORLD_SIZE takes every WORLD_SIZE-th image and writes `pixel_stats-<index>-of-<size>.csv` to
CRATER_OUTPUT_PATH: per class the count, sum and sum of squares of the pixels, and a 16-bin histogram. These are
plain sums, so `pixel_stats.py --merge FOLDER` adds the parts up and prints mean and deviation per class.
"""

import argparse
import csv
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))

import runtime  # noqa: E402
from runtime import say  # noqa: E402

np = runtime.numpy()

import fashion_mnist  # noqa: E402

BINS = 16
COLUMNS = ["class", "images", "pixels", "sum", "sum_of_squares"] + [f"bin_{i}" for i in range(BINS)]


def share():
    """(index, size) of this task."""
    try:
        index, size = int(os.environ.get("CRATER_TASK_INDEX", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    except ValueError:
        index, size = -1, 0
    if not 0 <= index < size:
        runtime.fail("CRATER_TASK_INDEX must be a number from 0 to WORLD_SIZE - 1")
    return index, size


def statistics(images, labels):
    """One row of whole numbers per class, in the order of COLUMNS without the name."""
    rows = []
    for label in range(len(fashion_mnist.CLASSES)):
        pixels = images[labels == label].ravel()
        # From the 256 counts everything else follows exactly, without a wide copy of the pixels.
        counts = np.bincount(pixels, minlength=256)
        values = np.arange(256)
        rows.append([pixels.size // fashion_mnist.PIXELS, pixels.size, int(counts @ values),
                     int(counts @ values**2), *counts.reshape(BINS, -1).sum(axis=1).tolist()])
        say(f"{fashion_mnist.CLASSES[label]}: {rows[-1][0]} images")
    return rows


def write_part(path, rows):
    temporary = path.with_name(f".{path.name}.tmp")  # a half part must never look like a part
    with open(temporary, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([name, *row] for name, row in zip(fashion_mnist.CLASSES, rows))
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def read_part(path):
    with open(path, newline="") as file:
        return [[int(value) for value in row[1:]] for row in list(csv.reader(file))[1:]]


def find_parts(folder):
    parts = sorted(Path(folder).rglob("pixel_stats-*-of-*.csv"))  # rglob: each task may have a folder of its own
    sizes = {int(path.stem.rsplit("-", 1)[1]) for path in parts}
    if len(sizes) != 1 or len({path.name for path in parts}) != len(parts) or len(parts) != sizes.pop():
        runtime.fail(f"{folder}: not the whole set of parts of one run: {[path.name for path in parts]}", 1)
    return parts


def merge(folder):
    total = np.array([read_part(path) for path in find_parts(folder)], dtype=object).sum(axis=0)
    print("class,images,mean,deviation")
    for name, (images, pixels, total_sum, squares, *_) in zip(fashion_mnist.CLASSES, total.tolist()):
        mean = total_sum / max(pixels, 1)
        print(f"{name},{images},{mean:.3f},{(squares / max(pixels, 1) - mean**2) ** 0.5:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--merge", metavar="FOLDER", help="add up the parts that lie here")
    options = parser.parse_args()
    if options.merge:
        return merge(options.merge)
    index, size = share()
    output = Path(os.environ.get("CRATER_OUTPUT_PATH") or "output")
    output.mkdir(parents=True, exist_ok=True)
    images, labels = fashion_mnist.load("train")
    say(f"task {index} of {size}: {len(labels[index::size])} of {len(labels)} images")
    path = output / f"pixel_stats-{index}-of-{size}.csv"
    write_part(path, statistics(images[index::size], labels[index::size]))
    say(f"wrote {path}")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        runtime.fail(f"failed: {error}", 1)
