"""The commands that check printed numbers against each other: `stats paper` and `stats check`."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from audit.commands.reading import printing
from audit.output.errors import UsageError
from audit.output.rows import Table
from audit.request import Request
from stats.cli.records import deliver

if TYPE_CHECKING:
    from stats.published.results import Result

commands = typer.Typer()
AllOption = Annotated[bool, typer.Option("--all", help="List consistent numbers too; JSON and CSV always do.")]


@commands.command()
@printing()
def paper(
    asked: Request,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Tables and claims in place of the published ones.")
    ] = None,
    everything: AllOption = False,
) -> None:
    """Recompute what the paper printed from what else it printed: tests, standard errors, counts, claims.

    Example: stats paper --format json
    """
    from stats.published.checks import check_paper

    _print(check_paper(data), asked, everything=everything)


@commands.command()
@printing()
def check(
    asked: Request,
    table: Annotated[Path, typer.Argument(metavar="FILE.csv", help="Summaries of methods and tests between them.")],
    alpha: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="A corrected p-value up to this is significant.")
    ] = 0.05,
    everything: AllOption = False,
) -> None:
    """Do the same for a table of your own: means, deviations and counts, and the tests made of them.

    Example: stats check docs/examples/own_table.csv --all
    """
    from stats.published.own_table import check_table

    if not 0 < alpha < 1:
        raise UsageError(f"--alpha {alpha}: give a number between 0 and 1")
    results = check_table(table, Decimal(repr(alpha)))
    if not results:
        typer.echo("stats: nothing to check: no test, and no standard error beside a standard deviation", err=True)
    _print(results, asked, everything=everything)


def _print(results: Sequence[Result], asked: Request, *, everything: bool) -> None:
    from stats.published.results import COLUMNS, Status

    for_programs = asked.output in {"json", "csv"}
    rows = [result.row() for result in results if everything or for_programs or result.status is not Status.consistent]
    if asked.output != "json":
        rows = [{key: _shown(value) if isinstance(value, str) else value for key, value in row.items()} for row in rows]

    def print_for_people(_: Table) -> None:
        from stats.published.report import report

        for line in report(results, everything=everything):
            print(_shown(line))

    title = "Printed numbers recomputed"
    deliver(Table(columns=COLUMNS, rows=rows, title=title, plain=True, print_for_people=print_for_people), asked)


def _shown(text: object) -> str:
    """Text of a user's file, made safe to print: on one line, control characters spelled out."""
    from audit.output.escaping import visible

    return visible(str(text)).replace("\n", " ")
