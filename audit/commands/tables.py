"""The commands that print one relation each."""

from __future__ import annotations

from typing import Annotated

import typer

from audit.commands.reading import reading
from audit.request import Request

commands = typer.Typer()


@commands.command()
@reading()
def summary(request: Request) -> None:
    """How revisions turned out: deltas, edit distances, acceptance, directions.

    Example: audit summary logs/ data/runs --format markdown
    """
    _print(request, "summary")


@commands.command()
@reading(detector=True)
def salience(request: Request) -> None:
    """Salience-problem regressions, strict and permissive, where the critic saw worst, median and best.

    Example: audit salience logs.tar.xz --detector phrase
    """
    _print(request, "salience")


@commands.command()
@reading(detector=True)
def rates(request: Request) -> None:
    """Base rates: who cites the worst rollout, and do revisions that cite it regress more often than the others?

    Intervals are 95%, by bootstrap over runs; the p-value is of a logistic regression with errors by run.

    Example: audit rates data/runs --detector resolved
    """
    _print(request, "base_rates")


@commands.command()
@reading(detector=True)
def noise(request: Request) -> None:
    """How many regressions chance alone would have produced, and how many are more than chance.

    Example: audit noise data/runs --env cartpole
    """
    _print(request, "noise_summary")


@commands.command()
@reading(thresholds=True)
def controls(request: Request) -> None:
    """Regressions against those of puresearch, whose second proposal saw no evidence, from equally good starts.

    Example: audit controls data/runs --env pong --format csv
    """
    _print(request, "controls")


@commands.command()
@reading(detector=True)
def severity(request: Request) -> None:
    """Citing and regressions by severity, (median - worst) / (best - worst): how far the worst rollout stands out.

    Example: audit severity data/runs --detector resolved
    """
    _print(request, "severity_summary")


@commands.command()
@reading()
def agreement(request: Request) -> None:
    """How the worst, median and best rollout agree, and what revisions gain in each case.

    Example: audit agreement data/runs --env pong
    """
    _print(request, "agreement_summary")


@commands.command()
@reading(thresholds=True)
def patterns(
    request: Request,
    wide: Annotated[
        bool, typer.Option("--wide", help="Methods side by side, a row per pattern, failure patterns named.")
    ] = False,
) -> None:
    """How often each edit pattern occurs; percentages are of all revisions.

    Example: audit patterns logs/ --set cartpole.high=460 --set pong.partial=1.2
    """
    if wide:
        from audit.reports.side_by_side import print_side_by_side

        print_side_by_side(request)
    else:
        _print(request, "patterns_summary")


@commands.command()
@reading(detector=True, thresholds=True, runs=True)
def revisions(request: Request) -> None:
    """One row per revision, with its evidence and every classification.

    Example: audit revisions data/runs --format csv > revisions.csv
    """
    _print(request, "revisions")


@commands.command()
@reading(runs=True)
def runs(request: Request) -> None:
    """Mean, best and final return of every run.

    Example: audit runs data/runs --variant r2po --format json
    """
    _print(request, "runs")


@commands.command()
@reading(runs=True)
def mentions(request: Request) -> None:
    """Which rollouts critics' answers and thinking talk about: one row per mention.

    Example: audit mentions data/runs --variant threetraj --format csv > mentions.csv
    """
    _print(request, "mentions")


def _print(request: Request, relation: str) -> None:
    from audit.reports.relation import print_relation

    print_relation(request, relation)
