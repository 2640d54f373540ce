"""The commands that ask models, about recorded answers (`audit judge`) or again (`audit intervene`)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Unpack

import typer

from audit.commands.overview import Overview
from audit.commands.reading import NoCacheOption, TaskModules, WorkersOption, printing, reading
from audit.commands.version import HELP
from audit.options import Options, RunSelection
from audit.output.rows import Table
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

ConcurrencyOption = Annotated[
    int | None,
    typer.Option("--concurrency", min=1, max=10_000, help="Calls in flight at once; else 4, with local 1."),
]
EvaluateOption = Annotated[
    str | None,
    typer.Option(
        "--evaluate", metavar="MODULE:FUNCTION", help="Score candidates that are texts by a function of your own."
    ),
]
TimeLimitOption = Annotated[
    float, typer.Option("--time-limit", min=0.01, max=10**6, help="Seconds that --evaluate has for a candidate.")
]
PlanPath = Annotated[Path, typer.Argument(metavar="PLAN", help="What `audit intervene plan` wrote.")]


@intervene.command()
@reading(RunSelection, cached=False, calls="audit.interventions.intervene:intervene_plan")
@with_model_options
def plan(
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
    task_modules: TaskModules = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan, and write nothing.")] = False,
    anyway: Annotated[bool, typer.Option("--anyway", help="Write a plan that can find nothing, too.")] = False,
    **model_options: Unpack[ModelOptions],
) -> None:
    """Draw prompts, and fix arms, hypotheses and seeds before the first call; nothing is asked yet.

    Example: audit intervene plan data/runs --preset small --backend ollama --model gpt-oss:20b --out plan.json
    """


@intervene.command()
@printing(calls="audit.interventions.intervene:intervene_run")
def run(
    plan: PlanPath,
    concurrency: ConcurrencyOption = None,
    keep_prompts: Annotated[bool, typer.Option("--keep-prompts", help="Record prompts as well.")] = False,
    plan_only: Annotated[bool, typer.Option("--plan", help="Print what is left, and ask nothing.")] = False,
    evaluate: EvaluateOption = None,
    time_limit: TimeLimitOption = 60.0,
) -> None:
    """Make the calls of a plan that have no answer yet; interrupted, the same command goes on.

    Example: audit intervene run plan.json
    """


@intervene.command()
@printing()
def report(
    _: Options,
    plan: Annotated[
        list[Path],
        typer.Argument(metavar="PLAN", help="What `audit intervene plan` wrote; several are compared with the first."),
    ],
    outcome: Annotated[
        str | None,
        typer.Option("--outcome", help="Only effects on share, edits, text, direction, size, gain or harmful."),
    ] = None,
    workers: WorkersOption = None,
    no_cache: NoCacheOption = False,
) -> Table:
    """Test a finished experiment: validity, the planned hypotheses, harm, and whether what moves the critic is named.

    Of several plans, such as one for each model, it prints shares side by side, and tests their differences.

    Example: audit intervene report plan.json
    """
    from audit.interventions.intervene import intervene_report

    return intervene_report(plan, outcome=outcome, workers=workers, cache=not no_cache)


@intervene.command()
@printing()
def show(
    _: Options,
    plan: PlanPath,
    unit: Annotated[
        str,
        typer.Argument(metavar="UNIT", help="Number of the unit in the plan, from 1, or ENV/VARIANT/RUN/ITERATION."),
    ],
    full: Annotated[bool, typer.Option("--full", help="Print answers in full.")] = False,
    no_cache: NoCacheOption = False,
) -> Table:
    """Print the answers to one prompt, arm by arm: what was shown, what was changed and by what it was justified.

    Example: audit intervene show plan.json 1
    """
    from audit.interventions.show import intervene_show

    return intervene_show(plan, unit, full=full, cache=not no_cache)


@commands.command()
@reading(RunSelection, calls="audit.judging.judge:judge")
@with_model_options
def judge(
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
    concurrency: ConcurrencyOption = None,
    plan: Annotated[bool, typer.Option("--plan", help="Print what it would cost, and ask nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether to go on.")] = False,
    **model_options: Unpack[ModelOptions],
) -> None:
    """Have a model code what each revision is chiefly justified by, from the critic's answer alone.

    Answers already judged are skipped. The cost is printed first; on a terminal you are asked whether to go on.

    Example: audit judge data/runs --backend ollama --model gpt-oss:20b --sample 50
    """
