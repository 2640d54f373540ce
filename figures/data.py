"""What the figures are made of: the audit's relations, loaded once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from audit.output.errors import AuditError, Problem
from audit.reports.unfinished import unfinished
from audit.request import Request
from audit.store import rows_of
from figures.plots.over_tasks import OverTasks, over_tasks
from figures.provenance import digest
from stats.tables.metrics import metrics

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Records:
    """The relations of one data set, what was wrong with its files, and which runs are unfinished.

    `revisions` is the audit's `revisions`, `facts` its `run_facts`; the other frames are its relations of these
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


def load(request: Request) -> Records:
    """Open records.

    Args:
        request: where they are, which tasks, methods and conditions, and how references to the worst rollout are found.

    Raises:
        audit.output.errors.AuditError: no finished iteration is of what was asked for, or as `Request.read` raises it.
    """
    with request.read() as store:

        def frame(name: str) -> pd.DataFrame:
            found: pd.DataFrame = request.select(store.relation(name)).df()
            return found

        def rows(name: str) -> Rows:
            return rows_of(request.select(store.relation(name)))

        iterations = frame("iterations")
        if iterations.empty:
            raise AuditError("nothing to draw: no finished iteration of these in the records")
        return Records(
            iterations=iterations,
            runs=frame("runs"),
            facts=frame("run_facts"),
            revisions=frame("revisions"),
            summary=rows("summary"),
            salience=rows("salience"),
            agreement=rows("agreement_summary"),
            rates=rows("base_rates"),
            noise=rows("noise_summary"),
            problems=list(store.problems),
            unfinished=unfinished(rows("run_facts")),
        )
