"""Every identity that must hold within and between the tables of rewards."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from stats.published.intervals import INFINITY, ZERO, Interval, highest, point
from stats.published.printed import Printed
from stats.published.results import Result, Status, judge
from stats.published.significance import PrintedTest, check_tests
from stats.published.source import Paper, Row
from stats.published.welch_bounds import exact_sample, sample

METRICS: Final = ("mean_reward", "best_reward")
RUNS: Final = 10
"""Runs behind each number of the table of extended budgets, by its caption."""


def compare(
    table: str, item: str, quantity: str, published: Printed, found: Interval, wrong: str, face: Interval | None = None
) -> Result:
    """Compare a printed number with a recomputed one; `wrong` names what it contradicts."""
    status = judge(published, found, face=face)
    return Result(table, item, quantity, status, published.text, found, None if status is Status.consistent else wrong)


def at_least(low: Interval) -> Interval:
    """Numbers that are not below all of an interval."""
    return Interval(low.low, INFINITY)


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


def significance(paper: Paper) -> Iterator[Result]:
    """Both tables of Welch tests: copied means, differences, t, p, and p after Holm's correction."""
    for metric in METRICS:
        table = f"significance_{metric}"
        for row in paper.rows(table):
            item = f"{row['environment']}/{row['baseline']}"
            for column, method in (("baseline_mean", row["baseline"]), ("r2po_mean", "r2po")):
                source = paper.row(metric, environment=row["environment"], method=method)
                yield _copy(table, item, column, row.number(column), metric, source.number("mean"))
        yield from check_tests(table, significance_tests(paper, metric))


def _copy(table: str, item: str, quantity: str, published: Printed, origin: str, source: Printed) -> Result:
    return compare(table, item, quantity, published, source.interval, f"{origin} has {source.text}")


def stability(paper: Paper) -> Iterator[Result]:
    """Best minus mean."""
    for row in paper.rows("stability_gap"):
        where = {"environment": row["environment"], "method": row["method"]}
        mean, best = (paper.row(metric, **where).number("mean") for metric in METRICS)
        wrong = f"mean best reward {best.text} minus mean reward {mean.text} is something else"
        found, face = best.interval - mean.interval, point(best.value) - point(mean.value)
        yield compare("stability_gap", _cell(row), "gap", row.number("gap"), found, wrong, face)


def copies(paper: Paper) -> Iterator[Result]:
    """Numbers that two tables have: R2PO's among the variants, the default among thresholds, the best baseline."""
    for metric in METRICS:
        table = f"variants_{metric}"
        yield from _copies_of_r2po(paper, table, metric, ("mean", "std"), column="R2PO")
        for row in paper.rows(table, column="BestBaseline"):
            yield from _best_baseline(paper, table, metric, row)
        yield from _copies_of_r2po(paper, "tau_sensitivity", metric, (metric, f"{metric}_std"), setting="default")


def _copies_of_r2po(paper: Paper, table: str, metric: str, columns: tuple[str, str], **where: str) -> Iterator[Result]:
    for row in paper.rows(table, **where):
        origin = paper.row(metric, environment=row["environment"], method="r2po")
        for column, name in zip(columns, ("mean", "std"), strict=True):
            yield _copy(table, _cell(row), column, row.number(column), metric, origin.number(name))


def _best_baseline(paper: Paper, table: str, metric: str, row: Row) -> Iterator[Result]:
    baselines = [each for each in paper.rows(metric, environment=row["environment"]) if each["method"] != "r2po"]
    best = highest(each.number("mean").interval for each in baselines)
    item = f"{row['environment']}/BestBaseline"
    yield compare(table, item, "mean", row.number("mean"), best, f"not the best baseline of {metric}")
    origin = paper.row(metric, environment=row["environment"], method=row["method"])
    yield _copy(table, item, "std", row.number("std"), metric, origin.number("std"))


def thresholds(paper: Paper) -> Iterator[Result]:
    """Revision thresholds: the same in both tables, halved as announced, not above an optimum that nothing exceeds."""
    for row in paper.rows("tau_sensitivity", setting="default"):
        source = paper.row("thresholds", environment=row["environment"]).number("tau_c")
        yield _copy("tau_sensitivity", _cell(row), "tau_c", row.number("tau_c"), "thresholds", source)
        half = paper.row("tau_sensitivity", environment=row["environment"], setting="half")
        found = row.number("tau_c").interval / point(2)
        yield compare("tau_sensitivity", _cell(half), "tau_c", half.number("tau_c"), found, "not half the default")
    for row in paper.rows("thresholds"):
        optimum, tau_c = row.number("optimum"), row.number("tau_c")
        found = Interval(-INFINITY, optimum.interval.high)
        yield compare("thresholds", row["environment"], "tau_c", tau_c, found, "above the optimum")
        tables = ("best_reward", "variants_best_reward")
        reaching = [each for table in tables for each in paper.rows(table, environment=row["environment"])]
        best = max(reaching, key=lambda each: each.number("mean").value)
        reached = best.number("mean")
        wrong = (
            f"headed optimal reward, yet {best['method']} reaches a mean best reward of {reached.text}; "
            "it is a reference, as a footnote says, not an optimum"
        )
        yield compare("thresholds", row["environment"], "optimum", optimum, at_least(reached.interval), wrong)


def order(paper: Paper) -> Iterator[Result]:
    """No mean over a run exceeds the run's best."""
    for prefix in ("", "variants_"):
        for row in paper.rows(f"{prefix}best_reward"):
            for mean in paper.rows(f"{prefix}mean_reward", environment=row["environment"], method=row["method"]):
                found = at_least(mean.number("mean").interval)
                wrong = f"below the mean reward, {mean['mean']}"
                yield compare(f"{prefix}best_reward", _cell(row), "mean", row.number("mean"), found, wrong)


def extended_budget(paper: Paper) -> Iterator[Result]:
    """R2PO's row from its mean best reward; best and second best baseline in order."""
    table = "props_extended_budget"
    for row in paper.rows(table, column="r2po"):
        source = paper.row("best_reward", environment=row["environment"], method="r2po")
        yield _copy(table, _cell(row), "best_reward", row.number("best_reward"), "best_reward", source.number("mean"))
        found = source.number("std").interval / point(source.count("runs")).root()
        wrong = f"not the standard deviation {source['std']} over the root of {source['runs']} runs"
        yield compare(table, _cell(row), "standard_error", row.number("standard_error"), found, wrong)
    for row in paper.rows(table, column="best_baseline"):
        second = paper.row(table, environment=row["environment"], column="second_best_baseline")
        found = at_least(second.number("best_reward").interval)
        item = f"{row['environment']}/best_baseline"
        yield compare(table, item, "best_reward", row.number("best_reward"), found, "below the second best baseline")


def spreads(paper: Paper) -> Iterator[Result]:
    """Means within what a task can return, and no standard deviation larger than such returns can have."""
    for table in ("mean_reward", "best_reward", "variants_mean_reward", "variants_best_reward"):
        for row in paper.rows(table):
            item = f"{row['environment']}/{row['column']}"
            yield from _spread(paper, table, item, row, ("mean", "std"), row.count("runs"))
    for row in paper.rows("tau_sensitivity"):
        for metric in METRICS:
            yield from _spread(paper, "tau_sensitivity", _cell(row), row, (metric, f"{metric}_std"), RUNS)
    for row in paper.rows("props_extended_budget"):
        item = f"{row['environment']}/{row['column']}"
        yield from _spread(paper, "props_extended_budget", item, row, ("best_reward", "standard_error"), RUNS)


def _spread(paper: Paper, table: str, item: str, row: Row, columns: tuple[str, str], n: int) -> Iterator[Result]:
    limits = next(paper.rows("return_ranges", environment=row["environment"]), None)
    if limits is None:
        return
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


def _cell(row: Row) -> str:
    fields = row.fields
    return "/".join(fields[column] for column in ("environment", "method", "setting") if column in fields)
