"""The commands that validate detectors against people: `audit sample` and `audit validate`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from audit.commands.reading import reading
from audit.options import Classification, Options, RevisionSelection
from audit.output.notes import note

commands = typer.Typer()


class Stratum(StrEnum):
    """What a sample can be drawn evenly over."""

    env = "env"
    variant = "variant"
    condition = "condition"
    direction = "direction"
    pattern = "pattern"
    structure = "structure"
    references_worst = "references_worst"


STRATA: Final = f"COLUMN, one of {', '.join(Stratum)}"


@commands.command()
@reading(RevisionSelection, output=False)
def sample(
    options: Options,
    n: Annotated[int, typer.Option("--n", min=1, max=10**9, help="How many revisions to draw.")] = 100,
    stratify: Annotated[
        list[Stratum] | None,
        typer.Option("--stratify", metavar="COLUMN", help=f"Draw evenly over the values of {STRATA}. Repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of the draw.")] = 0,
    coders: Annotated[
        str, typer.Option("--coders", metavar="A,B", help="Names of the coders; each gets one row per answer.")
    ] = "A",
    with_outcome: Annotated[
        bool, typer.Option("--with-outcome", help="Show how the revised policies did; coders are then not blind.")
    ] = False,
) -> None:
    """Draw critics' answers for hand coding: a CSV sheet to fill in, blind to how the revisions turned out.

    Example: audit sample data/runs --n 100 --stratify env --coders A,B > labels.csv
    """
    from audit.validation.coding.sample import sample

    sheet = sample(
        options,
        n,
        stratify=stratify or (),
        seed=seed,
        coders=[name.strip() for name in coders.split(",")],
        with_outcome=with_outcome,
    )
    for line in sheet.notes:
        note(line)
    sheet.write(sys.stdout)


@commands.command()
@reading(Classification, calls="audit.validation.coding.validate:validate")
def validate(
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help="The sheet that coders filled in, a CSV file.")],
    disagreements: Annotated[
        bool, typer.Option("--disagreements", help="List every disagreement instead of scores.")
    ] = False,
    classes: Annotated[bool, typer.Option("--classes", help="Score every driver, not only 'worst'.")] = False,
    pool: Annotated[bool, typer.Option("--pool", help="Score all conditions together.")] = False,
    stratify: Annotated[
        list[Stratum] | None,
        typer.Option(
            "--stratify",
            metavar="COLUMN",
            help=f"Weigh answers so that values of {STRATA}, count as in DIR. Repeatable.",
        ),
    ] = None,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", min=100, max=1_000_000, help="How often runs are resampled for an interval.")
    ] = 9999,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of the resampling.")] = 0,
) -> None:
    """Score every detector against hand-coded labels: precision, recall, F1 and Cohen's kappa, with 95% intervals.

    Example: audit validate labels.csv data/runs --format json
    """
