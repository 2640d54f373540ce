"""What tests have Ray workers do."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import numpy as np

from collector import seeding
from collector.baselines import process
from collector.errors import TaskError
from collector.rollouts.evaluate import Evaluation
from collector.system.cores import cores


class OddError(Exception):
    """Can be written, but not read."""

    def __init__(self, one, two):
        super().__init__(one)


def fail(kind):
    error = kind("what a task raises")
    error.add_note("a note")
    raise error


def fail_oddly():
    raise OddError(1, 2)


def exit_now():
    sys.exit("enough")


def fail_as_task():
    raise TaskError("the task's own\nwords")


def pid_and_cores():
    return os.getpid(), cores(), os.environ.get("OMP_NUM_THREADS")


def die_once(mark):
    """Die the first time only."""
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def doubled_in_place(array):
    array *= 2
    return array


def count_calls(path):
    """Note each call, and fail."""
    with Path(path).open("a") as file:
        file.write("x")
    raise ValueError(path)


def unreturnable():
    return threading.Lock()


def zeros(count):
    return np.zeros(count)


def sends(run, _task_modules, sender):
    """In place of `collector.baselines.process._train`: what a training sends, without one."""
    for iteration in range(run.iterations):
        seeds = seeding.seeds(run.seed, run.rollouts, *run.purpose, iteration, "initial")
        lengths = [seed % 50 + 1 for seed in seeds]
        sender.send((Evaluation(seeds, [float(each) for each in lengths], lengths, ["terminated"] * len(seeds)), 0.5))
    sender.send(None)


def pretended(run):
    """In place of `collector.baselines.process.trained`, in a worker."""
    process._train = sends
    return process.trained(run)
