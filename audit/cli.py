"""The `audit` command: options in, one relation out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from audit.problems import AuditError, UsageError

app = typer.Typer(
    name="audit",
    help="Find out from raw records what the critic did: how revisions turned out, and what its answers refer to.",
    epilog="Example: audit salience data/runs --env cartpole --detector phrase --format csv",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


class Format(StrEnum):
    """How a result is written."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"


class ShowFormat(StrEnum):
    """How a single revision is written."""

    table = "table"
    json = "json"


class Detector(StrEnum):
    """How references to the worst rollout are found."""

    word = "word"
    phrase = "phrase"


Paths = Annotated[
    list[Path],
    typer.Argument(metavar="DIR", help="Folders or tar archives of native records or of released logs, one or more."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How the rows are written to standard output.")]
DetectorOption = Annotated[
    Detector,
    typer.Option("--detector", help="A reference is the word 'worst' (word), or 'worst rollout|trajectory' (phrase)."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="TASK.KEY=VALUE", help="Set a threshold of the edit patterns; repeatable."),
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Refuse records with problems instead of leaving them out.")
]
EnvOption = Annotated[list[str] | None, typer.Option("--env", help="Only this task; repeatable.")]
VariantOption = Annotated[list[str] | None, typer.Option("--variant", help="Only this method; repeatable.")]
ConditionOption = Annotated[list[str] | None, typer.Option("--condition", help="Only this condition; repeatable.")]


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Turn what a user can cause into one line and an exit status: 2 for usage, 1 for failure, 130 for Ctrl-C."""
    try:
        yield
        sys.stdout.flush()
    except AuditError as error:
        typer.echo(f"audit: {error}", err=True)
        raise typer.Exit(2 if isinstance(error, UsageError) else 1) from None
    except KeyboardInterrupt:
        typer.echo("audit: interrupted", err=True)
        raise typer.Exit(130) from None
    except BrokenPipeError:
        # The reader, say `head`, has seen enough; the interpreter must not try to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except Exception as error:
        # A full disk, a file that goes away under the reader: DuckDB is not imported here, `--help` being quick.
        if not (isinstance(error, OSError) or "duckdb" in type(error).__module__):
            raise
        typer.echo(f"audit: {str(error).strip().splitlines()[0]}", err=True)
        raise typer.Exit(1) from None


@app.command()
def summary(
    paths: Paths,
    output: FormatOption = Format.table,
    strict: StrictOption = False,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
) -> None:
    """How revisions turned out: deltas, edit distances, acceptance, directions.

    Example: audit summary logs/ data/runs --format markdown
    """
    with _told():
        from audit.report import Request, print_relation

        request = Request(paths, output.value, strict, env=env, variant=variant, condition=condition)
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
) -> None:
    """Salience-problem regressions, strict and permissive, where the critic saw worst, median and best.

    Example: audit salience logs.tar.xz --detector phrase
    """
    with _told():
        from audit.report import Request, print_relation

        request = Request(paths, output.value, strict, detector.value, env=env, variant=variant, condition=condition)
        print_relation(request, "salience_summary")


@app.command()
def agreement(
    paths: Paths,
    output: FormatOption = Format.table,
    strict: StrictOption = False,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
) -> None:
    """How the worst, median and best rollout agree, and what revisions gain in each case.

    Example: audit agreement data/runs --env pong
    """
    with _told():
        from audit.report import Request, print_relation

        request = Request(paths, output.value, strict, env=env, variant=variant, condition=condition)
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
) -> None:
    """How often each edit pattern occurs; percentages are of all revisions.

    Example: audit patterns logs/ --set cartpole.high=460 --set pong.partial=1.2
    """
    with _told():
        from audit.report import Request, print_relation

        request = Request(
            paths, output.value, strict, settings=overrides, env=env, variant=variant, condition=condition
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
) -> None:
    """One row per revision, with its evidence and every classification.

    Example: audit revisions data/runs --format csv > revisions.csv
    """
    with _told():
        from audit.report import Request, print_relation

        request = Request(
            paths, output.value, strict, detector.value, overrides, env=env, variant=variant, condition=condition
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
) -> None:
    """Mean, best and final return of every run.

    Example: audit runs data/runs --variant r2po --format json
    """
    with _told():
        from audit.report import Request, print_relation

        request = Request(paths, output.value, strict, env=env, variant=variant, condition=condition)
        print_relation(request, "runs")


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
) -> None:
    """One revision in full, to read: evidence, edits, classification and the critic's answer.

    Example: audit show data/runs cartpole threetraj 1 17
    """
    with _told():
        from audit.report import Request, print_revision

        request = Request([path], output.value, strict, detector.value, overrides)
        print_revision(request, env, variant, run, iteration, condition)


def main() -> None:
    """Run the command line."""
    app()
