"""The command that follows records while they are written: `audit watch`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from audit.commands.reading import reading
from audit.output.errors import count
from audit.output.escaping import in_line
from audit.request import Request, note

commands = typer.Typer()


@commands.command()
@reading(output=False, detector=True, thresholds=True, runs=True)
def watch(
    request: Request,
    p0: Annotated[
        float,
        typer.Option("--p0", min=0.001, max=0.999, help="Chance of a regression under the null; ties are left out."),
    ] = 0.5,
    stop_file: Annotated[
        Path | None,
        typer.Option("--stop-file", metavar="FILE", help="Make this file when an alarm is raised; it must be new."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Read what is there, and end.")] = False,
    lines: Annotated[bool, typer.Option("--json", help="Print a JSON object a line.")] = False,
) -> None:
    """Follow records while they are written, with alarms that hold at any time.

    Example: audit watch data/runs --stop-file stop
    """
    from audit.watching.watch import sentence
    from audit.watching.watch import watch as steps

    is_first = True
    for step in steps(request, p0=p0, stop_file=stop_file, once=once):
        wealth = {alarm.name: alarm.wealth for alarm in step.alarms}
        if lines and (is_first or step.revisions):
            for row in step.revisions:
                typer.echo(json.dumps(row))
            raised = [alarm.name for alarm in step.raised]
            typer.echo(json.dumps({"revisions": len(step.alarms[0].curve), "wealth": wealth, "raised": raised}))
        elif is_first or step.revisions:
            shown = "  ".join(f"{name} {value:.3g}" for name, value in wealth.items())
            for row in [] if is_first else step.revisions:
                typer.echo(_line(row))
            so_far = f"{count(len(step.revisions), 'revision')} so far; wealth against chance"
            typer.echo(f"{so_far if is_first else '  wealth'}: {shown}")
        for line in (*map(sentence, step.raised), *step.notes):
            note(line)
        is_first = False


def _line(row: dict[str, Any]) -> str:
    cites = {True: "cites", False: "does not cite", None: ""}[row["cites"]]
    delta = "" if row["delta"] is None else f"{row['delta']:+.4g}"
    name = f"{row['condition']} {row['env']} {row['variant']} run {row['run']} iteration {row['iteration']}"
    return in_line("  ".join(filter(None, [name, delta, str(row["direction"]), str(row["pattern"] or ""), cites])))
