"""The command that checks printed numbers against each other."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from audit.commands.reading import printing
from audit.options import Options
from audit.output.errors import UsageError
from audit.output.escaping import visible
from audit.output.rows import Table
from stats.cli.records import deliver, note

commands = typer.Typer()


@commands.command()
@printing()
def check(
    asked: Options,
    table: Annotated[Path, typer.Argument(metavar="FILE.csv", help="Summaries of methods and tests between them.")],
    alpha: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="A corrected p-value up to this is significant.")
    ] = 0.05,
    everything: Annotated[
        bool, typer.Option("--all", help="List consistent numbers too; JSON and CSV always do.")
    ] = False,
) -> None:
    """Recompute the tests of a published table from its printed means, deviations and counts.

    Example: stats check docs/examples/own_table.csv --all
    """
    from stats.published.check import COLUMNS, check_table

    if not 0 < alpha < 1:
        raise UsageError(f"--alpha {alpha}: give a number between 0 and 1")
    results = check_table(table, alpha)
    if not results:
        note("nothing to check: no test, and no standard error beside a standard deviation")
    if asked.output != "json":
        results = [
            {key: _shown(value) if isinstance(value, str) else value for key, value in row.items()} for row in results
        ]
    rows = [row for row in results if everything or asked.output in {"json", "csv"} or row["status"] != "consistent"]

    def print_for_people(_: Table) -> None:
        for line in _lines(results, rows):
            print(line)

    title = "Printed numbers recomputed"
    deliver(Table(columns=COLUMNS, rows=rows, title=title, plain=True, print_for_people=print_for_people), asked)


def _lines(results: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How many numbers have which status, then each of some, with the reason."""
    counts = Counter(row["status"] for row in results)
    statuses = ("consistent", "inconsistent", "undecidable")
    numbers = "1 number" if len(results) == 1 else f"{len(results)} numbers"
    yield f"{numbers} recomputed: {', '.join(f'{counts[status]} {status}' for status in statuses)}"
    for status in ("inconsistent", "undecidable", "consistent"):
        here = [row for row in rows if row["status"] == status]
        if here:
            yield from ("", status.capitalize())
        for row in here:
            found = _recomputed(row["low"], row["high"])
            yield f"  {row['item']}, {row['quantity']}: printed {row['published']}, {found}"
            yield from textwrap.wrap(row["note"] or "", 100, initial_indent="    ", subsequent_indent="    ")


def _recomputed(low: float | None, high: float | None) -> str:
    least, most = (None if end is None else f"{end + 0.0:.6g}" for end in (low, high))
    if least is None and most is None:
        return "not recomputable"
    if least is None or most is None:
        return f"recomputed {f'at most {most}' if least is None else f'at least {least}'}"
    return f"recomputed {least if least == most else f'{least} to {most}'}"


def _shown(text: str) -> str:
    """Text of a user's file, made safe to print: on one line, control characters spelled out."""
    return visible(text).replace("\n", " ")
