"""What the figures are made of: the audit's relations, loaded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from audit.problems import Problem
from audit.unfinished import unfinished
from figures.over_tasks import OverTasks, over_tasks
from figures.provenance import digest
from stats.tables import metrics

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Records:
    """The relations of one data set, what was wrong with its files, and which runs are unfinished.

    `revisions` is the audit's `revision_details`, `facts` its `run_facts`; the other frames are its relations of these
    names. `summary`, `salience`, `agreement`, `rates` and `noise` are the rows of its tables.
    """

    iterations: pd.DataFrame
    runs: pd.DataFrame
    facts: pd.DataFrame
    revisions: pd.DataFrame
    summary: Rows
    salience: Rows
    agreement: Rows
    rates: Rows = field(default_factory=list)
    noise: Rows = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)

    @property
    def conditions(self) -> list[str]:
        """The conditions that have a run, alphabetically."""
        return sorted(set(self.facts["condition"]) | set(self.iterations["condition"]))

    @cached_property
    def metrics(self) -> Rows:
        """Mean return, best return and stability gap of every method on every task, as `stats metrics` has them."""
        return metrics(self.runs)

    @cached_property
    def over_tasks(self) -> OverTasks:
        """The methods of every condition over all tasks."""
        return over_tasks(self.runs, self.iterations, self.facts)

    @property
    def digest(self) -> str:
        """SHA-256 of the iterations and revisions; the same for the same records in another folder."""
        return digest([self.iterations, self.revisions])


def load(paths: Sequence[Path], detector: str = "word", *, strict: bool = False) -> Records:
    """Open directories of records.

    Args:
        paths: directories in a layout that the audit reads.
        detector: how references to the worst rollout are found: `word`, `phrase`, `resolved`, `driver` or `judge`.
        strict: refuse data sets with unreadable records, rather than leaving those out.

    Raises:
        audit.problems.AuditError: a directory cannot be read, there is no finished iteration, or something is wrong and
            `strict` is set.
    """
    from audit.store import open_store

    with open_store(paths, strict=strict, detector=detector) as store:
        return Records(
            iterations=store.frame("iterations"),
            runs=store.frame("runs"),
            facts=store.frame("run_facts"),
            revisions=store.frame("revision_details"),
            summary=store.rows("summary"),
            salience=store.rows("salience_summary"),
            agreement=store.rows("agreement_summary"),
            rates=store.rows("base_rates"),
            noise=store.rows("noise_summary"),
            problems=list(store.problems),
            unfinished=unfinished(store.rows("run_facts")),
        )
