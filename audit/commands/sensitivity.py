"""The command that moves thresholds: `audit sensitivity`."""

from __future__ import annotations

from typing import Annotated

import typer

from audit.commands.reading import reading
from audit.output.rows import Table
from audit.request import Request

commands = typer.Typer()


@commands.command()
@reading(thresholds=True)
def sensitivity(
    request: Request,
    steps: Annotated[int, typer.Option("--steps", min=2, max=101, help="Values tried for each threshold.")] = 5,
    spread: Annotated[
        float,
        typer.Option("--spread", min=0.0, max=1.0, help="Their range, as a share of the threshold in force."),
    ] = 0.5,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="TASK.KEY=A,B,C", help="Try these values, and no others; repeatable."),
    ] = None,
) -> Table:
    """How the counts of the edit patterns move when one threshold moves.

    Example: audit sensitivity data/runs --vary cartpole.high=400,450,480
    """
    from audit.reports.sensitivity import sensitivity

    return sensitivity(request, steps=steps, spread=spread, vary=vary)
