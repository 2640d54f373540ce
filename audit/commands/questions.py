"""The commands that look into records: check, show, find, sql, sensitivity."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Annotated, Literal

import typer

from audit.commands.reading import (
    Env,
    Iteration,
    OneCondition,
    PlansOption,
    RecordsPath,
    Run,
    Variant,
    printing,
    reading,
)
from audit.options import Analysis, Options, RevisionSelection, Thresholds
from audit.output.rows import Table

commands = typer.Typer()


@commands.command()
@reading(calls="audit.reports.check.report:check")
def check(
    facts: Annotated[
        bool,
        typer.Option(
            "--facts", help="In formats other than table, what the records hold instead of what they support."
        ),
    ] = False,
) -> None:
    """What records have and lack, and which commands they support.

    Example: audit check data/theirs logs.tar.xz
    """


@commands.command()
@reading(Analysis, output=False, paths=False)
def show(
    options: Options,
    path: RecordsPath,
    env: Env,
    variant: Variant,
    run: Run,
    iteration: Iteration,
    condition: OneCondition = None,
    output: Annotated[
        Literal["table", "json"], typer.Option("--format", help="Text to read, or one JSON object.")
    ] = "table",
) -> None:
    """One revision in full, to read: evidence, edits, classification and the critic's answer.

    Example: audit show data/runs cartpole threetraj 1 17
    """
    from audit.reports.explain import show

    revision = show(replace(options, paths=[path]), env, variant, run, iteration, condition=condition)
    is_coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    text = revision.coloured() if is_coloured else str(revision)
    typer.echo(revision.as_json() if output == "json" else text)


def _list_cases(wanted: bool) -> None:
    if wanted:
        from audit.reports.finding import listed

        typer.echo(listed())
        raise typer.Exit


@commands.command()
@reading(RevisionSelection)
def find(
    options: Options,
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
    return find(options, case, where, limit=limit)


@commands.command()
@printing("detector", "about", "overrides", "strict", "no_cache")
def sql(
    options: Options,
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR [QUERY]",
            help="Folders, tar archives or packs of records, then one SELECT; without it, the relations are listed.",
        ),
    ],
    plan: PlansOption = None,
) -> Table:
    """Query the relations of the analysis in DuckDB's SQL; nothing else can be read.

    Example: audit sql data/runs "select env, avg(delta) from revisions group by all"
    """
    from audit.reports.sql import query_of, relations, sql

    paths, query = query_of(arguments)
    return relations() if query is None else sql(replace(options, paths=paths), query, plan=plan or ())


@commands.command()
@reading(Thresholds, calls="audit.reports.sensitivity:sensitivity")
def sensitivity(
    steps: Annotated[int, typer.Option("--steps", min=2, max=101, help="Values tried for each threshold.")] = 5,
    spread: Annotated[
        float,
        typer.Option("--spread", min=0.0, max=1.0, help="Their range, as a share of the threshold in force."),
    ] = 0.5,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="TASK.KEY=A,B,C", help="Try these values, and no others; repeatable."),
    ] = None,
) -> None:
    """How the counts of the edit patterns move when one threshold moves.

    Example: audit sensitivity data/runs --vary cartpole.high=400,450,480
    """
