"""Small experiments for the tests: records to ask again about, their plans, and a prompt written by hand."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from audit.cli import app
from audit.interventions.plan import Plan, read_plan
from tests.collector.helpers import collect, spec

WALL_CLOCK = {"seconds", "started_at"}


def recorded(folder: Path, env: str = "cartpole", *, runs: int = 2, **settings) -> Path:
    """Records of a few ThreeTraj runs of the simulated critic."""
    settings = {"iterations": 3, "rollouts": 8, "warmup": 2, **settings}
    for run in range(1, runs + 1):
        collect(spec(env, "threetraj", runs=run, **settings), folder)
    return folder


def audit(*arguments):
    """A command of the audit, in this process."""
    return CliRunner().invoke(app, [str(each) for each in arguments])


def plan(data: Path, out: Path, *options, backend: str = "simulated") -> Plan:
    """A plan of `data`, made by the command."""
    fast = ("--rollouts", 0, "--permutations", 99, "--anyway")
    result = audit("intervene", "plan", data, "--backend", backend, "--out", out, *fast, *options)
    assert result.exit_code == 0, result.stderr
    return read_plan(out)


def run(path: Path, *options):
    """The calls of a plan, one after the other."""
    return audit("intervene", "run", path, "--concurrency", 1, *options)


def one_line(result, status: int = 1) -> str:
    """The message of a command that failed and printed nothing else."""
    assert result.stderr.count("\n") == 1
    return last_line(result, status)


def last_line(result, status: int = 1) -> str:
    """The message of a command that failed, which may have printed notes before."""
    assert (result.exit_code, result.stdout) == (status, "")
    line = result.stderr.splitlines()[-1]
    assert line.startswith("audit: ")
    assert "Traceback" not in result.stderr
    return line


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def timeless(path: Path) -> list[dict]:
    """The lines of a file of answers without wall-clock fields."""
    return [{key: value for key, value in line.items() if key not in WALL_CLOCK} for line in lines(path)]


def answers_of(plan: Path) -> Path:
    return plan.with_name(f"{plan.stem}.answers.jsonl")


def arms(*settings: str) -> list[str]:
    """Options that set the number of answers of arms."""
    return [option for setting in settings for option in ("--arm", setting)]


NO_SHARES = arms("S_w=0", "S_m=0", "S_b=0", "E0=0")
"""Options that leave out what shares need."""
CONTRASTS = [*NO_SHARES, *arms("N0=6", "N0h=6", "P1=6", "C=4", "XL=6", "XP=6")]
"""Options of an experiment that compares arms with each other."""
TINY = ("--units", 2, *NO_SHARES, *arms("N0=2", "XP=2", "C=1"))
"""Options of an experiment of `CALLS` calls."""
CALLS = 14

PROMPT = """\
You review policies.

## Policy under review
params[0]: 1
Achieved mean return: 5.00 over 9 rollouts.

## Evidence
Three of the 9 rollouts: the one with the lowest return, the one nearest to the median, and the \
one with the highest. Steps.

Worst rollout (rollout 4, return 1.5000, length 2):
t=1 fell
t=2 lay

Median rollout (rollout 0, return 5.0000, length 2):
t=1 stood
t=2 sat

Best rollout (rollout 7, return 9.0000, length 2):
t=1 ran
t=2 won

## Earlier trials
#0 params=(1) single return 3.00
#1 params=(2) mean return 4.00
    from one of its rollouts: t=0 stood
#2 params=(3) mean return 5.00

## How to proceed
1. Lay the three rollouts side by side: which faults do they share, and which does only one of them show?
2. Find the states.

Weigh these points:
- A focused change is better than a sweeping one.
- Do not overfit to a fault that only the worst rollout shows: chance may explain it.

## Your answer
In this form. Refer to specific rollouts and states in your explanation.
"""
"""In the form of the project's template."""
