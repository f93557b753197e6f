#!/usr/bin/python3
"""Trains a small neural network on Fashion-MNIST, and can be stopped and moved at any moment.

Resuming continues in the middle of an epoch with the same shuffle, optimiser and random numbers, so an interrupted
run ends with the very weights of an uninterrupted one. `train.py --help` lists the options; each has an environment
variable of the same name in capitals. Under Crater, CRATER_CHECKPOINT_PATH, CRATER_RESUME_FROM, CRATER_OUTPUT_PATH
and CRATER_CPU_CORES are set.
"""

import argparse
import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common"))

import runtime  # noqa: E402
from runtime import say  # noqa: E402

stop = runtime.StopFlag()  # first of all: a stop may come while the dataset loads
np = runtime.numpy()

import checkpoint  # noqa: E402
import fashion_mnist  # noqa: E402
import model  # noqa: E402

# Not by signalling ourselves: the first process of a PID namespace ignores a default-handled signal of its own.
STOPPED = 128 + 15
# A checkpoint made with other values of these would not lead to the same result. EPOCHS may be raised later.
FIXED_OPTIONS = ("batch_size", "hidden", "learning_rate", "limit", "momentum", "seed")


@dataclass
class State:
    """Everything the rest of the run depends on."""

    weights: dict
    velocity: dict
    rng: np.random.Generator
    order: np.ndarray  # this epoch's shuffle; empty until the epoch has begun
    epoch: int = 1
    step: int = 0  # steps done in this epoch
    total_steps: int = 0


def parse_options(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])

    def option(name, kind, default, text):
        value = os.environ.get(name.upper(), str(default))
        parser.add_argument("--" + name.replace("_", "-"), type=kind, default=value,
                            help=f"{text} (default {default})")

    def positive(text):
        if (value := int(text)) < 1:
            raise argparse.ArgumentTypeError("at least 1")
        return value

    def not_negative(text):
        if (value := float(text)) < 0:
            raise argparse.ArgumentTypeError("not below 0")
        return value

    def count(text):
        return int(not_negative(text))

    option("epochs", positive, 5, "times through the dataset")
    option("batch_size", positive, 128, "images in one step")
    option("hidden", positive, 128, "width of the hidden layer")
    option("learning_rate", float, 0.02, "step size")
    option("momentum", float, 0.9, "how much of the last step is kept")
    option("seed", int, 1, "of all random numbers")
    option("limit", count, 0, "use only so many images, 0 = all")
    option("pace", not_negative, 0, "seconds to sleep after each step, to stretch a demonstration")
    option("log_every", positive, 100, "steps between progress lines")
    option("checkpoint_every", positive, 200, "steps between checkpoints")
    option("keep", positive, 3, "checkpoints kept")
    return parser.parse_args(arguments)


def new_state(options):
    rng = np.random.default_rng(options.seed)
    weights = model.create(options.hidden, rng)
    velocity = {name: np.zeros_like(value) for name, value in weights.items()}
    return State(weights, velocity, rng, np.empty(0, np.int32))


def fixed_options(options):
    return {name: getattr(options, name) for name in FIXED_OPTIONS}


def save_state(state, options, folder):
    arrays = {"order": state.order}
    arrays.update({f"weights.{name}": value for name, value in state.weights.items()})
    arrays.update({f"velocity.{name}": value for name, value in state.velocity.items()})
    description = {"epoch": state.epoch, "step": state.step, "total_steps": state.total_steps,
                   "rng": state.rng.bit_generator.state, "options": fixed_options(options)}
    path = folder / f"model_epoch_{state.epoch:03}_step_{state.step:05}{checkpoint.SUFFIX}"
    checkpoint.save(path, arrays, description)
    forget_old(folder, options.keep)
    return path


def forget_old(folder, keep):
    # By time, not by name: a further one that was not taken (torn, other options) must not push out what we write.
    ours = sorted(folder.glob(f"model_epoch_*{checkpoint.SUFFIX}"), key=lambda path: path.stat().st_mtime_ns)
    for path in ours[:-keep]:
        path.unlink(missing_ok=True)
    for path in folder.glob(f".model_epoch_*{checkpoint.SUFFIX}.tmp"):  # of a run that was killed while writing
        path.unlink(missing_ok=True)


def restore_state(arrays, description):
    rng = np.random.default_rng()
    rng.bit_generator.state = description["rng"]

    def group(prefix):
        return {name: arrays[f"{prefix}.{name}"] for name in model.NAMES}

    return State(group("weights"), group("velocity"), rng, arrays["order"],
                 description["epoch"], description["step"], description["total_steps"])


def find_checkpoint(options, folder):
    """What Crater offers, a file or a folder, else the newest whole one of our own; None = start anew."""

    def unfit(description):
        if "rng" not in description:
            return "a finished model, not the state of a run"
        theirs, ours = description["options"], fixed_options(options)
        other = [f"{name} {theirs.get(name)}, now {ours[name]}" for name in ours if theirs.get(name) != ours[name]]
        return f"made with {', '.join(other)}" if other else None

    def report(path, reason):
        say(f"not taken: {path}: {reason}")

    offered = os.environ.get("CRATER_RESUME_FROM")
    if offered:
        look = checkpoint.newest if os.path.isdir(offered) else checkpoint.load_if_whole
        if found := look(offered, report, unfit):
            return found
    return checkpoint.newest(folder, report, unfit)


def start_or_resume(options, folder):
    found = find_checkpoint(options, folder)
    if not found:
        say("starting anew")
        return new_state(options)
    path, arrays, description = found
    state = restore_state(arrays, description)
    say(f"resumed from {path} at epoch {state.epoch} step {state.step}")
    return state


def one_step(state, options, images, labels):
    chosen = state.order[state.step * options.batch_size:(state.step + 1) * options.batch_size]
    batch = fashion_mnist.brightness(images[chosen]).reshape(-1, 28, 28)
    mirrored = state.rng.random(len(chosen)) < 0.5  # a mirrored shoe is a shoe
    batch[mirrored] = batch[mirrored, :, ::-1]
    loss, gradients = model.loss_and_gradients(
        state.weights, batch.reshape(len(chosen), -1), labels[chosen])
    for name, gradient in gradients.items():
        state.velocity[name] = (np.float32(options.momentum) * state.velocity[name]
                                - np.float32(options.learning_rate) * gradient)
        state.weights[name] = state.weights[name] + state.velocity[name]
    state.step += 1
    state.total_steps += 1
    return loss


def end_epoch(state, test):
    say(f"epoch {state.epoch} done accuracy {model.accuracy(state.weights, *test):.4f}")
    state.epoch += 1
    state.step = 0
    state.order = np.empty(0, np.int32)


def train(state, options, folder, images, labels, test):
    """Until all epochs are done (True) or a stop came (False); the checkpoint is saved in both cases."""
    steps = -(-len(labels) // options.batch_size)
    saved_at = state.total_steps
    while state.epoch <= options.epochs:
        if state.order.size == 0:
            state.order = state.rng.permutation(len(labels)).astype(np.int32)
        while state.step < steps and not stop:
            loss = one_step(state, options, images, labels)
            if state.step % options.log_every == 0:
                say(f"epoch {state.epoch} step {state.step} loss {loss:.4f}")
            # The last step of an epoch is saved below, with the epoch ended.
            if state.total_steps - saved_at >= options.checkpoint_every and state.step < steps and not stop:
                save_state(state, options, folder)
                saved_at = state.total_steps
            stop.sleep(options.pace)
        if stop:
            path = save_state(state, options, folder)
            say(f"stopped at epoch {state.epoch} step {state.step}, saved {path}")
            return False
        end_epoch(state, test)
        save_state(state, options, folder)
        saved_at = state.total_steps
    return True


def write_model(state, output, accuracy):
    path = output / f"model{checkpoint.SUFFIX}"
    checkpoint.save(path, state.weights, {"classes": fashion_mnist.CLASSES, "accuracy": accuracy,
                                          "total_steps": state.total_steps})
    say(f"model {path} sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}")


def main():
    options = parse_options()
    folder = Path(os.environ.get("CRATER_CHECKPOINT_PATH") or "checkpoint")
    output = Path(os.environ.get("CRATER_OUTPUT_PATH") or folder)
    try:
        for path in (folder, output):  # now, not after an hour of training
            path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        runtime.fail(f"cannot write to {path}: {error.strerror}")
    images, labels = fashion_mnist.load("train", options.limit)
    test = fashion_mnist.load("t10k", options.limit)
    say(f"{len(labels)} images, {options.epochs} epochs, {runtime.core_count()} cores")
    state = start_or_resume(options, folder)
    if not train(state, options, folder, images, labels, test):
        sys.exit(STOPPED)
    accuracy = model.accuracy(state.weights, *test)
    write_model(state, output, accuracy)
    say(f"accuracy {accuracy:.4f}")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:  # a full disk, most likely: the holder should read that, not a stack
        runtime.fail(f"training failed: {error}", 1)
