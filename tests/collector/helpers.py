"""Shared by the collector's tests: a run in process, models that follow a script, and records to compare."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import fmean

import pytest

from collector.llm.protocol import Completion
from collector.llm.simulated import SimulatedModel
from collector.plan import Request, plan
from collector.records import Candidate
from collector.run_folder import RunFolder
from collector.search import search
from collector.switches import Switches
from collector.tasks import Task

WALL_CLOCK = {"seconds", "started_at"}


QUICK = ["cartpole", "maze", "swimmer"]
"""A task of each kind: linear with choices, a table, and MuJoCo's with numbers as actions."""

GOOD = [0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0]
"""A policy of FrozenLake that mostly gets there."""

STEPS_OF_SWIMMER = 40
"""Of its thousand, which it always takes: simulating them is nearly all that a quick test of all tasks costs."""


def shortened(task: Task) -> Task:
    """The task with rollouts that are soon over."""
    return replace(task, step_cap=STEPS_OF_SWIMMER) if task.id == "swimmer" else task


def short(env: str) -> Switches:
    """Switches for a run of the shortened task."""
    return Switches(step_cap=STEPS_OF_SWIMMER if env == "swimmer" else None)


async def inline(function, *args):
    return function(*args)


def spec(env="frozenlake", variant="threetraj", *, model=None, **settings):
    model = model or SimulatedModel()
    settings = {"runs": 1, "iterations": 3, "rollouts": 4, "warmup": 3} | settings
    request = Request(
        envs=[env], variants=[variant], backend=model.backend, model=model.name, options=model.options, **settings
    )
    return plan(request)[-1]


def collect(spec, out: Path, model=None, report=lambda progress: None) -> Path:
    """Run one run to its end; returns its folder."""

    async def run():
        with RunFolder(out / spec.folder) as folder:
            await search(spec, folder, model or SimulatedModel(), inline, report)

    asyncio.run(run())
    return out / spec.folder


class Thread:
    """Stands in for the process of a worker, in this one: a process takes a second to import everything."""

    def __init__(self, *, target, args, daemon):
        pipe, *rest = args
        own = Connection(os.dup(pipe.fileno()))
        self.thread = threading.Thread(target=target, args=(own, *rest), daemon=daemon)
        self.start = self.thread.start

    def kill(self):
        """It ends with its pipe."""

    def join(self):
        """Nobody waits for it."""


def in_process(main, *arguments, workers=Thread) -> subprocess.CompletedProcess:
    """Call a command in this process, for what does not depend on a process of its own; as `subprocess.run` returns."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["", *map(str, arguments)])
        patch.setattr("collector.rollouts.workers.Process", workers)
        with pytest.raises(SystemExit) as ended:
            main()
    return subprocess.CompletedProcess(arguments, ended.value.code or 0, out.getvalue(), err.getvalue())


class ScriptedModel:
    """Gives the answers of a script, in order; an exception in it is raised."""

    backend = "scripted"
    name = "scripted"

    def __init__(self, *script):
        self.script = list(script)
        self.options = {}
        self.prompts = []
        self.seeds = []

    async def complete(self, prompt, *, seed, form=None):
        self.prompts.append(prompt)
        self.seeds.append(seed)
        answer = self.script.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return Completion(answer)

    async def check(self):
        pass

    async def aclose(self):
        pass


def candidate_of(returns, *, params=(0.0,), seeds=None, mean=None) -> Candidate:
    """A candidate of a search with these returns."""
    lengths, ended = [1] * len(returns), ["terminated"] * len(returns)
    return Candidate(
        params=list(params), out_of_range=False, source="search", answer="", thinking=None, returns=list(returns),
        lengths=lengths, seeds=seeds, ended=ended, mean_return=fmean(returns) if mean is None else mean,
    )  # fmt: skip


def answer(values, text="because"):
    return ", ".join(f"params[{index}]: {value}" for index, value in enumerate(values)) + "\n" + text


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def timeless(folder: Path) -> dict[str, list[str] | str]:
    """All records below a folder as text, in file and field order, without wall-clock fields."""

    def strip(record):
        return json.dumps({key: value for key, value in record.items() if key not in WALL_CLOCK})

    records: dict[str, list[str] | str] = {}
    for path in sorted(folder.rglob("*.json*")):
        name = str(path.relative_to(folder))
        if path.suffix == ".jsonl":
            records[name] = [strip(record) for record in lines(path)]
        else:
            records[name] = strip(json.loads(path.read_text()))
    return records
