"""The `audit` command: options in, one relation out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from audit import cli_pack, cli_rerun
from audit.options import (
    ConditionOption,
    EnvOption,
    Format,
    FormatOption,
    NoCacheOption,
    Paths,
    StrictOption,
    VariantOption,
    told,
)

app = typer.Typer(
    name="audit",
    help="Find out from raw records what the critic did: how revisions turned out, and what its answers refer to.",
    epilog="Example: audit salience data/runs --env cartpole --detector phrase --format csv",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


class ShowFormat(StrEnum):
    """How a single revision is written."""

    table = "table"
    json = "json"


class Detector(StrEnum):
    """How references to the worst rollout are found."""

    word = "word"
    phrase = "phrase"
    resolved = "resolved"


DetectorOption = Annotated[
    Detector,
    typer.Option(
        "--detector",
        help="A reference is the word 'worst' (word), 'worst rollout|trajectory' (phrase), or any name (resolved).",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="TASK.KEY=VALUE", help="Set a threshold of the edit patterns; repeatable."),
]


@app.command()
def summary(
    paths: Paths,
    output: FormatOption = Format.table,
    strict: StrictOption = False,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """How revisions turned out: deltas, edit distances, acceptance, directions.

    Example: audit summary logs/ data/runs --format markdown
    """
    with told():
        from audit.report import Request, print_relation

        request = Request(
            paths, output.value, strict, env=env, variant=variant, condition=condition, cache=not no_cache
        )
        print_relation(request, "summary")


@app.command()
def salience(
    paths: Paths,
    output: FormatOption = Format.table,
    detector: DetectorOption = Detector.word,
    strict: StrictOption = False,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Salience-problem regressions, strict and permissive, where the critic saw worst, median and best.

    Example: audit salience logs.tar.xz --detector phrase
    """
    with told():
        from audit.report import Request, print_relation

        request = Request(
            paths,
            output.value,
            strict,
            detector.value,
            env=env,
            variant=variant,
            condition=condition,
            cache=not no_cache,
        )
        print_relation(request, "salience_summary")


@app.command()
def agreement(
    paths: Paths,
    output: FormatOption = Format.table,
    strict: StrictOption = False,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """How the worst, median and best rollout agree, and what revisions gain in each case.

    Example: audit agreement data/runs --env pong
    """
    with told():
        from audit.report import Request, print_relation

        request = Request(
            paths, output.value, strict, env=env, variant=variant, condition=condition, cache=not no_cache
        )
        print_relation(request, "agreement_summary")


@app.command()
def patterns(
    paths: Paths,
    output: FormatOption = Format.table,
    overrides: SetOption = None,
    strict: StrictOption = False,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """How often each edit pattern occurs; percentages are of all revisions.

    Example: audit patterns logs/ --set cartpole.high=460 --set pong.partial=1.2
    """
    with told():
        from audit.report import Request, print_relation

        request = Request(
            paths,
            output.value,
            strict,
            settings=overrides,
            env=env,
            variant=variant,
            condition=condition,
            cache=not no_cache,
        )
        print_relation(request, "patterns_summary")


@app.command()
def revisions(
    paths: Paths,
    output: FormatOption = Format.table,
    detector: DetectorOption = Detector.word,
    overrides: SetOption = None,
    strict: StrictOption = False,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """One row per revision, with its evidence and every classification.

    Example: audit revisions data/runs --format csv > revisions.csv
    """
    with told():
        from audit.report import Request, print_relation

        request = Request(
            paths,
            output.value,
            strict,
            detector.value,
            overrides,
            env=env,
            variant=variant,
            condition=condition,
            cache=not no_cache,
        )
        print_relation(request, "revision_details")


@app.command()
def runs(
    paths: Paths,
    output: FormatOption = Format.table,
    strict: StrictOption = False,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Mean, best and final return of every run.

    Example: audit runs data/runs --variant r2po --format json
    """
    with told():
        from audit.report import Request, print_relation

        request = Request(
            paths, output.value, strict, env=env, variant=variant, condition=condition, cache=not no_cache
        )
        print_relation(request, "runs")


@app.command()
def mentions(
    paths: Paths,
    output: FormatOption = Format.table,
    strict: StrictOption = False,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Which rollouts critics' answers and thinking talk about: one row per mention.

    Example: audit mentions data/runs --variant threetraj --format csv > mentions.csv
    """
    with told():
        from audit.report import Request, print_relation

        request = Request(
            paths, output.value, strict, env=env, variant=variant, condition=condition, cache=not no_cache
        )
        print_relation(request, "mentions")


@app.command()
def show(
    path: Annotated[Path, typer.Argument(metavar="DIR", help="A folder or archive of records.")],
    env: Annotated[str, typer.Argument(metavar="ENV", help="Task.")],
    variant: Annotated[str, typer.Argument(metavar="VARIANT", help="Method.")],
    run: Annotated[int, typer.Argument(metavar="RUN", help="Run, from 1.")],
    iteration: Annotated[int, typer.Argument(metavar="ITERATION", help="Iteration, from 0.")],
    condition: Annotated[str | None, typer.Option("--condition", help="Condition, where several have it.")] = None,
    output: Annotated[
        ShowFormat, typer.Option("--format", help="Text to read, or one JSON object.")
    ] = ShowFormat.table,
    detector: DetectorOption = Detector.word,
    overrides: SetOption = None,
    strict: StrictOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """One revision in full, to read: evidence, edits, classification and the critic's answer.

    Example: audit show data/runs cartpole threetraj 1 17
    """
    with told():
        from audit.report import Request, print_revision

        request = Request([path], output.value, strict, detector.value, overrides, cache=not no_cache)
        print_revision(request, env, variant, run, iteration, condition)


app.add_typer(cli_pack.commands)
app.add_typer(cli_rerun.commands)


def main() -> None:
    """Run the command line."""
    app()
