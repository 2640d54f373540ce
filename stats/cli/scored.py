"""Normalised scores of records, for the commands over several tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from audit.options import Options
from audit.output.errors import AuditError, UsageError
from audit.output.names import meant
from stats.cli.records import note, read
from stats.measures.scores import Comparison, Scale, comparisons, find_scales, known_scales
from stats.tables.efficiency import so_far

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Scored:
    """What can be compared, and what a reader of any table made of it must know."""

    comparisons: list[Comparison]
    caption: str | None
    asked: str | None = None

    def reference(self, default: str) -> str:
        """The method that others are compared with."""
        chosen = self.asked or default
        if self.comparisons and not any(chosen in comparison.methods for comparison in self.comparisons):
            note(f"no runs of {chosen}, the reference: there is no probability of improvement; see --reference")
        return chosen


def read_scored(
    options: Options, metric: str, given: Sequence[str], *, reference: str | None = None, curves: bool = False
) -> Scored:
    """Read the runs of some groups, or their iterations, and put their returns on the tasks' scales.

    Args:
        options: where to read, and which tasks, methods and conditions.
        metric: mean_return or best_return, for curves also kept_return.
        given: scales as a user writes them, TASK=FLOOR:OPTIMUM.
        reference: a method that was asked for beside them.
        curves: whether iterations are read, each with the run's score up to there.

    Raises:
        UsageError: a scale makes no sense.
        AuditError: it is of a task that is not there; or as `stats.cli.records.read` raises it.
    """
    scales = parse_scales(given)
    relation = "iterations" if curves else "runs"
    frames = read(options, [relation], None if reference is None else ("variant", reference))
    facts, returns = frames.of["run_facts"], frames.of[relation]
    scales = {meant(task, frames.tasks): scale for task, scale in scales.items()}
    if strange := sorted(set(scales) - set(frames.tasks)):
        raise AuditError(f"--scale {strange[0]}: no such task in the records; they hold {', '.join(frames.tasks)}")
    known = known_scales()
    _note_silent(facts, scales, known)
    if curves:
        returns = returns.sort_values(["condition", "env", "variant", "run", "iteration"], ignore_index=True)
        returns[metric] = so_far(returns, metric)
    return Scored(comparisons(returns, metric, find_scales(facts, scales, known)), frames.caption, frames.reference)


def parse_scales(given: Sequence[str]) -> dict[str, Scale]:
    """Scales by task, from TASK=FLOOR:OPTIMUM.

    Raises:
        UsageError: one of them is not of that form, or its optimum is not above its floor.
    """
    scales = {}
    for text in given:
        task, _, ends = text.partition("=")
        try:
            floor, optimum = map(float, ends.split(":"))
        except ValueError:
            raise UsageError(f"--scale {text!r}: give TASK=FLOOR:OPTIMUM, such as cartpole=0:500") from None
        if not (task and math.isfinite(floor) and math.isfinite(optimum) and floor < optimum):
            raise UsageError(f"--scale {text!r}: give a floor and an optimum above it, such as cartpole=0:500")
        scales[task] = Scale(floor, optimum)
    return scales


def _note_silent(facts: pd.DataFrame, given: Mapping[str, Scale], known: Mapping[str, Scale]) -> None:
    """Print which optima are not from the records."""
    stated = facts.groupby("env")["optimum"].count()
    silent = [env for env in _tasks(facts) if not stated[env] and env in known and env not in given]
    if silent:
        taken = ", ".join(f"{env} {known[env].optimum:g}" for env in silent)
        note(f"no optimum in the records, so that the tasks' own are taken: {taken}; see --scale")


def _tasks(facts: pd.DataFrame) -> list[str]:
    return sorted(set(facts["env"]))
