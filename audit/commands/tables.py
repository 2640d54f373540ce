"""The commands that print one relation each: functions of the library as they are."""

from __future__ import annotations

from typing import Annotated

import typer

from audit.commands.reading import MarksOption, reading
from audit.options import Classification, Detection, RevisionSelection, RunSelection, Selection, Thresholds
from audit.reports import positions, tables

commands = typer.Typer()

for function, kind in (
    (tables.summary, Selection),
    (tables.salience, Detection),
    (tables.rates, Detection),
    (tables.noise, Detection),
    (tables.controls, Classification),
    (tables.severity, Detection),
    (tables.agreement, Selection),
    (positions.positions, Selection),
):
    commands.command()(reading(kind)(function))


@commands.command()
@reading(Thresholds, calls="audit.reports.side_by_side:patterns")
def patterns(
    wide: Annotated[
        bool, typer.Option("--wide", help="Methods side by side, a row per pattern, failure patterns named.")
    ] = False,
) -> None:
    """How often each edit pattern occurs; percentages are of all revisions.

    Example: audit patterns logs/ --set cartpole.high=460 --set pong.partial=1.2
    """


@commands.command()
@reading(RevisionSelection, calls="audit.reports.tables:revisions")
def revisions(
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="NAME", help="Only revisions with this tag of the viewer; repeatable."),
    ] = None,
    starred: Annotated[bool, typer.Option("--starred", help="Only revisions with a star.")] = False,
    with_marks: Annotated[
        bool, typer.Option("--with-marks", help="Add the columns star, tags and note, as the viewer has them.")
    ] = False,
    marks: MarksOption = None,
) -> None:
    """One row per revision, with its evidence and every classification.

    Example: audit revisions data/runs --format csv > revisions.csv
    """


commands.command()(reading(RunSelection)(tables.runs))


@commands.command()
@reading(RunSelection, calls="audit.reports.lineage.tables:lineage")
def lineage(
    blame: Annotated[
        str | None,
        typer.Option(
            "--blame",
            metavar="CANDIDATE",
            help="Where each sentence of a candidate's text came from; 'best' is the one with the highest score.",
        ),
    ] = None,
    dead_ends: Annotated[
        bool, typer.Option("--dead-ends", help="Proposals that repeat one refused before, from the same parent.")
    ] = False,
    examples: Annotated[
        bool, typer.Option("--examples", help="How often each example was shown, cited, fixed and broken.")
    ] = False,
    runs: Annotated[
        bool, typer.Option("--runs", help="A row per run: what it cost, and whether it overfits its minibatches.")
    ] = False,
    alike: Annotated[
        float | None,
        typer.Option("--alike", min=0.01, max=1, help="For --dead-ends: from how much likeness on. Default: 0.9."),
    ] = None,
) -> None:
    """Candidates of prompts or programs with their parents, scores and costs, refused proposals included.

    Example: audit lineage gepa-run --blame best
    """
