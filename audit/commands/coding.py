"""The commands that validate detectors against people: `audit sample` and `audit validate`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from audit.commands.reading import reading
from audit.request import Request

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


@commands.command()
@reading(output=False, detector=True, thresholds=True)
def sample(
    request: Request,
    n: Annotated[int, typer.Option("--n", min=1, help="How many revisions to draw.")] = 100,
    stratify: Annotated[
        list[Stratum] | None, typer.Option("--stratify", help="Draw evenly over the values of this; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw.")] = 0,
    coders: Annotated[
        str, typer.Option("--coders", metavar="A,B", help="Names of those who code; each gets a row per answer.")
    ] = "A",
    with_outcome: Annotated[
        bool, typer.Option("--with-outcome", help="Tell how the revised policies did; coders are then not blind.")
    ] = False,
) -> None:
    """Draw critics' answers for hand coding: a CSV sheet to fill in, blind to how the revisions turned out.

    Example: audit sample data/runs --n 100 --stratify env --coders A,B > labels.csv
    """
    from audit.coding.drawing import print_sample

    print_sample(
        request,
        n,
        stratify=[column.value for column in stratify or ()],
        seed=seed,
        coders=[name.strip() for name in coders.split(",")],
        with_outcome=with_outcome,
    )
