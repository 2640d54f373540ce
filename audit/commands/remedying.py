"""The commands on remedies: `audit remedy plan`, `run` and `report`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Unpack

import typer

from audit.commands.intervening import ConcurrencyOption, EvaluateOption, TimeLimitOption
from audit.commands.overview import Overview
from audit.commands.reading import NoCacheOption, TaskModules, WorkersOption, printing, reading
from audit.commands.version import HELP
from audit.options import Options, RunSelection
from audit.output.rows import Table
from collector.model_options import ModelOptions, with_model_options

commands = typer.Typer()
remedy = typer.Typer(
    name="remedy",
    cls=Overview,
    help="Which change of evidence, instruction, answers or acceptance makes a critic's revisions do less harm?",
    no_args_is_help=True,
    context_settings=HELP,
    rich_markup_mode=None,
)
commands.add_typer(remedy)


PlanPath = Annotated[Path, typer.Argument(metavar="PLAN", help="What `audit remedy plan` wrote.")]


@remedy.command()
@reading(RunSelection, cached=False)
@with_model_options
def plan(
    request: Options,
    backend: Annotated[str, typer.Option("--backend", help="simulated, local, ollama or openai.")],
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="DIR", help="Folders of records; none with --suite."),
    ] = None,
    personality: Annotated[
        str | None, typer.Option("--personality", help="Personality of the simulated critic.", show_default="salient")
    ] = None,
    suite: Annotated[
        Literal["quick", "full"] | None,
        typer.Option("--suite", help="Ask the prompts of `audit critic`, 72 or 126, in place of recorded ones."),
    ] = None,
    size: Annotated[
        Literal["small", "full"], typer.Option("--size", help="small: 33 answers to a prompt; full: 63, more prompts.")
    ] = "small",
    remedies: Annotated[
        list[str] | None,
        typer.Option("--remedy", metavar="NAME", help="Only this remedy; repeatable. An unknown name lists them."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where the plan is written; must not exist yet.")
    ] = Path("remedies.json"),
    units: Annotated[
        int | None,
        typer.Option("--units", min=1, max=10**6, help="How many prompts to draw.", show_default="the size's"),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Random seed.")] = 0,
    rollouts: Annotated[
        int | None,
        typer.Option("--rollouts", min=2, max=10**6, help="Rollouts of each revised policy.", show_default="100"),
    ] = None,
    longest: Annotated[
        int | None,
        typer.Option("--longest", min=1, max=10**9, help="Leave out prompts longer than this, in characters."),
    ] = None,
    templates: Annotated[
        Path | None, typer.Option("--prompts", metavar="DIR", help="Templates that the prompts were made with.")
    ] = None,
    task_modules: TaskModules = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan, and write nothing.")] = False,
    **options: Unpack[ModelOptions],
) -> Table:
    """Draw prompts, and fix which remedies are tried on them; nothing is asked yet.

    Example: audit remedy plan data/runs --backend ollama --model gpt-oss:20b --out remedies.json
    """
    from audit.remedies.remedy import remedy_plan

    return remedy_plan(
        replace(request, paths=paths) if paths else (),
        backend=backend,
        out=out,
        suite=suite,
        size=size,
        remedies=remedies or (),
        personality=personality,
        units=units,
        seed=seed,
        rollouts=rollouts,
        longest=longest,
        templates=templates,
        task_modules=task_modules or (),
        dry_run=dry_run,
        **options,
    )


@remedy.command()
@printing(calls="audit.remedies.remedy:remedy_run")
def run(
    plan: PlanPath,
    concurrency: ConcurrencyOption = None,
    evaluate: EvaluateOption = None,
    time_limit: TimeLimitOption = 60.0,
) -> None:
    """Make the calls of a plan that have no answer yet; interrupted, the same command goes on.

    Example: audit remedy run remedies.json
    """


@remedy.command()
@printing()
def report(_: Options, plan: PlanPath, workers: WorkersOption = None, no_cache: NoCacheOption = False) -> Table:
    """Report a finished experiment: harm avoided, gain lost and cost of each remedy.

    Remedies on answers and on acceptance are computed from the answers to the prompts as they are.

    Example: audit remedy report remedies.json
    """
    from audit.remedies.remedy import remedy_report

    return remedy_report(plan, workers=workers, cache=not no_cache)
