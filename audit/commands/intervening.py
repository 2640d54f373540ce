"""The commands of experiments on the evidence: `audit intervene plan`, `run`, `report` and `show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Unpack

import typer

from audit.commands.options import NoCacheOption
from audit.commands.overview import Overview
from audit.commands.printing import Printing, deliver, printing
from audit.commands.reading import TaskModules, WorkersOption, reading
from audit.commands.version import HELP
from audit.output.rows import Table
from audit.request import Request
from collector.model_options import ModelOptions, with_model_options

commands = typer.Typer()
intervene = typer.Typer(
    name="intervene",
    cls=Overview,
    help="Ask a critic again under changed evidence: what causes its revisions, beyond what it mentions.",
    no_args_is_help=True,
    context_settings=HELP,
    rich_markup_mode=None,
)
commands.add_typer(intervene)

PlanPath = Annotated[Path, typer.Argument(metavar="PLAN", help="What `audit intervene plan` wrote.")]


@intervene.command()
@reading(runs=True, cached=False)
@with_model_options
def plan(
    request: Request,
    backend: Annotated[str, typer.Option("--backend", help="simulated, local, ollama or openai.")],
    personality: Annotated[
        str | None, typer.Option("--personality", help="Personality of the simulated critic.", show_default="salient")
    ] = None,
    preset: Annotated[str, typer.Option("--preset", help="small, standard, presence or foreign.")] = "small",
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where the plan is written; must not exist yet.")
    ] = Path("plan.json"),
    units: Annotated[
        int | None,
        typer.Option("--units", min=1, max=10**6, help="How many prompts to draw.", show_default="the preset's"),
    ] = None,
    arms: Annotated[
        list[str] | None,
        typer.Option("--arm", metavar="ARM=N", help="Answers of each prompt under an arm; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**63 - 1, help="Random seed.")] = 0,
    alpha: Annotated[
        float, typer.Option("--alpha", min=1e-6, max=0.5, help="Significance level of the primary hypotheses.")
    ] = 0.05,
    permutations: Annotated[
        int, typer.Option("--permutations", min=99, max=10**6, help="Permutations of each test.")
    ] = 4999,
    rollouts: Annotated[
        int, typer.Option("--rollouts", min=0, max=10**6, help="Fresh rollouts of each revised policy; 0 for none.")
    ] = 200,
    longest: Annotated[
        int | None,
        typer.Option("--longest", min=1, max=10**9, help="Leave out prompts longer than this, in characters."),
    ] = None,
    templates: Annotated[
        Path | None, typer.Option("--prompts", metavar="DIR", help="Templates that the prompts were made with.")
    ] = None,
    task_module: TaskModules = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan, and write nothing.")] = False,
    **model_options: Unpack[ModelOptions],
) -> Table:
    """Draw prompts, and fix arms, hypotheses and seeds before the first call; nothing is asked yet.

    Example: audit intervene plan data/runs --preset small --backend ollama --model gpt-oss:20b --out plan.json
    """
    from audit.interventions.intervene import intervene_plan

    return intervene_plan(
        request,
        backend=backend,
        personality=personality,
        preset=preset,
        out=out,
        units=units,
        arms=arms or (),
        seed=seed,
        alpha=alpha,
        permutations=permutations,
        rollouts=rollouts,
        longest=longest,
        templates=templates,
        task_modules=task_module or (),
        dry_run=dry_run,
        **model_options,
    )


@intervene.command()
@printing
def run(
    asked: Printing,
    plan: PlanPath,
    concurrency: Annotated[
        int | None,
        typer.Option("--concurrency", min=1, max=10_000, help="Calls in flight at once; else 4, with local 1."),
    ] = None,
    keep_prompts: Annotated[bool, typer.Option("--keep-prompts", help="Record prompts as well.")] = False,
    plan_only: Annotated[bool, typer.Option("--plan", help="Print what is left, and ask nothing.")] = False,
) -> None:
    """Make the calls of a plan that have no answer yet; interrupted, the same command goes on.

    Example: audit intervene run plan.json
    """
    from audit.interventions.intervene import intervene_run

    deliver(intervene_run(plan, concurrency=concurrency, keep_prompts=keep_prompts, plan_only=plan_only), asked)


@intervene.command()
@printing
def report(
    asked: Printing,
    plan: PlanPath,
    outcome: Annotated[
        str | None, typer.Option("--outcome", help="Only effects on edits, text, direction, size, gain or harmful.")
    ] = None,
    workers: WorkersOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Test a finished experiment: validity, the planned hypotheses, harm, and whether what moves the critic is named.

    Example: audit intervene report plan.json
    """
    from audit.interventions.intervene import intervene_report

    deliver(intervene_report(plan, outcome=outcome, workers=workers, cache=not no_cache), asked)


@intervene.command()
@printing
def show(
    asked: Printing,
    plan: PlanPath,
    unit: Annotated[
        str,
        typer.Argument(metavar="UNIT", help="Number of the unit in the plan, from 1, or ENV/VARIANT/RUN/ITERATION."),
    ],
    full: Annotated[bool, typer.Option("--full", help="Print answers in full.")] = False,
    no_cache: NoCacheOption = False,
) -> None:
    """Print the answers to one prompt, arm by arm: what was shown, what was changed and by what it was justified.

    Example: audit intervene show plan.json 1
    """
    from audit.interventions.show import intervene_show

    deliver(intervene_show(plan, unit, full=full, cache=not no_cache), asked)


@commands.command("import-interventions")
@printing
def import_interventions(
    asked: Printing,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines, one answer per line.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the plan is written; must not exist yet.")],
    model: Annotated[str, typer.Option("--model", help="The model that answered.")],
    arms: Annotated[
        list[str] | None,
        typer.Option("--arm", metavar="NAME=ARM", help="What the file calls an arm; repeatable."),
    ] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option("--field", metavar="NAME=PATH", help="Where a line has a field, such as a.b; repeatable."),
    ] = None,
    rollouts: Annotated[
        int, typer.Option("--rollouts", min=0, max=10**6, help="Fresh rollouts of each revised policy; 0 for none.")
    ] = 200,
    remarks: Annotated[
        list[str] | None, typer.Option("--remark", help="A remark for readers of the report; repeatable.")
    ] = None,
) -> None:
    """Make a plan of answers under changed evidence obtained elsewhere, for `audit intervene report` and `show`.

    Example: audit import-interventions answers.jsonl --out imported.json --model my-model --arm as_is=N0
    """
    from audit.interventions.importing import import_interventions

    deliver(
        import_interventions(
            file,
            out=out,
            model=model,
            arms=arms or (),
            fields=fields or (),
            rollouts=rollouts,
            remarks=remarks or (),
        ),
        asked,
    )
