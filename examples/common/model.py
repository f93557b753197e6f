"""A two-layer perceptron: 784 pixels, one hidden layer, 10 classes."""

import numpy as np

import fashion_mnist

NAMES = ("hidden_weights", "hidden_bias", "class_weights", "class_bias")


def create(hidden, rng):
    def layer(inputs, outputs):
        return (rng.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs)).astype(np.float32)

    classes = len(fashion_mnist.CLASSES)
    return {
        "hidden_weights": layer(fashion_mnist.PIXELS, hidden),
        "hidden_bias": np.zeros(hidden, np.float32),
        "class_weights": layer(hidden, classes),
        "class_bias": np.zeros(classes, np.float32),
    }


def from_arrays(arrays):
    """The weights out of a finished model or out of a run's checkpoint; ValueError when there are none."""
    weights = {name: arrays.get(name, arrays.get(f"weights.{name}")) for name in NAMES}
    missing = [name for name in NAMES if weights[name] is None]
    if missing:
        raise ValueError(f"no model in it: {', '.join(missing)} missing")
    return weights


def forward(weights, images):
    """(activations of the hidden layer, probability of each class)."""
    hidden = np.maximum(images @ weights["hidden_weights"] + weights["hidden_bias"], 0)
    scores = hidden @ weights["class_weights"] + weights["class_bias"]
    scores -= scores.max(axis=1, keepdims=True)  # exp must not overflow
    odds = np.exp(scores)
    return hidden, odds / odds.sum(axis=1, keepdims=True)


def loss_and_gradients(weights, images, labels):
    hidden, probabilities = forward(weights, images)
    rows = np.arange(len(labels))
    loss = float(-np.log(probabilities[rows, labels] + 1e-12).mean())
    probabilities[rows, labels] -= 1
    probabilities /= np.float32(len(labels))
    back = (probabilities @ weights["class_weights"].T) * (hidden > 0)
    return loss, {
        "hidden_weights": images.T @ back,
        "hidden_bias": back.sum(axis=0),
        "class_weights": hidden.T @ probabilities,
        "class_bias": probabilities.sum(axis=0),
    }


def accuracy(weights, images, labels, batch=1000):
    right = 0
    for start in range(0, len(labels), batch):
        part = fashion_mnist.brightness(images[start:start + batch])
        right += int((forward(weights, part)[1].argmax(axis=1) == labels[start:start + batch]).sum())
    return right / len(labels)
