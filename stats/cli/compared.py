"""The commands over single tasks: `stats metrics` and `stats compare`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from audit.options import Detection, Options
from audit.output.errors import AuditError, UsageError, count
from audit.output.rows import Table
from stats.cli.records import Frames, deliver, note, read, reading

if TYPE_CHECKING:
    import pandas as pd

    from stats.tables.metrics import Row

commands = typer.Typer()

EQUAL: Final = ", at equal cost"
CALL_COST: Final = 20.0
"""Rollouts that a call costs as much as."""

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


EqualCost = Annotated[
    bool,
    typer.Option("--equal-cost", help="Cut every run at the cost of the cheapest one on its task."),
]
CallCost = Annotated[
    float, typer.Option(min=0.0, max=1e9, help="Rollouts that a call costs as much as, with --equal-cost.")
]


@commands.command()
@reading()
def metrics(options: Options, equal_cost: EqualCost = False, call_cost: CallCost = CALL_COST) -> None:
    """Mean return, best return and stability gap of every method on every task, averaged over runs.

    Example: stats metrics data/runs --format csv
    """
    from stats.tables import metrics as tables

    frames = read(options, ["iterations" if equal_cost else "runs"])
    runs = _at_equal_cost(frames, call_cost) if equal_cost else frames.of["runs"]
    title = f"Returns, averaged over runs{EQUAL if equal_cost else ''}"
    deliver(_table(tables.metrics(runs), tables.METRICS_COLUMNS, title, frames.caption), options)


@commands.command()
@reading(Detection)
def compare(
    options: Options,
    reference: Annotated[
        str, typer.Option(help="The method that the others are compared with; with --conditions the condition.")
    ] = "r2po",
    conditions: Annotated[
        bool,
        typer.Option("--conditions", help="Compare the conditions of each method, such as with and without a remedy."),
    ] = False,
    metric: Annotated[
        MetricName, typer.Option(help="Which number of a run is compared: a return, or a share of its revisions.")
    ] = MetricName.mean_return,
    alpha: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="A corrected p-value up to this is significant.")
    ] = 0.05,
    equal_cost: EqualCost = False,
    call_cost: CallCost = CALL_COST,
) -> None:
    """Welch's t-test of one method against every other on every task, corrected after Holm over the tasks.

    Or, with --conditions, of one condition against every other, method by method.

    Example: stats compare data/runs --reference reptraj --metric regressions_pct
    """
    from stats.tables import metrics as tables

    if not 0 < alpha < 1:
        raise UsageError(f"--alpha {alpha}: give a number between 0 and 1")
    if equal_cost and metric.value not in tables.METRICS:
        raise UsageError(f"--equal-cost: a share of revisions has no cost; give --metric {' or '.join(tables.METRICS)}")
    compared, within = ("condition", "variant") if conditions else ("variant", "condition")
    frames = read(options, ["iterations" if equal_cost else "run_rates"], (compared, reference))
    reference = frames.reference or reference
    runs = _at_equal_cost(frames, call_cost) if equal_cost else frames.of["run_rates"]
    runs = runs.rename(columns={compared: "variant", within: "condition"})
    try:
        rows = tables.compare(runs, reference, metric.value, alpha)
    except tables.MissingReferenceError as error:
        rows = []
        note(f"nothing to compare: --reference {reference}: {error}")
    else:
        if not rows:
            note(f"nothing to compare: the records hold no {'condition' if conditions else 'method'} but {reference}")
    title = f"{reference} against the others, {metric.value.replace('_', ' ')}{EQUAL if equal_cost else ''}"
    columns = [within if name == "condition" else name for name in tables.COMPARE_COLUMNS]
    rows = [{within if name == "condition" else name: value for name, value in row.items()} for row in rows]
    deliver(_table(rows, columns, title, frames.caption, plain=conditions), options)


def _at_equal_cost(frames: Frames, call_cost: float) -> pd.DataFrame:
    """The runs up to the cost of the cheapest one on each task, which is printed."""
    from stats.tables.costs import at_equal_cost

    try:
        found = at_equal_cost(frames.of["iterations"], frames.of["run_facts"], call_cost)
    except ValueError as error:
        raise AuditError(f"--equal-cost: {error}") from None
    budgets = ", ".join(f"{env} {budget:,.10g}" for env, budget in found.budgets.items())
    note(f"runs are cut at the cost of the cheapest one, in rollouts with {call_cost:g} to a call: {budgets or 'none'}")
    if found.dearer:
        note(f"{count(found.dearer, 'run')} left out: the first iteration costs more than that")
    return found.runs


def _table(
    rows: Sequence[Row], columns: Sequence[str], title: str, caption: str | None, *, plain: bool = False
) -> Table:
    # A column of notes is shown only where it has any.
    shown = [c for c in columns if c not in _TECHNICAL and (c != "note" or any(row[c] for row in rows))]
    return Table(columns=columns, rows=rows, title=title, essential=shown, caption=caption, plain=plain)
