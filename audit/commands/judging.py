"""The command that asks a model what revisions are justified by: `audit judge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Unpack

import typer

from audit.commands.reading import reading
from audit.output.rows import Table
from audit.request import Request
from collector.model_options import ModelOptions, with_model_options

commands = typer.Typer()


@commands.command()
@reading(runs=True)
@with_model_options
def judge(
    request: Request,
    backend: Annotated[str, typer.Option("--backend", help="local, ollama or openai.")],
    rubric: Annotated[
        Path | None,
        typer.Option("--rubric", metavar="FILE", help="A question of your own with its categories, a TOML file."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="File for the judgements; DIR.judgements.jsonl beside DIR by default."
        ),
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, max=10**9, help="Judge only this many answers, drawn at random.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Seed of the draw and of the calls.")] = 0,
    longest: Annotated[
        int, typer.Option("--longest", min=1, max=10**9, help="Leave out answers longer than this, in characters.")
    ] = 40_000,
    again: Annotated[bool, typer.Option("--again", help="Ask again where no reply could be read.")] = False,
    concurrency: Annotated[
        int | None,
        typer.Option("--concurrency", min=1, max=10_000, help="Calls in flight at once; else 4, with local 1."),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Print what it would cost, and ask nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether to go on.")] = False,
    **model_options: Unpack[ModelOptions],
) -> Table:
    """Have a model code what each revision is chiefly justified by, from the critic's answer alone.

    Answers already judged are skipped. The cost is printed first; on a terminal you are asked whether to go on.

    Example: audit judge data/runs --backend ollama --model gpt-oss:20b --sample 50
    """
    from audit.judging.judge import judge

    return judge(
        request,
        backend=backend,
        rubric=rubric,
        out=out,
        sample=sample,
        seed=seed,
        longest=longest,
        again=again,
        concurrency=concurrency,
        plan=plan,
        yes=yes,
        **model_options,
    )
