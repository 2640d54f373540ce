"""Commands over several tasks: aggregates, performance profiles, sample-efficiency curves and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from audit.options import ConditionOption, EnvOption, Format, FormatOption, Paths, StrictOption, VariantOption

if TYPE_CHECKING:
    from stats.commands.scored import Scored
    from stats.tables import Row


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


def aggregate(
    paths: Paths,
    metric: MetricOption = ReturnName.mean_return,
    reference: Annotated[
        str | None,
        typer.Option(help=f"The method whose chance to beat each other one is found.  [default: {REFERENCE}]"),
    ] = None,
    scale: ScaleOption = None,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
    output: FormatOption = Format.table,
    strict: StrictOption = False,
) -> None:
    """Interquartile mean, optimality gap, probability of improvement and mean rank over tasks, with 95% intervals.

    Example: stats aggregate data/runs --metric best_return --reference r2po
    """
    from stats import aggregate_tables as tables

    scored = _scored(paths, metric.value, scale, env, variant, condition, strict=strict)
    chosen = scored.reference(reference, REFERENCE)
    rows = tables.aggregate(scored.comparisons, metric.value, chosen)
    hidden = {"metric", "reference", "median", "optimality_gap", "optimality_gap_low", "optimality_gap_high", "note"}
    title = f"Scores over tasks, {_words(metric)}; improvement: chance that {chosen} beats the method"
    _print(rows, tables.AGGREGATE_COLUMNS, output, title, scored, hidden, {"probability_of_improvement": "improvement"})


def profile(
    paths: Paths,
    metric: MetricOption = ReturnName.mean_return,
    steps: Annotated[int, typer.Option(help="Thresholds from 0 to 1 are so many steps apart.", min=1, max=1000)] = 20,
    scale: ScaleOption = None,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
    output: FormatOption = Format.table,
    strict: StrictOption = False,
) -> None:
    """Performance profiles: the share of runs whose score exceeds tau, averaged over tasks, with 95% intervals.

    Example: stats profile data/runs --metric best_return --format csv
    """
    from stats import aggregate_tables as tables

    scored = _scored(paths, metric.value, scale, env, variant, condition, strict=strict)
    thresholds = [round(step / steps, 12) for step in range(steps + 1)]
    rows = tables.profile(scored.comparisons, metric.value, thresholds)
    title = f"Share of runs with a score above tau, {_words(metric)}"
    _print(rows, tables.PROFILE_COLUMNS, output, title, scored, {"metric", "note"})


def efficiency(
    paths: Paths,
    metric: Annotated[
        CurveName, typer.Option(help="A run's score: the return kept last, or the mean or best one so far.")
    ] = CurveName.kept_return,
    points: Annotated[int, typer.Option(help="At how many numbers of rollouts.", min=1, max=1000)] = 20,
    scale: ScaleOption = None,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
    output: FormatOption = Format.table,
    strict: StrictOption = False,
) -> None:
    """Sample-efficiency curves: interquartile mean of scores against rollouts spent, with 95% intervals.

    Example: stats efficiency data/runs --metric best_return --format csv
    """
    from stats import efficiency as tables

    scored = _scored(paths, metric.value, scale, env, variant, condition, strict=strict, curves=True)
    rows = tables.efficiency(scored.comparisons, metric.value, points=points)
    title = f"Interquartile mean of scores after so many rollouts, {_words(metric)}"
    _print(rows, tables.EFFICIENCY_COLUMNS, output, title, scored, {"metric", "note"})


def ranks(
    paths: Paths,
    metric: MetricOption = ReturnName.mean_return,
    scale: ScaleOption = None,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
    output: FormatOption = Format.table,
    strict: StrictOption = False,
) -> None:
    """Rank stability: how often each method takes each rank when runs are drawn anew, and whether tasks agree.

    Example: stats ranks data/runs --metric best_return
    """
    from stats import aggregate_tables as tables

    scored = _scored(paths, metric.value, scale, env, variant, condition, strict=strict)
    rows = tables.ranks(scored.comparisons, metric.value)
    title = f"How often a method takes a rank by interquartile mean, {_words(metric)}"
    _print(rows, tables.RANK_COLUMNS, output, title, scored, {"metric", "note"})


def register(app: typer.Typer) -> None:
    """Add these commands to `stats`."""
    for command in (aggregate, profile, efficiency, ranks):
        app.command()(command)


def _scored(
    paths: Sequence[Path],
    metric: str,
    scale: Sequence[str] | None,
    env: Sequence[str] | None,
    variant: Sequence[str] | None,
    condition: Sequence[str] | None,
    *,
    strict: bool,
    curves: bool = False,
) -> Scored:
    from audit.request import Request
    from stats.commands.scored import read_scored

    groups = Request(paths=paths, env=env, variant=variant, condition=condition)
    return read_scored(groups, metric, scale or [], strict=strict, curves=curves)


def _print(
    rows: Sequence[Row],
    columns: Sequence[str],
    output: Format,
    title: str,
    scored: Scored,
    hidden: set[str],
    headings: Mapping[str, str] | None = None,
) -> None:
    """Print rows; in a table for people each note stands once below, and not in every row."""
    from audit.output import print_rows

    shown = [column for column in columns if column not in hidden]
    caption = scored.caption
    if output is Format.table:
        caption = "\n".join(filter(None, [caption, *_notes(rows)])) or None
    print_rows(rows, columns, output.value, title=title, essential=shown, caption=caption, headings=headings)


def _notes(rows: Sequence[Row]) -> list[str]:
    """Each part of a note once, with the methods it is about, unless it is about all methods of a condition."""
    from audit.escaping import visible

    methods = {row["condition"]: {r["variant"] for r in rows if r["condition"] == row["condition"]} for row in rows}
    about: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        for part in (row["note"] or "").split("; "):
            if part:
                about.setdefault((row["condition"], part), set()).add(row["variant"])
    return [
        visible(f"{condition}{'' if those == methods[condition] else ', ' + ', '.join(sorted(those))}: {part}.")
        for (condition, part), those in about.items()
    ]


def _words(metric: StrEnum) -> str:
    return metric.value.replace("_", " ")
