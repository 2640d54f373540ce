"""From a request on the command line to its result on standard output, and notes on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.output.errors import count
from audit.output.escaping import in_line
from audit.output.formats import WRITERS, Row, as_json
from audit.output.rows import LONGEST_TABLE
from audit.output.tables import print_table
from audit.request import Request, note, tell
from audit.store import Store

if TYPE_CHECKING:
    import duckdb

TITLES: Final = {
    "summary": "Revisions",
    "salience": "Salience-problem regressions by the detector {detector} (percentages of regressions)",
    "base_rates": "Who cites the worst rollout, by the detector {detector}",
    "noise_summary": "Regressions, and those that no change would have produced; beyond noise: p <= 0.05",
    "controls": "Regressions against puresearch's that start equally well (percentages of revisions)",
    "severity_summary": "How far the worst rollout stands out, and who cites it, by the detector {detector}",
    "agreement_summary": "Agreement of worst, median and best rollout",
    "patterns_summary": "Edit patterns (percentages of revisions)",
    "revisions": "Revisions",
    "runs": "Runs",
    "mentions": "Mentions of rollouts",
}

ESSENTIAL: Final = {
    "salience": [
        *("condition", "env", "variant", "revisions", "regressions", "strict", "permissive"),
        *("citing_regressions_pct", "citing_improvements_pct", "citing_no_change_pct", "risk_ratio"),
    ],
    "noise_summary": [
        *("condition", "env", "variant", "revisions", "regressions", "expected_regressions", "expected_pooled"),
        *("beyond_noise", "strict", "strict_beyond_noise"),
    ],
    "controls": [
        *("condition", "env", "variant", "start", "regressions", "control_regressions", "difference_pct"),
    ],
    "severity_summary": [
        *("condition", "env", "variant", "degree", "revisions", "citing", "regressions"),
        *("regressions_citing_pct", "regressions_not_citing_pct", "mean_delta"),
    ],
    "base_rates": [
        *("condition", "env", "variant", "runs", "citing_regressions", "citing_improvements", "citing_no_change"),
        *("regressions_citing_pct", "regressions_not_citing_pct", "risk_ratio", "holm_p"),
    ],
    "revisions": [
        *("condition", "env", "variant", "run", "iteration", "r0", "r1", "delta"),
        *("edit_distance", "references_worst", "strict", "pattern"),
    ],
    "mentions": [
        *("condition", "env", "variant", "run", "iteration", "part", "text", "kind", "labels", "rollouts", "worst"),
        *("negated", "discounted"),
    ],
}
"""Columns of a table for people, where all of them are too many."""

HEADINGS: Final = {
    "citing_regressions_pct": "citing regr. %",
    "citing_improvements_pct": "citing impr. %",
    "citing_no_change_pct": "citing same %",
    "regressions_citing_pct": "regr. if citing %",
    "regressions_not_citing_pct": "regr. if not %",
}
"""What stands above a column of a table for people, where its name is too long."""

NO_CONTROL: Final = (
    "no puresearch beside these methods, under the same condition and task: there is nothing to hold them against"
)

NOTHING: Final = "nothing to show: no such rows in the records"

THREE_ROLLOUTS: Final = ("salience", "base_rates", "severity_summary", "agreement_summary")
"""Relations that only know methods whose critic sees worst, median and best."""


def print_packed(path: Path, out: Path | None, *, force: bool, strict: bool, cache: bool) -> None:
    """Pack a data set and tell what came of it."""
    from audit.packing import pack

    packed = pack(path, out, force=force, strict=strict, cache=cache)
    tell(packed.notes, packed.problems, "packed as they are")
    sys.stdout.write(
        f"{in_line(str(packed.path))}: {count(packed.runs, 'run')}, {packed.size_before / 1e6:.1f} MB of records in "
        f"{packed.size_after / 1e6:.1f} MB\n"
    )


def print_relation(request: Request, name: str) -> None:
    """Print one relation in the format that was asked for."""
    with request.open() as store:
        relation = request.select(store.relation(name))
        held = bool(relation.limit(1).fetchall())
        if not held:
            note(_why_empty(name))
        caption = simulated_caption(request, store)
        if caption:
            note(caption)
        if name == "controls" and held and not relation.filter("control_runs > 0").limit(1).fetchall():
            note(NO_CONTROL)
            if request.output == "table":  # half of which would be empty
                return
        if request.output == "table":
            _print_for_people(name, relation, TITLES[name].format(detector=request.detector), caption)
        else:
            columns = list(relation.columns)
            WRITERS[request.output](columns, _stream(relation), sys.stdout, caption)


def print_revision(request: Request, env: str, variant: str, run: int, iteration: int, condition: str | None) -> None:
    """Print one revision in full."""
    from audit.reports.explain import as_text, find_revision

    with request.open() as store:
        revision = find_revision(store, env, variant, run, iteration, condition)
    sys.stdout.write(as_json(revision, indent=1) if request.output == "json" else as_text(revision))
    sys.stdout.write("\n")


def _print_for_people(name: str, relation: duckdb.DuckDBPyRelation, title: str, caption: str | None) -> None:
    columns = ESSENTIAL.get(name, list(relation.columns))
    rows = list(_stream(relation.limit(LONGEST_TABLE)))
    notes = [caption] if caption else []
    if len(columns) < len(relation.columns):
        notes.append(f"{len(columns)} of {len(relation.columns)} columns; the other formats have all.")
    if len(rows) == LONGEST_TABLE:
        [(every,)] = relation.aggregate("count(*)").fetchall()
        notes.append(f"First {LONGEST_TABLE} of {every} rows; the other formats have all.")
    print_table(columns, rows, title=title, caption="\n".join(notes) or None, headings=HEADINGS)


def _stream(relation: duckdb.DuckDBPyRelation) -> Iterator[Row]:
    columns = relation.columns
    return (dict(zip(columns, row, strict=True)) for row in relation.iter_rows())


def simulated_caption(request: Request, store: Store) -> str | None:
    """What must stand beside results of the simulated backend; None where there are none."""
    runs = request.select(store.relation("run_records"))
    rows: list[tuple[Any, ...]] = runs.select("condition, backend").distinct().fetchall()
    simulated = sorted({condition for condition, backend in rows if backend == "simulated"})
    if not simulated:
        return None
    everything = len(simulated) == len({condition for condition, _ in rows})
    which = "" if everything else in_line(f" in {', '.join(simulated)}")
    return f"Backend: simulated{which}. The answers are not a language model's."


def _why_empty(name: str) -> str:
    if name in THREE_ROLLOUTS:
        return "no revisions of threetraj here, or of another method whose critic sees worst, median and best"
    return NOTHING
