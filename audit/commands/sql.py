"""The command that answers a query: `audit sql`."""

from __future__ import annotations

from typing import Annotated

import typer

from audit.commands.options import NoCacheOption, StrictOption
from audit.commands.printing import Printing, deliver, printing
from audit.commands.reading import AboutOption, DetectorOption, PlansOption, SetOption
from audit.request import Request

commands = typer.Typer()


@commands.command()
@printing
def sql(
    asked: Printing,
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR [QUERY]",
            help="Folders, tar archives or packs of records, then one SELECT; without it, the relations are listed.",
        ),
    ],
    detector: DetectorOption = None,
    about: AboutOption = None,
    overrides: SetOption = None,
    strict: StrictOption = False,
    no_cache: NoCacheOption = False,
    plan: PlansOption = None,
) -> None:
    """Query the relations of the analysis in DuckDB's SQL; nothing else can be read.

    Example: audit sql data/runs "select env, avg(delta) from revisions group by all"
    """
    from audit.reports.sql import query_of, relations, sql

    paths, query = query_of(arguments)
    if query is None:
        deliver(relations(), asked)
        return
    request = Request(
        paths=paths, strict=strict, cache=not no_cache, detector=detector, about=about, settings=overrides
    )
    deliver(sql(request, query, plan=plan or ()), asked)
