"""All revisions as their pages show them, read together: a query for many of them, not several for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from audit.records.locating import file_of
from audit.reports.explain import Recorded, put_together
from audit.reports.explain_sections import TEXT
from audit.store import rows_of
from audit.viewer.recorded import Beside
from audit.viewer.revision import lay_out, page_of
from audit.vocabulary.keys import RevisionKey, RunKey

if TYPE_CHECKING:
    from audit.store import Store
    from audit.viewer.session import Session

TOGETHER: Final = 1_000
"""Revisions that are read at once, unless a run has more."""


def details(session: Session, *, with_prompts: bool) -> Iterator[dict[str, Any]]:
    """The page of each revision, in the order of the table.

    Args:
        session: the records.
        with_prompts: whether the pages have the exact prompts.

    Yields:
        What `audit.viewer.revision` answers, without the place among others and without the file.
    """
    store = session.store
    beside = Beside(with_prompts=with_prompts)
    facts = _by_run(store, "run_facts")
    thresholds = _by_run(store, "thresholds")
    thresholds |= {key: row for key, row in _by_run(store, "edit_thresholds").items() if row["policy"] == TEXT}
    for runs, rows in _batches(session.table.full_rows()):
        episodes = _by_revision(store, "episodes", runs)
        answers = _by_revision(store, "critic_answers", runs)
        judgements = _by_revision(store, "judgements", runs)
        for row in rows:
            key = RevisionKey(*(row[name] for name in RevisionKey._fields))
            [episode] = episodes[key]
            recorded = Recorded(
                episode,
                thresholds[key[:-1]],
                facts[key[:-1]],
                answers.get(key, ()),
                judgements.get(key, ()),
                store.detected_by.is_judged,
            )
            chosen = [row] if row["worst"] is not None else []
            references = [{"detector": store.detected_by.name}] if row["cites"] is not None else []
            full = put_together(recorded, row, chosen, references)
            page = page_of(full, row)
            del page["row"]["file"]
            found = beside.of(key, file_of(row["file"], session.options.paths))
            lay_out(page, full, found["prompt"])
            yield {**page, **found}


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[list[RunKey], list[dict[str, Any]]]]:
    """Whole runs of one group, up to `TOGETHER` revisions."""
    for _, group in itertools.groupby(rows, lambda row: tuple(row[name] for name in RunKey._fields[:-1])):
        runs: list[RunKey] = []
        batch: list[dict[str, Any]] = []
        for _, of_run in itertools.groupby(group, lambda row: row["run"]):
            some = list(of_run)
            if batch and len(batch) + len(some) > TOGETHER:
                yield runs, batch
                runs, batch = [], []
            runs.append(RunKey(**{name: some[0][name] for name in RunKey._fields}))
            batch += some
        yield runs, batch


def _by_run(store: Store, relation: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {tuple(row[name] for name in RunKey._fields): row for row in rows_of(store.relation(relation))}


def _by_revision(store: Store, relation: str, runs: list[RunKey]) -> Mapping[RevisionKey, list[dict[str, Any]]]:
    """The rows of some runs of one group, by revision."""
    from duckdb import ColumnExpression, ConstantExpression

    found = store.relation(relation)
    for name, value in zip(RunKey._fields[:-1], runs[0], strict=False):
        found = found.filter(ColumnExpression(name) == ConstantExpression(value))
    found = found.filter(ColumnExpression("run").isin(*(ConstantExpression(run.run) for run in runs)))
    by_key: dict[RevisionKey, list[dict[str, Any]]] = {}
    for row in rows_of(found):
        by_key.setdefault(RevisionKey(*(row[name] for name in RevisionKey._fields)), []).append(row)
    return by_key
