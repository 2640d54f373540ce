"""The command that compares edits on either side of τ_c: `audit obedience`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from audit.commands.reading import reading
from audit.output.rows import Table
from audit.request import Request

commands = typer.Typer()


class Outcome(StrEnum):
    """What the jump at τ_c is of."""

    edit_distance = "edit_distance"
    l2_distance = "l2_distance"
    unchanged = "unchanged"
    small = "small"
    delta = "delta"


@commands.command()
@reading()
def obedience(
    request: Request,
    outcome: Annotated[
        Outcome, typer.Option("--outcome", help="The outcome whose jump is estimated.")
    ] = Outcome.edit_distance,
    bandwidth: Annotated[
        float | None,
        typer.Option(
            "--bandwidth",
            min=0.0,
            max=1e12,
            help="Distance from τ_c up to which revisions count, in units of the return.",
            show_default="a rule of thumb",
        ),
    ] = None,
    bins: Annotated[
        bool, typer.Option("--bins", help="One row per range of the distance from r0 to τ_c instead.")
    ] = False,
) -> Table:
    """Whether critics keep to the revision rule: edits on either side of τ_c, and what the rule causes there.

    Example: audit obedience data/runs --variant r2po --outcome unchanged
    """
    from audit.reports.obedience import obedience

    return obedience(request, outcome=outcome.value, bandwidth=bandwidth, bins=bins)
