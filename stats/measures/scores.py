"""Scores of runs on a scale that tasks share, for the tasks on which methods can be compared."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stats.measures.ranks import DECIMALS


class Scale(NamedTuple):
    """The scale of a task's returns: the return of achieving nothing, score 0, and the optimum, score 1."""

    floor: float
    optimum: float


_KNOWN: Final = Path(__file__).with_name("optima.toml")

Scales = Mapping[tuple[str, str], Scale | str]
"""For each (condition, env) its scale, or why it has none."""


@dataclass(frozen=True)
class Comparison:
    """The methods of one condition, on the tasks that all of them have runs on.

    Attributes:
        condition: its name.
        methods: in alphabetical order.
        tasks: on which each of them has a run with a score, in alphabetical order.
        scores: rows with a finite score on one of these tasks; columns env, variant, run, score, and what there was.
        missing: for each method, how many of its runs on these tasks lack a score, in whole or in part.
        remarks: what was left out for all methods, and why.
    """

    condition: str
    methods: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: pd.DataFrame
    missing: Mapping[str, int]
    remarks: tuple[str, ...]

    def samples(self, method: str) -> list[NDArray[np.float64]]:
        """The scores of a method: for each task an array of shape (runs,)."""
        mine = self.scores[self.scores["variant"] == method]
        return [mine.loc[mine["env"] == task, "score"].to_numpy(dtype=float) for task in self.tasks]

    def note_missing(self, method: str) -> list[str]:
        """A remark on the runs of a method that lack a score, where there are any."""
        missing = self.missing[method]
        return [f"{missing} {'run misses' if missing == 1 else 'runs miss'} a return"] if missing else []


def known_scales() -> dict[str, Scale]:
    """The scales of the ten tasks."""
    return {task: Scale(**ends) for task, ends in tomllib.loads(_KNOWN.read_text(encoding="utf-8")).items()}


def find_scales(facts: pd.DataFrame, given: Mapping[str, Scale], known: Mapping[str, Scale]) -> Scales:
    """Find what returns are measured by.

    Args:
        facts: one row per run, with columns condition, env, floor and optimum. NaN is unknown.
        given: scales by task that override those of the records.
        known: scales by task for where the records have none.

    Returns:
        An end that some runs of a condition and task state holds for those that do not. Where runs disagree, nothing
        is given and nothing is known, there is a reason instead.
    """
    return {
        (str(condition), str(env)): _scale(frame, given.get(str(env)), known.get(str(env)))
        for (condition, env), frame in facts.groupby(["condition", "env"])
    }


def _scale(facts: pd.DataFrame, given: Scale | None, known: Scale | None) -> Scale | str:
    ends = []
    for end in Scale._fields:
        stated = {value for value in facts[end].astype(float) if math.isfinite(value)}
        if given:
            stated = {getattr(given, end)}
        elif not stated and known:
            stated = {getattr(known, end)}
        if len(stated) > 1:
            return f"its runs differ in {end}"
        if not stated:
            return f"no {end} known"
        ends.append(stated.pop())
    scale = Scale(*ends)
    return scale if scale.floor < scale.optimum else "its optimum is not above its floor"


def comparisons(runs: pd.DataFrame, column: str, scales: Scales) -> list[Comparison]:
    """Normalise returns, and keep the tasks on which all methods of a condition can be compared.

    Args:
        runs: columns condition, env, variant, run and the returns; one row per run, or several, such as iterations.
        column: of the returns. What is not finite is missing.
        scales: what each task of each condition is measured by.

    Returns:
        One per condition. Scores are rounded to twelve decimals, so that returns which are the same but for rounding
        error tie. They are not clipped: below the floor they are negative, above the optimum larger than 1.
    """
    return [_comparison(str(condition), frame, column, scales) for condition, frame in runs.groupby("condition")]


def _comparison(condition: str, runs: pd.DataFrame, column: str, scales: Scales) -> Comparison:
    methods, envs = (tuple(sorted(set(map(str, runs[name])))) for name in ("variant", "env"))
    values = runs[column].astype(float)
    finite = np.isfinite(values)
    begun = set(zip(runs["env"], runs["variant"], strict=True))
    held = set(zip(runs.loc[finite, "env"], runs.loc[finite, "variant"], strict=True))
    left_out = {}
    for env in envs:
        scale = scales.get((condition, env), "no optimum known")
        absent = [method for method in methods if (env, method) not in begun]
        blank = [method for method in methods if (env, method) in begun - held]
        if isinstance(scale, str):
            left_out[env] = scale
        elif absent or blank:
            reasons = (("no runs of", absent), ("no returns of", blank))
            left_out[env] = " and ".join(f"{what} {', '.join(those)}" for what, those in reasons if those)
    tasks = tuple(env for env in envs if env not in left_out)
    common = runs["env"].isin(tasks)
    floors, spans = (runs.loc[common, "env"].map(ends).astype(float) for ends in _ends(condition, tasks, scales))
    scores = runs[common].assign(score=((values[common] - floors) / spans).round(DECIMALS))
    lacking = scores[~finite[common]].drop_duplicates(["env", "variant", "run"])["variant"].value_counts()
    return Comparison(
        condition,
        methods,
        tasks,
        scores[finite[common]],
        {method: int(lacking.get(method, 0)) for method in methods},
        _remarks(left_out),
    )


def _ends(condition: str, tasks: Sequence[str], scales: Scales) -> tuple[dict[str, float], dict[str, float]]:
    """Floor and span of each task."""
    found = {task: scale for task in tasks if not isinstance(scale := scales[condition, task], str)}
    return (
        {task: scale.floor for task, scale in found.items()},
        {task: scale.optimum - scale.floor for task, scale in found.items()},
    )


def _remarks(left_out: Mapping[str, str]) -> tuple[str, ...]:
    if not left_out:
        return ()
    return ("left out " + ", ".join(f"{task} ({reason})" for task, reason in left_out.items()),)
