"""The commands over single tasks: `stats metrics` and `stats compare`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from audit.output.errors import UsageError
from audit.output.rows import Table
from audit.request import Request
from stats.cli.records import deliver, note, read, reading

if TYPE_CHECKING:
    from stats.tables.metrics import Row

commands = typer.Typer()

_TECHNICAL: Final = frozenset(
    {
        "mean_return_se",
        "best_return_se",
        "reference",
        "metric",
        "reference_runs",
        "reference_std",
        "baseline_runs",
        "baseline_std",
        "welch_t",
        "df",
        "raw_p",
        "family",
    }
)
"""Columns that are not essential."""


class MetricName(StrEnum):
    """Which number of a run is compared."""

    mean_return = "mean_return"
    best_return = "best_return"
    regressions_pct = "regressions_pct"
    citing_pct = "citing_pct"


@commands.command()
@reading()
def metrics(request: Request) -> None:
    """Mean return, best return and stability gap of every method on every task, averaged over runs.

    Example: stats metrics data/runs --format csv
    """
    from stats.tables import metrics as tables

    frames = read(request, ["runs"])
    rows = tables.metrics(frames.of["runs"])
    deliver(_table(rows, tables.METRICS_COLUMNS, "Returns, averaged over runs", frames.caption), request)


@commands.command()
@reading(detector=True)
def compare(
    request: Request,
    reference: Annotated[str, typer.Option(help="The method that the others are compared with.")] = "r2po",
    metric: Annotated[
        MetricName, typer.Option(help="Which number of a run is compared: a return, or a share of its revisions.")
    ] = MetricName.mean_return,
    alpha: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="A corrected p-value up to this is significant.")
    ] = 0.05,
) -> None:
    """Welch's t-test of one method against every other on every task, corrected after Holm over the tasks.

    Example: stats compare data/runs --reference reptraj --metric regressions_pct
    """
    from stats.tables import metrics as tables

    if not 0 < alpha < 1:
        raise UsageError(f"--alpha {alpha}: give a number between 0 and 1")
    frames = read(request, ["run_rates"], reference)
    try:
        rows = tables.compare(frames.of["run_rates"], reference, metric.value, alpha)
    except tables.MissingReferenceError as error:
        rows = []
        note(f"nothing to compare: --reference {reference}: {error}")
    else:
        if not rows:
            note(f"nothing to compare: the records hold no method but {reference}")
    title = f"{reference} against the others, {metric.value.replace('_', ' ')}"
    deliver(_table(rows, tables.COMPARE_COLUMNS, title, frames.caption), request)


def _table(rows: Sequence[Row], columns: Sequence[str], title: str, caption: str | None) -> Table:
    # A column of notes is shown only where it has any.
    shown = [c for c in columns if c not in _TECHNICAL and (c != "note" or any(row[c] for row in rows))]
    return Table(columns=columns, rows=rows, title=title, essential=shown, caption=caption)
