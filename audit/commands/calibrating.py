"""The command that compares detectors with a known truth: `audit calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audit.commands.reading import TaskModules, reading
from audit.output.rows import Table
from audit.request import Request

commands = typer.Typer()


@commands.command()
@reading(detector=True)
def calibrate(
    request: Request,
    behaviour: Annotated[
        bool, typer.Option("--behaviour/--no-behaviour", help="Whether revised policies are run as well, see anchor.")
    ] = True,
    controls: Annotated[
        int, typer.Option("--controls", min=19, max=1_000_000, help="Control edits for each revision.")
    ] = 19,
    classes: Annotated[bool, typer.Option("--classes", help="Score every driver, not only 'worst'.")] = False,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", min=100, max=1_000_000, help="How often runs are resampled for an interval.")
    ] = 9999,
    interventions: Annotated[
        list[Path] | None,
        typer.Option(
            "--interventions",
            metavar="PLAN",
            help="Finished plan of audit intervene, one for each critic; repeatable. Effects are compared as well.",
        ),
    ] = None,
    task_module: TaskModules = None,
) -> Table:
    """Compare every detector and anchoring measure with what the simulated critic recorded, by personality.

    This command alone reads truth.jsonl.

    Example: audit calibrate data/runs
    """
    from audit.validation.calibration.calibrate import calibrate

    return calibrate(
        request,
        behaviour=behaviour,
        controls=controls,
        classes=classes,
        bootstrap=bootstrap,
        interventions=interventions or (),
        task_modules=task_module or (),
    )
