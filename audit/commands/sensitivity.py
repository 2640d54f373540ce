"""The command that moves thresholds: `audit sensitivity`."""

from __future__ import annotations

from typing import Annotated

import typer

from audit.commands.reading import reading
from audit.request import Request

commands = typer.Typer()


@commands.command()
@reading(thresholds=True)
def sensitivity(
    request: Request,
    steps: Annotated[int, typer.Option("--steps", min=2, max=101, help="Values tried for each threshold.")] = 5,
    spread: Annotated[
        float,
        typer.Option("--spread", min=0.0, max=1.0, help="How far they reach, as a share of the threshold in force."),
    ] = 0.5,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="TASK.KEY=A,B,C", help="Try these values, and no others; repeatable."),
    ] = None,
) -> None:
    """How the counts of the edit patterns move when one threshold moves.

    Example: audit sensitivity data/runs --vary cartpole.high=400,450,480
    """
    from audit.reports.sensitivity import print_sensitivity
    from audit.vocabulary.threshold_steps import around, parse_variations

    print_sensitivity(request, parse_variations(vary) if vary else around(steps, spread))
