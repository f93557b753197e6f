"""Reads Fashion-MNIST (Zalando, MIT licence) from the IDX files of the Debian package dataset-fashion-mnist."""

import gzip
import os

import numpy as np

import runtime

FOLDER = "/usr/share/datasets/fashion-mnist"
CLASSES = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
           "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
PIXELS = 28 * 28


def load(part, limit=0):
    """Images (uint8, one row each) and labels of `part` ("train" or "t10k"); the first `limit`, 0 = all."""
    folder = _folder()
    images = _read(f"{folder}/{part}-images-idx3-ubyte.gz", 16, PIXELS, limit)
    labels = _read(f"{folder}/{part}-labels-idx1-ubyte.gz", 8, 1, limit)
    return images.reshape(-1, PIXELS), labels


def brightness(images):
    """Pixels as the model wants them: 0..1."""
    return images.astype(np.float32) / np.float32(255)


def _folder():
    for folder in (os.environ.get("CRATER_DATASET_PATH"), FOLDER):
        if folder and os.path.exists(f"{folder}/train-images-idx3-ubyte.gz"):
            return folder
    runtime.fail(f"Fashion-MNIST is not in {FOLDER} (nor in CRATER_DATASET_PATH): "
                 "apt-get install dataset-fashion-mnist")


def _read(path, header, item, limit):
    with gzip.open(path) as file:
        file.read(header)
        return np.frombuffer(file.read(limit * item) if limit else file.read(), dtype=np.uint8)
