"""The command that finds worked examples: `audit find`."""

from __future__ import annotations

from typing import Annotated

import typer

from audit.commands.reading import reading
from audit.output.rows import Table
from audit.request import Request

commands = typer.Typer()


def _list_cases(wanted: bool) -> None:
    if wanted:
        from audit.reports.finding import listed

        typer.echo(listed())
        raise typer.Exit


@commands.command()
@reading(detector=True, thresholds=True, runs=True)
def find(
    request: Request,
    case: Annotated[
        str | None, typer.Option("--case", metavar="NAME", help="A kind of worked example; --cases lists them.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            "--where", metavar="SQL", help="A condition over the columns of audit revisions, such as 'r0 > 400'."
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10**9, help="How many to show.")] = 10,
    cases: Annotated[
        bool, typer.Option("--cases", is_eager=True, callback=_list_cases, help="List the cases, and exit.")
    ] = False,
) -> Table:
    """Revisions that make good worked examples of a case, best first, each with the command that shows it in full.

    Example: audit find data/runs --case conservative-repair --where "env = 'cartpole'"
    """
    from audit.reports.finding import find

    del cases
    return find(request, case, where, limit=limit)
