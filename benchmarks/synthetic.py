"""Synthetic records: as `collect` writes them, many runs of many tasks and methods, made of random numbers and words.

What is random looks like the real thing where that decides how long an audit takes: lengths of runs, numbers per
record, digits per number, every edit pattern and agreement structure, and answers that compress about as well as real
critics' do (to a third; one sentence over and over would compress to nothing).

    python -m benchmarks.synthetic FOLDER --revisions 1000000
"""

from __future__ import annotations

import argparse
import functools
import itertools
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from collector import seeding
from collector.evidence import SHOWN
from collector.methods import METHODS
from collector.records import (
    Candidate,
    Episode,
    Evidence,
    Range,
    RolloutLabel,
    Run,
    Shown,
    Statistics,
    WarmupTrial,
    encode,
)
from collector.tasks import TASKS, LinearSpace, Task

Floats = NDArray[np.float64]

CONDITION: Final = "synthetic"
ROLLOUTS: Final = 20
VARIANTS: Final = ("threetraj", "r2po", "reptraj", "alwayscritic", "puresearch", "actorsecondpass", "props")
ITERATIONS: Final = (100, 200, 400, 1000)
SUCCESS_TASKS: Final = ("frozenlake", "maze", "nim")
"""Tasks whose returns are 0 or 1 here."""
COUNTED_TASKS: Final = ("cartpole", "invertedpendulum", "mountaincar")
"""Tasks whose returns are whole numbers."""
POOL: Final = 64 * 2**20
"""Characters of random prose that answers are cut from: so many that two answers rarely share a stretch."""

WORDS: Final = tuple(
    """
    the a of and to in is it that this with from at on for as by so but all no not one two both each more less than then
    cart pole angle velocity position weight bias state action reward return rollout rollouts trial trials episode step
    steps parameter parameters policy left right up down push pushes drift drifts fall falls fell track edge centre goal
    hole corner wall paddle ball torque hill slope speed balance recovery gain damping sign threshold table cell history
    failure failures success successes median best average mean typical rare frequent early late end ends start starts
    because while where which when although since after before until instead rather almost always never often usually
    lower raise raised lowered keep kept change changed move moved increase decrease small large larger smaller same
    suggests shows means indicates reaches reached leaves stays oscillates saturates explains improves worsens confirms
    consistent systematic unchanged stable unstable negative positive enough too only still already again further other
    """.split()  # noqa: SIM905 - a word a line would be no easier to read
)
CITATIONS: Final = (
    "In the worst rollout the trouble shows most clearly. ",
    "The worst trajectory ends on the left after a few steps. ",
    "Looking at the WORST one first, the failure begins early. ",
    "This matters in the worst-case episode more than elsewhere. ",
    "The worst of the rollouts looks like a rare accident, so I leave it alone. ",
)


@dataclass(frozen=True, slots=True)
class Plan:
    """One run to be written."""

    env: str
    variant: str
    run: int
    iterations: int
    answer_length: int

    @property
    def identity(self) -> dict[str, Any]:
        """The fields that open each of its records."""
        return {"condition": CONDITION, "env": self.env, "variant": self.variant, "run": self.run}


def write_records(folder: Path, *, revisions: int, answer_length: int = 2000) -> Path:
    """Write runs of 100 to 1000 iterations over all ten tasks and seven methods.

    Args:
        folder: where the run folders go.
        revisions: how many in all. The method with one call has none; its iterations come on top.
        answer_length: characters in each critic's answer.
    """
    write = functools.partial(write_run, folder=folder, pool=min(POOL, 4 * revisions * answer_length))
    plans = list(plan(revisions, answer_length))
    if len(plans) < 100:
        for each in plans:
            write(each)
        return folder
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as workers:
        list(workers.map(write, plans, chunksize=4))
    return folder


def plan(revisions: int, answer_length: int) -> Iterator[Plan]:
    """Runs with so many revisions in all, spread evenly over tasks and methods."""
    rng = seeding.generator(0, CONDITION, "plan")
    cells = [(env, variant) for env in TASKS for variant in VARIANTS]
    order = sorted(rng.permutation(len(cells)), key=lambda place: cells[place] != ("cartpole", "threetraj"))
    lengths = [length for length in ITERATIONS if length <= max(revisions // 10, ITERATIONS[0])]
    left = revisions
    for turn in itertools.count(1):
        for env, variant in (cells[place] for place in order):
            iterations = int(rng.choice(lengths))
            if METHODS[variant].calls == 2:
                iterations = min(iterations, left)
                left -= iterations
            yield Plan(env, variant, turn, iterations, answer_length)
            if left == 0:
                return


def write_run(plan: Plan, folder: Path, pool: int) -> None:
    """Write the two files of a run."""
    path = folder / CONDITION / plan.env / plan.variant / f"run-{plan.run:02d}"
    path.mkdir(parents=True)
    rng = seeding.generator(0, CONDITION, plan.env, plan.variant, plan.run)
    (path / "run.json").write_bytes(msgspec.json.format(encode(_run(plan, TASKS[plan.env], rng)), indent=2))
    with (path / "episodes.jsonl").open("wb") as file:
        file.writelines(map(encode, _episodes(plan, TASKS[plan.env], rng, prose(pool))))


@functools.cache
def prose(length: int) -> str:
    """So many characters of random words and numbers, frequent words more often."""
    rng = seeding.generator(0, CONDITION, "prose")
    numbers = [
        f"{value:.{digits}f}" for value, digits in zip(rng.normal(0, 3, 900), rng.integers(0, 4, 900), strict=True)
    ]
    words = np.array(
        [f"{word} " for word in WORDS] + [f"{number} " for number in numbers] + [". The ", ", "], dtype=object
    )
    weights = np.concatenate([1 / (np.arange(len(WORDS)) + 12), np.full(900, 0.6 / 900), [0.15, 0.2]])
    return "".join(rng.choice(words, size=length // 5 + 1, p=weights / weights.sum()).tolist())[:length]


def _run(plan: Plan, task: Task, rng: np.random.Generator) -> Run:
    warmup = [
        WarmupTrial(params=params, return_=task.floor, seed=seed)
        for params, seed in zip(_params(task, 20, rng).tolist(), rng.integers(0, 2**32, 20).tolist(), strict=True)
    ]
    hashes = {f"{name}.j2": rng.bytes(32).hex() for name in ("answer", "critic", "history", "rollout", "search")}
    return Run(
        **plan.identity, seed=0, iterations=plan.iterations, rollouts=ROLLOUTS, tau_c=None, optimum=task.optimum,
        step_size=task.space.step_size if isinstance(task.space, LinearSpace) else None, warmup=warmup,
        backend="simulated", model=CONDITION, options={}, switches={}, thresholds=task.thresholds, prompts=hashes,
        versions={"python": "3.11", "salience-audit": "0"}, started_at="2026-01-01T00:00:00+00:00",
    )  # fmt: skip


def _episodes(plan: Plan, task: Task, rng: np.random.Generator, pool: str) -> Iterator[Episode]:
    count, method = plan.iterations, METHODS[plan.variant]
    before, changed = _params(task, count, rng), None
    levels = _levels(task, count, rng)
    initial = _candidates(task, before, _returns(task, levels, rng), "search", rng, pool, np.full(count, 120))
    if method.calls == 1:
        for iteration, first in enumerate(initial):
            yield Episode(
                **plan.identity, iteration=iteration, initial=first, revised=None, revision_status="none",
                selected="initial", evidence=None, seconds=1.5,
            )  # fmt: skip
        return
    after, changed = _edited(task, before, rng)
    shifts = np.where(changed == 0, 0.0, rng.normal(0, 0.3, count)) * (task.optimum - task.floor)
    source = "critic" if method.second == "critic" else "search"
    lengths = np.full(count, plan.answer_length) if source == "critic" else np.full(count, 120)
    revised = _candidates(task, after, _returns(task, levels + shifts, rng), source, rng, pool, lengths)
    for iteration, (first, second) in enumerate(zip(initial, revised, strict=True)):
        is_kept = second.mean_return >= first.mean_return or method.commits == "revised"
        yield Episode(
            **plan.identity, iteration=iteration, initial=first, revised=second, revision_status="ok",
            selected="revised" if is_kept else "initial", evidence=_evidence(method.evidence, first), seconds=1.5,
        )  # fmt: skip


def _params(task: Task, count: int, rng: np.random.Generator) -> Floats:
    """Random parameter vectors, shape (count, parameters)."""
    if isinstance(task.space, LinearSpace):
        return np.round(rng.uniform(-6, 6, (count, task.space.size)), 1)
    return rng.choice(np.array(task.space.actions, float), (count, task.space.size))


def _edited(task: Task, params: Floats, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int64]]:
    """The vectors after edits of none, few, some or most parameters, and how many were edited in each."""
    count, size = params.shape
    kind = rng.choice(4, count, p=[0.08, 0.4, 0.3, 0.22])
    number = np.array([0, 1, 4, 8])[kind] + rng.integers(0, [[1], [3], [4], [4]], (4, count))[kind, np.arange(count)]
    number = np.minimum(number, size)
    chosen = rng.random(params.shape).argsort(axis=1) < number[:, None]
    if isinstance(task.space, LinearSpace):
        moved = np.round(params + rng.choice([-1, 1], params.shape) * rng.uniform(0.1, 1.2, params.shape), 1)
    else:
        actions = len(task.space.actions)
        moved = (params + rng.integers(1, actions, params.shape)) % actions
    return np.where(chosen, moved, params), number


def _levels(task: Task, count: int, rng: np.random.Generator) -> Floats:
    """What policies earn on average: at the floor, below `partial`, above it, above `high`."""
    marks = task.thresholds
    steps = np.array([task.floor, task.floor + marks.near_zero / 2, marks.partial, marks.high, task.optimum])
    kind = rng.choice(4, count, p=[0.2, 0.3, 0.3, 0.2])
    levels: Floats = steps[kind] + rng.random(count) * (steps[kind + 1] - steps[kind])
    return levels


def _returns(task: Task, levels: Floats, rng: np.random.Generator) -> Floats:
    """Returns of K rollouts each: equal in some, scattered in others, good but for few or bad but for few."""
    shape = (len(levels), ROLLOUTS)
    span = task.optimum - task.floor
    share = np.clip((levels - task.floor) / span, 0, 1)[:, None]
    if task.id in SUCCESS_TASKS:
        return (rng.random(shape) < share).astype(float)
    spread = rng.choice([0.0, 0.02, 0.15], len(levels), p=[0.1, 0.3, 0.6])[:, None]
    saturated = rng.random(shape) < 0.5 * (rng.random(len(levels)) < 0.3)[:, None]
    drawn = np.clip(share + spread * rng.normal(size=shape), 0, 1)
    returns = task.floor + span * np.where(saturated & (spread > 0), np.round(share), drawn)
    return np.round(returns) if task.id in COUNTED_TASKS else returns


def _candidates(
    task: Task,
    params: Floats,
    returns: Floats,
    source: Any,
    rng: np.random.Generator,
    pool: str,
    lengths: NDArray[np.int64],
) -> Iterator[Candidate]:
    count = len(params)
    steps = (
        np.maximum(np.abs(returns).astype(int), 1) if task.id in COUNTED_TASKS else rng.integers(1, 500, returns.shape)
    )
    seeds = rng.integers(0, 2**32, returns.shape)
    starts = rng.integers(0, len(pool) - lengths.max() - 1, count)
    cited = rng.integers(0, 2 * len(CITATIONS), count) if source == "critic" else np.full(count, len(CITATIONS))
    bounded = isinstance(task.space, LinearSpace)
    out_of_range = np.abs(params).max(axis=1) > (6 if bounded else np.inf)
    means = returns.mean(axis=1)
    for place in range(count):
        values = params[place].tolist()
        listed = ", ".join(f"params[{index}]: {value:g}" for index, value in enumerate(values))
        citation = CITATIONS[cited[place]] if cited[place] < len(CITATIONS) else ""
        start = starts[place]
        text = f"{listed}\n{pool[start : start + 40]}. {citation}{pool[start + 40 : start + lengths[place]]}"
        yield Candidate(
            params=values, out_of_range=bool(out_of_range[place]), source=source,
            answer=text if source == "search" else text[: lengths[place]], thinking=None,
            returns=returns[place].tolist(), lengths=steps[place].tolist(), seeds=seeds[place].tolist(),
            ended=["truncated" if length >= 499 else "terminated" for length in steps[place].tolist()],
            mean_return=float(means[place]),
        )  # fmt: skip


def _evidence(kind: Any, candidate: Candidate) -> Evidence | None:
    if kind is None:
        return None
    returns = np.array(candidate.returns)
    places: dict[RolloutLabel, int] = {
        "worst": int(returns.argmin()),
        "median": int(np.abs(returns - np.median(returns)).argmin()),
        "best": int(returns.argmax()),
        "representative": 0,
    }
    shown = [
        Shown(
            label=label,
            rollout=places[label],
            return_=candidate.returns[places[label]],
            length=candidate.lengths[places[label]],
        )
        for label in SHOWN[kind]
    ]
    return Evidence(kind=kind, shown=shown, statistics=_statistics(candidate) if kind == "median" else None)


def _statistics(candidate: Candidate) -> Statistics:
    ranges = [
        Range(mean=float(np.mean(values)), min=float(min(values)), max=float(max(values)))
        for values in (candidate.returns, candidate.lengths)
    ]
    return Statistics(returns=ranges[0], lengths=ranges[1], successes=0, rollouts=ROLLOUTS)


def main() -> None:
    """Write records from the command line."""
    parser = argparse.ArgumentParser(description="Write synthetic records.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--revisions", type=int, default=10_000)
    parser.add_argument("--answer-length", type=int, default=2000)
    options = parser.parse_args()
    write_records(options.folder, revisions=options.revisions, answer_length=options.answer_length)


if __name__ == "__main__":
    main()
