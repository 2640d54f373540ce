"""The command that shows one revision in full: `audit show`."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from audit.commands.kept import kept_text
from audit.commands.options import NoCacheOption, StrictOption
from audit.commands.reading import AboutOption, DetectorOption, JudgementsOption, JudgeOption, SetOption
from audit.remote.urls import path_of
from audit.request import Request

commands = typer.Typer()


class ShowFormat(StrEnum):
    """How a single revision is written."""

    table = "table"
    json = "json"


@commands.command()
def show(
    path: Annotated[
        Path, typer.Argument(metavar="DIR", parser=path_of, help="A folder, archive or pack of records, or a URL.")
    ],
    env: Annotated[str, typer.Argument(metavar="ENV", help="Task.")],
    variant: Annotated[str, typer.Argument(metavar="VARIANT", help="Method.")],
    run: Annotated[int, typer.Argument(metavar="RUN", min=0, max=2**63 - 1, help="Run, from 1.")],
    iteration: Annotated[int, typer.Argument(metavar="ITERATION", min=0, max=2**63 - 1, help="Iteration, from 0.")],
    condition: Annotated[str | None, typer.Option("--condition", help="Condition, where several have it.")] = None,
    output: Annotated[
        ShowFormat, typer.Option("--format", help="Text to read, or one JSON object.")
    ] = ShowFormat.table,
    detector: DetectorOption = None,
    about: AboutOption = None,
    judgements: JudgementsOption = None,
    judge: JudgeOption = None,
    overrides: SetOption = None,
    strict: StrictOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """One revision in full, to read: evidence, edits, classification and the critic's answer.

    Example: audit show data/runs cartpole threetraj 1 17
    """
    request = Request(
        paths=[path],
        strict=strict,
        cache=not no_cache,
        detector=detector,
        about=about,
        settings=overrides,
        judgements=judgements,
        judge=judge,
    )
    is_coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def made() -> str:
        from audit.reports.explain import show

        revision = show(request, env, variant, run, iteration, condition=condition)
        if output is ShowFormat.json:
            return revision.as_json()
        return revision.coloured() if is_coloured else str(revision)

    own = {"wanted": [env, variant, run, iteration, condition], "output": output.value, "is_coloured": is_coloured}
    typer.echo(kept_text("show", request, own, made))
