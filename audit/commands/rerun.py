"""The commands that run recorded policies again: `audit replay` and `audit verify`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from audit.commands.reading import TaskModules, WorkersOption, reading
from audit.output.errors import AuditError, UsageError
from audit.remote.urls import path_of
from audit.request import Request

commands = typer.Typer()


SUFFIXES: Final = {".json": "json", ".csv": "csv"}
"""The format of a file by its ending, where no format is given."""


class StepFormat(StrEnum):
    """How the steps of a rollout are written."""

    table = "table"
    json = "json"
    csv = "csv"


@commands.command()
def replay(
    path: Annotated[
        Path, typer.Argument(metavar="DIR", parser=path_of, help="A folder, archive or pack of records, or a URL.")
    ],
    env: Annotated[str, typer.Argument(metavar="ENV", help="Task.")],
    variant: Annotated[str, typer.Argument(metavar="VARIANT", help="Method.")],
    run: Annotated[int, typer.Argument(metavar="RUN", min=0, max=2**63 - 1, help="Run, from 1.")],
    iteration: Annotated[int, typer.Argument(metavar="ITERATION", min=0, max=2**63 - 1, help="Iteration, from 0.")],
    rollout: Annotated[
        int, typer.Argument(metavar="ROLLOUT", min=0, max=2**63 - 1, help="Rollout of the candidate, from 0.")
    ],
    revised: Annotated[
        bool, typer.Option("--revised", help="A rollout of the revised candidate, not of the initial one.")
    ] = False,
    condition: Annotated[str | None, typer.Option("--condition", help="Condition, where several have it.")] = None,
    output: Annotated[
        StepFormat, typer.Option("--format", help="A table to read, one JSON object, or a line per step.")
    ] = StepFormat.table,
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

    form = output.value if out is None else _file_format(out, output, force=force)
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
        out.write_text(replayed.as_text(form), encoding="utf-8")
    else:
        sys.stdout.write(replayed.as_text(form))
        sys.stdout.flush()
    if difference := replayed.difference():
        raise AuditError(difference)


def _file_format(out: Path, output: StepFormat, *, force: bool) -> str:
    form = SUFFIXES.get(out.suffix) if output is StepFormat.table else output.value
    if form is None:
        raise UsageError(f"--out {out}: choose --format json or csv, or give the file one of these endings")
    if out.exists() and not force:
        raise UsageError(f"--out {out}: the file already exists; overwrite it with --force")
    return form


@commands.command()
@reading(runs=True, cached=False)
def verify(
    request: Request,
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
        request, sample=None if every else sample, seed=seed, task_modules=task_module or (), workers=workers
    )
    verification.print(request.output, columns=request.columns, sort=request.sort, limit=request.limit)
    if not verification.agrees:
        sys.stdout.flush()
        raise typer.Exit(1)
