"""From a request on the command line to its result on standard output, and notes on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.explain import as_text, find_revision
from audit.formats import WRITERS, Row, as_json
from audit.problems import count
from audit.request import Request, note, tell
from audit.store import Store
from audit.tables import print_table

if TYPE_CHECKING:
    import duckdb

LONGEST_TABLE: Final = 500
"""Rows that a table for people has at most; the other formats have all."""

TITLES: Final = {
    "summary": "Revisions",
    "salience_summary": "Salience-problem regressions (percentages of regressions)",
    "agreement_summary": "Agreement of worst, median and best rollout",
    "patterns_summary": "Edit patterns (percentages of revisions)",
    "revision_details": "Revisions",
    "runs": "Runs",
    "mentions": "Mentions of rollouts",
}

ESSENTIAL: Final = {
    "revision_details": [
        *("condition", "env", "variant", "run", "iteration", "r0", "r1", "delta"),
        *("edit_distance", "references_worst", "strict", "pattern"),
    ],
    "mentions": [
        *("condition", "env", "variant", "run", "iteration", "part", "text", "kind", "labels", "rollouts", "worst"),
        *("negated", "discounted"),
    ],
}
"""Columns of a table for people, where all of them are too many."""

THREE_ROLLOUTS: Final = ("salience_summary", "agreement_summary")
"""Relations that only know methods whose critic sees worst, median and best."""


def print_packed(path: Path, out: Path | None, *, force: bool, strict: bool, cache: bool) -> None:
    """Pack a data set and tell what came of it."""
    from audit.pack import pack

    packed = pack(path, out, force=force, strict=strict, cache=cache)
    tell(packed.notes, packed.problems, "packed as they are")
    sys.stdout.write(
        f"{packed.path}: {count(packed.runs, 'run')}, {packed.size_before / 1e6:.1f} MB of records in "
        f"{packed.size_after / 1e6:.1f} MB\n"
    )


def print_relation(request: Request, name: str) -> None:
    """Print one relation in the format that was asked for."""
    with request.open() as store:
        relation = request.select(store.relation(name))
        if not relation.limit(1).fetchall():
            note(_why_empty(request, store, name))
        caption = _caption(request, store)
        if caption:
            note(caption)
        if request.output == "table":
            _print_for_people(name, relation, caption)
        else:
            columns = list(relation.columns)
            WRITERS[request.output](columns, _stream(relation), sys.stdout, caption)


def print_revision(request: Request, env: str, variant: str, run: int, iteration: int, condition: str | None) -> None:
    """Print one revision in full."""
    with request.open() as store:
        revision = find_revision(store, env, variant, run, iteration, condition)
    sys.stdout.write(as_json(revision, indent=1) if request.output == "json" else as_text(revision))
    sys.stdout.write("\n")


def _print_for_people(name: str, relation: duckdb.DuckDBPyRelation, caption: str | None) -> None:
    columns = ESSENTIAL.get(name, list(relation.columns))
    rows = list(_stream(relation.limit(LONGEST_TABLE)))
    notes = [caption] if caption else []
    if len(columns) < len(relation.columns):
        notes.append(f"{len(columns)} of {len(relation.columns)} columns; the other formats have all.")
    if len(rows) == LONGEST_TABLE:
        [(every,)] = relation.aggregate("count(*)").fetchall()
        notes.append(f"First {LONGEST_TABLE} of {every} rows; the other formats have all.")
    print_table(columns, rows, title=TITLES[name], caption="\n".join(notes) or None)


def _stream(relation: duckdb.DuckDBPyRelation) -> Iterator[Row]:
    columns = relation.columns
    return (dict(zip(columns, row, strict=True)) for row in relation.iter_rows())


def _caption(request: Request, store: Store) -> str | None:
    runs = request.select(store.relation("run_records"))
    rows: list[tuple[Any, ...]] = runs.select("condition, backend").distinct().fetchall()
    simulated = sorted({condition for condition, backend in rows if backend == "simulated"})
    if not simulated:
        return None
    everything = len(simulated) == len({condition for condition, _ in rows})
    which = "" if everything else f" in {', '.join(simulated)}"
    return f"Backend: simulated{which}. The answers are not a language model's."


def _why_empty(request: Request, store: Store, name: str) -> str:
    if absent := request.absent(store.relation("run_records")):
        return absent
    if name in THREE_ROLLOUTS:
        return "no revisions of threetraj here, or of another method whose critic sees worst, median and best"
    return "nothing to show: no such rows in the records"
