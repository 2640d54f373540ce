"""What the figures are made of: the audit's relations, loaded once."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pandas as pd

from audit.options import Options
from audit.output.errors import AuditError, Problem
from audit.output.progress import SILENT, Progress
from audit.reports.answers import answers
from audit.reports.emptiness import are_texts
from audit.reports.unfinished import unfinished
from audit.store import Store, rows_of
from figures.over_tasks import OverTasks, over_tasks
from figures.provenance import digest
from stats.tables.metrics import metrics

Rows = list[dict[str, Any]]

FRAMES: Final[Mapping[str, str]] = {
    "iterations": "iterations",
    "runs": "runs",
    "facts": "run_facts",
    "revisions": "revisions",
}
"""The audit's relations by the fields of `Records` that hold them as data frames."""
ROWS: Final[Mapping[str, str]] = {
    "summary": "summary",
    "salience": "salience",
    "agreement": "agreement_summary",
    "rates": "base_rates",
    "noise": "noise_summary",
}
"""Likewise as rows."""
EXPERIMENTS: Final[Mapping[str, str]] = {"effects": "intervention_effects", "units": "intervention_units"}
"""Likewise of experiments, which filters of records leave as they are."""


@dataclass(frozen=True)
class Records:
    """The relations of one data set, as `FRAMES`, `ROWS` and `EXPERIMENTS` list them.

    `answers` are the sentences of `audit salience`, `problems` those of its files, `unfinished` runs that did not end,
    `plans` the files of its experiments.
    """

    iterations: pd.DataFrame
    runs: pd.DataFrame
    facts: pd.DataFrame
    revisions: pd.DataFrame
    summary: Rows
    salience: Rows
    agreement: Rows
    answers: list[str] = field(default_factory=list)
    rates: Rows = field(default_factory=list)
    noise: Rows = field(default_factory=list)
    effects: Rows = field(default_factory=list)
    units: Rows = field(default_factory=list)
    plans: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)

    @property
    def conditions(self) -> list[str]:
        """The conditions that have a run, alphabetically."""
        return sorted(set(self.facts["condition"]) | set(self.iterations["condition"]))

    def revises_texts(self, condition: str | None = None) -> bool:
        """Whether the runs, of a condition or all, revise texts, whose scores are of other examples each time."""
        here = self.facts if condition is None else self.facts[self.facts["condition"] == condition]
        return bool(len(here)) and "candidates" in here and bool((here["candidates"] == "text").all())

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


def load(options: Options, progress: Progress = SILENT) -> Records:
    """Read records.

    Args:
        options: where they are, which tasks, methods and conditions, and how references to the worst rollout are found.
        progress: of the relations that are computed.

    Raises:
        audit.output.errors.AuditError: no finished iteration is of what was asked for, or as `Options.read` raises it.
    """
    with options.read() as store:
        with progress:
            progress.begin(len(FRAMES) + len(ROWS), "records read", counted=False)
            fields = {}
            for field in (*FRAMES, *ROWS):
                fields[field] = _read(store, field, options)
                progress.advance()
        others = ("answers", *EXPERIMENTS, "plans", "problems", "unfinished")
        records = Records(**fields, **{field: _read(store, field, options) for field in others})
    if records.iterations.empty:
        raise AuditError("nothing to draw: no finished iteration of these in the records")
    return records


def records_of(store: Store) -> Records:
    """The records of an open store; each relation is read when it is first needed, once for a store."""
    if store not in _OPEN:
        _OPEN[store] = _OfStore(store)
    return _OPEN[store]


class _OfStore(Records):
    """Records whose fields are read from a store when they are asked for."""

    def __init__(self, store: Store) -> None:
        self.__dict__["_store"] = weakref.proxy(store)

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = _read(self._store, name)
        return found


def _read(store: Store, field: str, options: Options | None = None) -> Any:
    """A field of records: of the selected runs, or of all."""
    if field in FRAMES:
        return options.select(store.relation(FRAMES[field])).df() if options else store.frame(FRAMES[field])
    if field in ROWS or field == "unfinished":
        name = ROWS.get(field, "run_facts")
        rows = rows_of(options.select(store.relation(name))) if options else store.rows(name)
        return rows if field in ROWS else unfinished(rows)
    if field in EXPERIMENTS:
        return store.rows(EXPERIMENTS[field]) if store.plans else []
    if field == "answers":
        options = options or Options()
        rows = rows_of(options.select(store.relation("salience")))
        return answers(rows, store, of_texts=are_texts(options, store))
    if field not in ("plans", "problems"):
        raise AttributeError(field)
    return list(getattr(store, field))


_OPEN: Final[weakref.WeakKeyDictionary[Store, Records]] = weakref.WeakKeyDictionary()
