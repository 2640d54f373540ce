"""The `stats` command: options in, one table out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from audit.commands.options import OPTION_ERROR, ending, wrong_option
from audit.commands.overview import Overview
from audit.commands.version import HELP, program
from audit.engine.memory import require_memory
from audit.output.errors import UsageError
from audit.output.rows import Table
from audit.request import Request
from collector.system.stopping import INTERRUPTED, answering
from collector.system.streams import keep_streams
from stats.cli import aggregate, published
from stats.cli.records import deliver, read, reading
from stats.cli.records import note as _note

if TYPE_CHECKING:
    from stats.tables.metrics import Row

app = typer.Typer(
    name="stats",
    cls=Overview,
    help="Average the returns of runs, and test methods against each other.",
    epilog="Example: stats compare data/runs --reference r2po --metric best_return --format latex",
    callback=program,
    context_settings=HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(published.commands)

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


@app.command()
@reading()
def metrics(request: Request) -> None:
    """Mean return, best return and stability gap of every method on every task, averaged over runs.

    Example: stats metrics data/runs --format csv
    """
    from stats.tables import metrics as tables

    frames = read(request, ["runs"])
    rows = tables.metrics(frames.of["runs"])
    deliver(_table(rows, tables.METRICS_COLUMNS, "Returns, averaged over runs", frames.caption), request)


@app.command()
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
        _note(f"nothing to compare: --reference {reference}: {error}")
    else:
        if not rows:
            _note(f"nothing to compare: the records hold no method but {reference}")
    title = f"{reference} against the others, {metric.value.replace('_', ' ')}"
    deliver(_table(rows, tables.COMPARE_COLUMNS, title, frames.caption), request)


aggregate.register(app)


def _table(rows: Sequence[Row], columns: Sequence[str], title: str, caption: str | None) -> Table:
    # A column of notes is shown only where it has any.
    shown = [c for c in columns if c not in _TECHNICAL and (c != "note" or any(row[c] for row in rows))]
    return Table(columns=columns, rows=rows, title=title, essential=shown, caption=caption)


def main() -> None:
    """Entry point of the `stats` command: exit status 2 for wrong usage, 1 for failure, 130 for Ctrl-C and the like."""
    keep_streams()
    with answering("stats: interrupted"), _reported():
        require_memory()
        status = app(prog_name="stats", standalone_mode=False)
        sys.stdout.flush()
        if status == INTERRUPTED:  # how newer versions of Typer report Ctrl-C
            raise KeyboardInterrupt
        sys.exit(status)


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except OPTION_ERROR as error:
        _exit(wrong_option(error, "stats"), 2)
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe; the interpreter must not try to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (Exception, KeyboardInterrupt) as error:
        _exit(*ending(error))


def _exit(message: str, status: int) -> None:
    _note(message)
    sys.exit(status)
