"""A foreign log, its mapping, and what becomes of it."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from audit.cli import app

MAPPING = """
[fields]
run = "seed"
iteration = "step"
initial.params = "before.theta"
initial.returns = "before.rewards"
initial.lengths = "before.steps"
revised.params = "after.theta"
revised.returns = "after.rewards"
revised.answer = "critique"
selected = "kept"
[constants]
condition = "lab"
env = "cartpole"
variant = "threetraj"
evidence.kind = "three"
[values.selected]
a = "initial"
b = "revised"
[count_from]
iteration = 1
"""

TABLE = """
[fields]
condition = "model"
env = "task"
run = "@file"
iteration = "@row"
initial.mean_return = "r0"
revised.mean_return = "r1"
revised.answer = "why"
[constants]
variant = "our-method"
selected = "better"
evidence.kind = "three"
[thresholds.chess]
partial = 0.3
high = 0.8
near_zero = 0.05
meaningful = 0.02
surgical_max = 1
redesign_min = 4
multi_state_min = 2
"""


def audit(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def row(step=1, **changes):
    record = {
        "seed": 1,
        "step": step,
        "before": {"theta": [1, 2.5], "rewards": [10, 20, 60], "steps": [10, 20, 60]},
        "after": {"theta": [1, 3], "rewards": [10, 10, 10]},
        "critique": "The worst rollout fell at once.",
        "kept": "a",
    }
    for path, value in changes.items():
        holder = record
        *parents, name = path.split("__")
        for parent in parents:
            holder = holder[parent]
        if value is ...:
            del holder[name]
        else:
            holder[name] = value
    return record


def lines(*rows):
    return "".join(json.dumps(each) + "\n" for each in rows).encode()


def records(out):
    return [json.loads(line) for path in sorted(out.rglob("episodes.jsonl")) for line in path.read_text().splitlines()]


def messages(out):
    return [json.loads(line) for line in (out / "problems.jsonl").read_text().splitlines()]
