"""The commands that run recorded policies on other seeds or changed: `audit rescore` and `audit anchor`."""

from __future__ import annotations

from typing import Annotated

import typer

from audit.commands.reading import TaskModules, WorkersOption, reading
from audit.output.rows import Table
from audit.request import Request

commands = typer.Typer()

SampleOption = Annotated[
    int | None,
    typer.Option("--sample", min=1, max=10**9, help="Use only this many iterations, drawn evenly over runs."),
]


@commands.command()
@reading(runs=True)
def rescore(
    request: Request,
    rollouts: Annotated[
        int, typer.Option("--rollouts", min=2, max=1_000_000, help="Fresh rollouts of each policy.")
    ] = 1000,
    sample: SampleOption = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of the fresh rollouts and of the sample.")
    ] = 0,
    each: Annotated[bool, typer.Option("--each", help="One row per candidate instead of per method.")] = False,
    task_module: TaskModules = None,
    workers: WorkersOption = None,
) -> Table:
    """Run recorded policies again on fresh seeds: how much of the recorded mean and best returns is luck?

    Foreign logs too: parameters are enough. Results are kept, so that a second time is quick.

    Example: audit rescore data/runs --rollouts 200 --env pong
    """
    from audit.rerun.behaviour import rescore

    return rescore(
        request,
        rollouts=rollouts,
        sample=sample,
        seed=seed,
        each=each,
        task_modules=task_module or (),
        workers=workers,
    )


@commands.command()
@reading(runs=True)
def anchor(
    request: Request,
    controls: Annotated[
        int, typer.Option("--controls", min=19, max=1_000_000, help="Control edits for each revision.")
    ] = 19,
    sample: SampleOption = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of the control edits and of the sample.")
    ] = 0,
    placebo: Annotated[
        bool, typer.Option("--placebo", help="Measure random edits in place of revisions: the false-positive rate.")
    ] = False,
    each: Annotated[bool, typer.Option("--each", help="One row per revision instead of per method.")] = False,
    task_module: TaskModules = None,
    workers: WorkersOption = None,
) -> Table:
    """Does a revised policy do better on the worst rollout's own seed than elsewhere, more than random edits do?

    Example: audit anchor data/runs --variant threetraj
    """
    from audit.rerun.behaviour import anchor

    return anchor(
        request,
        controls=controls,
        sample=sample,
        seed=seed,
        placebo=placebo,
        each=each,
        task_modules=task_module or (),
        workers=workers,
    )
