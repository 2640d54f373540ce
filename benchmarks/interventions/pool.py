"""The prompts that data sets are drawn from: ThreeTraj runs of the salient critic on three tasks."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from audit.interventions.showing import Evidence
from audit.interventions.units import Unit, draw, eligible
from audit.records.lines import open_records
from audit.vocabulary.keys import RevisionKey, RunKey
from collector.llm.simulated import SimulatedModel
from collector.plan import Request, plan
from collector.run_folder import RunFolder
from collector.search import search

T = TypeVar("T")


class Size(NamedTuple):
    """Runs and iterations of a task."""

    runs: int
    iterations: int


POOL: Final[Mapping[str, Size]] = dict.fromkeys(
    ("inverteddoublependulum", "mountaincarcontinuous", "cartpole"), Size(24, 24)
)
"""Tasks on which edits for different rollouts can be told apart; on CartPole returns can be read off the steps."""


@dataclass(frozen=True)
class Pool:
    """Eligible units with what their arms are made from."""

    units: Mapping[RevisionKey, tuple[Unit, Evidence]]

    @cached_property
    def by_run(self) -> Mapping[RunKey, list[Unit]]:
        """The units of each run."""
        found: dict[RunKey, list[Unit]] = {}
        for unit, _ in self.units.values():
            found.setdefault(unit.cluster, []).append(unit)
        return found

    def draw(self, units: int, runs: int, seed: int) -> list[Unit]:
        """Units of some runs, evenly over tasks, as a plan draws them.

        Args:
            units: how many, at most.
            runs: of how many runs.
            seed: of both draws.
        """
        rng = np.random.default_rng(seed)
        envs = sorted({run.env for run in self.by_run})
        chosen: list[Unit] = []
        for place, env in enumerate(envs):
            of_env = [run for run in self.by_run if run.env == env]
            share = runs // len(envs) + (place < runs % len(envs))
            for index in rng.choice(len(of_env), size=min(share, len(of_env)), replace=False):
                chosen += self.by_run[of_env[index]]
        return draw(chosen, units, seed)


def make_pool(folder: Path, sizes: Mapping[str, Size] = POOL) -> Pool:
    """Collect the runs, or read what an earlier call has kept in the folder.

    Args:
        folder: for the records and what is made of them.
        sizes: by task.
    """
    kept = folder / "pool.pickle"
    if kept.exists():
        with kept.open("rb") as stream:
            return Pool(pickle.load(stream))  # noqa: S301 - written by this function
    for env, size in sizes.items():
        _collect(folder / "runs", env, size)
    with open_records([folder / "runs"]) as records:
        found = eligible(records, records.runs, spliced=False, needs=frozenset({"rollouts"}), further=True)
    # Written at once, so that an interrupted call leaves no half of it.
    part = kept.with_suffix(".part")
    part.write_bytes(pickle.dumps(found.units))
    part.replace(kept)
    return Pool(found.units)


def _collect(out: Path, env: str, size: Size) -> None:
    model = SimulatedModel()
    request = Request(
        envs=[env],
        variants=["threetraj"],
        runs=size.runs,
        iterations=size.iterations,
        backend=model.backend,
        model=model.name,
        options=model.options,
    )

    async def run_all() -> None:
        for spec in plan(request):
            with RunFolder(out / spec.folder) as run:
                await search(spec, run, model, _inline, lambda _: None)

    asyncio.run(run_all())


async def _inline(function: Callable[..., T], *args: Any) -> T:
    return function(*args)
