"""What the tables of rewards have beside identities: printed tests, and how far returns can spread."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from stats.published.intervals import ZERO, Interval, point
from stats.published.printed import Printed
from stats.published.results import Result, Status, compare
from stats.published.significance import PrintedTest
from stats.published.source import Paper, Row
from stats.published.welch_bounds import exact_sample, sample

METRICS: Final = ("mean_reward", "best_reward")
RUNS: Final = 10
"""Runs behind each number of the table of extended budgets, by its caption."""


def significance_tests(paper: Paper, metric: str) -> list[PrintedTest]:
    """The printed tests of a metric, with the summaries that they are tests of."""
    tests = []
    for row in paper.rows(f"significance_{metric}"):
        ours = paper.row(metric, environment=row["environment"], method="r2po")
        theirs = paper.row(metric, environment=row["environment"], method=row["baseline"])
        printed = {name: row.number(name) for name in ("gap", "welch_t", "raw_p", "holm_p")}
        summaries = [summary(each) for each in (ours, theirs)]
        tests.append(
            PrintedTest(
                item=f"{row['environment']}/{row['baseline']}",
                family=row["baseline_family"],
                samples=(sample(*summaries[0]), sample(*summaries[1])),
                face=(exact_sample(*summaries[0]), exact_sample(*summaries[1])),
                printed=printed,
            )
        )
    return tests


def summary(row: Row) -> tuple[Printed, Printed, int]:
    """The mean, standard deviation and number of runs of a row."""
    return row.number("mean"), row.number("std"), row.count("runs")


def spreads(paper: Paper, ranges: str = "return_ranges") -> Iterator[Result]:
    """Means within what a task can return, and no standard deviation larger than such returns can have."""
    for table in ("mean_reward", "best_reward", "variants_mean_reward", "variants_best_reward"):
        for row in paper.rows(table):
            yield from _spread(paper, ranges, table, row, ("mean", "std"), row.count("runs"))
    for row in paper.rows("tau_sensitivity"):
        for metric in METRICS:
            yield from _spread(paper, ranges, "tau_sensitivity", row, (metric, f"{metric}_std"), RUNS)
    for row in paper.rows("props_extended_budget"):
        yield from _spread(paper, ranges, "props_extended_budget", row, ("best_reward", "standard_error"), RUNS)


def _spread(paper: Paper, ranges: str, table: str, row: Row, columns: tuple[str, str], n: int) -> Iterator[Result]:
    limits = next(paper.rows(ranges, environment=row["environment"]), None)
    if limits is None:
        return
    item = "/".join(row.fields[name] for name in ("environment", "column", "setting") if name in row.fields)
    lowest, most = limits.number("lowest").value, limits.number("highest").value
    mean, spread = (row.number(column) for column in columns)
    inside = compare(
        table, item, columns[0], mean, Interval(lowest, most), f"no return of this task: {limits['reason']}"
    )
    yield inside
    if inside.status is Status.inconsistent:
        return
    std = possible_std(mean.interval, lowest, most, n)
    is_error = columns[1] == "standard_error"
    found = std / point(n).root() if is_error else std
    wrong = f"{n} values from {lowest} to {most} with the mean {mean.text} cannot spread so far"
    if is_error and spread.interval.meets(std):
        wrong += "; as a standard deviation it is possible, as a standard error it is not"
    yield compare(table, item, columns[1], spread, found, wrong)


def possible_std(mean: Interval, lowest: Decimal, highest: Decimal, n: int) -> Interval:
    """Bounds of the sample standard deviation (n - 1) of n values between two limits, given their mean.

    The mean of their squared distances from the mean is at most (highest - mean) (mean - lowest): R. Bhatia and
    C. Davis, "A better bound on the variance", American Mathematical Monthly 107 (2000).

    Args:
        mean: what the mean can be.
        lowest: no value is below.
        highest: no value is above.
        n: how many values, two or more.

    Raises:
        ValueError: the mean cannot lie within the limits.
    """
    inside = mean & Interval(lowest, highest)
    # The product is a parabola in the mean: largest next to the middle of the range.
    middle = (lowest + highest) / 2
    top = point(min(max(middle, inside.low), inside.high))
    most = (point(highest) - top) * (top - point(lowest)) * point(n) / point(n - 1)
    return Interval(ZERO, most.root().high)
