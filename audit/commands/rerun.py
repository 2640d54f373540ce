"""The commands that run recorded policies again: replay, verify and rescore; and calibrate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from audit.commands.reading import (
    Env,
    Iteration,
    OneCondition,
    RecordsPath,
    Run,
    TaskModules,
    Variant,
    WorkersOption,
    reading,
)
from audit.options import Detection, Options, RunSelection
from audit.output.errors import AuditError, UsageError
from collector.errors import cannot_write

commands = typer.Typer()

SUFFIXES: Final = {".json": "json", ".csv": "csv"}
"""The format of a file by its ending, where no format is given."""


@commands.command()
def replay(
    path: RecordsPath,
    env: Env,
    variant: Variant,
    run: Run,
    iteration: Iteration,
    rollout: Annotated[
        int, typer.Argument(metavar="ROLLOUT", min=0, max=2**63 - 1, help="Rollout of the candidate, from 0.")
    ],
    revised: Annotated[
        bool, typer.Option("--revised", help="A rollout of the revised candidate, not of the initial one.")
    ] = False,
    condition: OneCondition = None,
    output: Annotated[
        Literal["table", "json", "csv"],
        typer.Option("--format", help="A table to read, one JSON object, or a line per step."),
    ] = "table",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Save to a file, JSON or CSV, instead of printing.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file, if there is one.")] = False,
    task_module: TaskModules = None,
) -> None:
    """Run one recorded rollout again and print it step by step; exit status 1 if it differs from the record.

    Example: audit replay data/runs cartpole threetraj 1 17 3 --revised
    """
    from audit.rerun.replay import replay

    form = output if out is None else _file_format(out, output, force=force)
    replayed = replay(
        path,
        env,
        variant,
        run,
        iteration,
        rollout,
        revised=revised,
        condition=condition,
        task_modules=task_module or (),
    )
    if out is not None:
        try:
            out.write_text(replayed.as_text(form), encoding="utf-8")
        except OSError as error:
            raise AuditError(cannot_write(out, error, "--out")) from None
    else:
        sys.stdout.write(replayed.as_text(form))
        sys.stdout.flush()
    if difference := replayed.difference():
        raise AuditError(difference)


def _file_format(out: Path, output: str, *, force: bool) -> str:
    form = SUFFIXES.get(out.suffix) if output == "table" else output
    if form is None:
        raise UsageError(f"--out {out}: choose --format json or csv, or give the file one of these endings")
    if out.exists() and not force:
        raise UsageError(f"--out {out}: the file already exists; overwrite it with --force")
    return form


@commands.command()
@reading(RunSelection, cached=False)
def verify(
    options: Options,
    sample: Annotated[
        int, typer.Option("--sample", min=1, max=10**9, help="Rollouts to run again, drawn evenly over runs.")
    ] = 200,
    every: Annotated[bool, typer.Option("--all", help="Run all rollouts again, on all cores.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of the draw.")] = 0,
    task_module: TaskModules = None,
    workers: WorkersOption = None,
) -> None:
    """Run recorded rollouts again, and list those that differ; exit status 1 if there are any.

    Mean returns and evidence are also compared with the recorded returns, in every record.

    Example: audit verify data/runs --all --env cartpole
    """
    from audit.rerun.verify import verify

    verification = verify(
        options, sample=None if every else sample, seed=seed, task_modules=task_module or (), workers=workers
    )
    verification.print(options.output, columns=options.columns, sort=options.sort, limit=options.limit)
    if not verification.agrees:
        sys.stdout.flush()
        raise typer.Exit(1)


@commands.command()
@reading(RunSelection, calls="audit.rerun.fairness:rescore")
def rescore(
    rollouts: Annotated[
        int, typer.Option("--rollouts", min=2, max=1_000_000, help="Fresh rollouts of each policy.")
    ] = 1000,
    sample: Annotated[
        int | None,
        typer.Option("--sample", min=1, max=10**9, help="Use only this many iterations, drawn evenly over runs."),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of the fresh rollouts and of the sample.")
    ] = 0,
    each: Annotated[bool, typer.Option("--each", help="One row per candidate instead of per method.")] = False,
    task_modules: TaskModules = None,
    workers: WorkersOption = None,
) -> None:
    """Run recorded policies again on fresh seeds: how much of the recorded mean and best returns is luck?

    Foreign logs too: parameters are enough. Results are kept, so that a second time is quick.

    Example: audit rescore data/runs --rollouts 200 --env pong
    """


@commands.command()
@reading(Detection, calls="audit.validation.calibration.calibrate:calibrate")
def calibrate(
    classes: Annotated[bool, typer.Option("--classes", help="Score every driver, not only 'worst'.")] = False,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", min=100, max=1_000_000, help="How often runs are resampled for an interval.")
    ] = 9999,
) -> None:
    """Compare every detector with what the simulated critic recorded, by personality.

    This command alone reads truth.jsonl.

    Example: audit calibrate data/runs
    """
