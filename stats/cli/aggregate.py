"""Commands over several tasks: aggregates, performance profiles, sample-efficiency curves and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from audit.options import Options
from audit.output.rows import Table
from stats.cli.records import deliver, reading

if TYPE_CHECKING:
    from stats.cli.scored import Scored
    from stats.tables.metrics import Row

commands = typer.Typer()


class ReturnName(StrEnum):
    """Which return of a run is its score."""

    mean_return = "mean_return"
    best_return = "best_return"


class CurveName(StrEnum):
    """What a run's score is after some of its iterations."""

    kept_return = "kept_return"
    mean_return = "mean_return"
    best_return = "best_return"


REFERENCE: Final = "r2po"

MetricOption = Annotated[ReturnName, typer.Option(help="Which return of a run is its score.")]
ScaleOption = Annotated[
    list[str] | None,
    typer.Option("--scale", metavar="TASK=FLOOR:OPTIMUM", help="Returns with the scores 0 and 1; repeatable."),
]


@commands.command()
@reading()
def aggregate(
    options: Options,
    metric: MetricOption = ReturnName.mean_return,
    reference: Annotated[
        str | None,
        typer.Option(
            help=f"The method whose probability of beating each of the others is estimated.  [default: {REFERENCE}]"
        ),
    ] = None,
    scale: ScaleOption = None,
) -> None:
    """Interquartile mean, optimality gap, probability of improvement and mean rank over tasks, with 95% intervals.

    Example: stats aggregate data/runs --metric best_return --reference r2po
    """
    from stats.cli.scored import read_scored
    from stats.tables import aggregates as tables

    scored = read_scored(options, metric.value, scale or [], reference=reference)
    chosen = scored.reference(REFERENCE)
    rows = tables.aggregate(scored.comparisons, metric.value, chosen)
    hidden = {"metric", "reference", "median", "optimality_gap", "optimality_gap_low", "optimality_gap_high", "note"}
    title = f"Scores over tasks, {_words(metric)}; improvement: chance that {chosen} beats the method"
    headings = {"probability_of_improvement": "improvement"}
    _print(rows, tables.AGGREGATE_COLUMNS, options, title, scored, hidden, headings)


@commands.command()
@reading()
def profile(
    options: Options,
    metric: MetricOption = ReturnName.mean_return,
    steps: Annotated[int, typer.Option(help="Number of steps between the thresholds 0 and 1.", min=1, max=1000)] = 20,
    scale: ScaleOption = None,
) -> None:
    """Performance profiles: the share of runs whose score exceeds tau, averaged over tasks, with 95% intervals.

    Example: stats profile data/runs --metric best_return --format csv
    """
    from stats.cli.scored import read_scored
    from stats.tables import aggregates as tables

    scored = read_scored(options, metric.value, scale or [])
    thresholds = [round(step / steps, 12) for step in range(steps + 1)]
    rows = tables.profile(scored.comparisons, metric.value, thresholds)
    title = f"Share of runs with a score above tau, {_words(metric)}"
    _print(rows, tables.PROFILE_COLUMNS, options, title, scored, {"metric", "note"})


@commands.command()
@reading()
def efficiency(
    options: Options,
    metric: Annotated[
        CurveName, typer.Option(help="A run's score: the return kept last, or the mean or best one so far.")
    ] = CurveName.kept_return,
    points: Annotated[
        int, typer.Option(help="Number of points on each curve, in rollouts spent.", min=1, max=1000)
    ] = 20,
    scale: ScaleOption = None,
) -> None:
    """Sample-efficiency curves: interquartile mean of scores against rollouts spent, with 95% intervals.

    Example: stats efficiency data/runs --metric best_return --format csv
    """
    from stats.cli.scored import read_scored
    from stats.tables import efficiency as tables

    scored = read_scored(options, metric.value, scale or [], curves=True)
    rows = tables.efficiency(scored.comparisons, metric.value, points=points)
    title = f"Interquartile mean of scores after so many rollouts, {_words(metric)}"
    _print(rows, tables.EFFICIENCY_COLUMNS, options, title, scored, {"metric", "note"})


@commands.command()
@reading()
def ranks(
    options: Options,
    metric: MetricOption = ReturnName.mean_return,
    scale: ScaleOption = None,
) -> None:
    """Rank stability: how often each method takes each rank when runs are resampled, and whether tasks agree.

    Example: stats ranks data/runs --metric best_return
    """
    from stats.cli.scored import read_scored
    from stats.tables import aggregates as tables

    scored = read_scored(options, metric.value, scale or [])
    rows = tables.ranks(scored.comparisons, metric.value)
    title = f"How often each method takes each rank, by interquartile mean, {_words(metric)}"
    _print(rows, tables.RANK_COLUMNS, options, title, scored, {"metric", "note"})


def _print(
    rows: Sequence[Row],
    columns: Sequence[str],
    options: Options,
    title: str,
    scored: Scored,
    hidden: set[str],
    headings: Mapping[str, str] | None = None,
) -> None:
    """Print rows; a table for people has each note once, below, and not in every row."""
    shown = [column for column in columns if column not in hidden]
    caption = scored.caption
    if options.output == "table":
        caption = "\n".join(filter(None, [caption, *_notes(rows)])) or None
    deliver(
        Table(columns=columns, rows=rows, title=title, essential=shown, caption=caption, headings=headings), options
    )


def _notes(rows: Sequence[Row]) -> list[str]:
    """What the notes of rows hold, each part once."""
    from audit.output.escaping import visible
    from stats.tables.aggregates import parts_of_notes

    return [
        visible(f"{', '.join([condition, *sorted(methods)])}: {part}.")
        for condition, part, methods in parts_of_notes(rows)
    ]


def _words(metric: StrEnum) -> str:
    return metric.value.replace("_", " ")
