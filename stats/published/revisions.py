"""Every identity that must hold within and between the tables about revisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stats.published.intervals import ZERO, Interval, point, total
from stats.published.printed import Printed
from stats.published.results import Result
from stats.published.source import Paper, Row
from stats.published.tables import at_least, compare

_HUNDRED: Final = point(100)


def shares(paper: Paper) -> Iterator[Result]:
    """Accepted and regressing revisions make up all; patterns are among the revisions that they can be patterns of."""
    for row in paper.rows("revision_summary", metric="accepted_pct"):
        regressions = _metric(paper, row, "regressions_pct")
        found = _HUNDRED - regressions.interval
        wrong = f"with {regressions.text}% regressions it is not 100%: a revision is accepted unless it is a regression"
        yield compare("revision_summary", _item(row), "accepted_pct", row.number("value"), found, wrong)
    for outcome, patterns in (
        ("regressions_pct", ("near_optimal_break", "surgical_backfire")),
        ("accepted_pct", ("pinpoint_fix", "fine_tune")),
    ):
        for row in paper.rows("revision_summary", metric=outcome):
            where = {"environment": row["environment"], "method": row["method"]}
            parts = [paper.row("edit_patterns", **where, pattern=pattern) for pattern in patterns]
            needed = total(part.number("pct_of_episodes").interval for part in parts)
            wrong = f"less than {' and '.join(patterns)} together, which are some of them"
            yield compare("revision_summary", _item(row), outcome, row.number("value"), at_least(needed), wrong)
    for row in paper.rows("always_critic", quantity="regressions_pct"):
        part = paper.row("always_critic", environment=row["environment"], quantity="near_optimal_break_pct")
        found = at_least(part.number("value").interval)
        wrong = f"less than {part['value']}% near-optimal breaks, which are some of them"
        yield compare("always_critic", row["environment"], "regressions_pct", row.number("value"), found, wrong)


def salience(paper: Paper) -> Iterator[Result]:
    """Counts within counts, percentages of counts, and counts against those of the released results."""
    for row in paper.rows("salience"):
        env, episodes = row["environment"], row.count("episodes")
        counts = {column: point(row.count(column)) for column in ("episodes", "regressions", "strict", "permissive")}
        summary = _metric(paper, row, "regressions_pct", method="threetraj")
        share = counts["regressions"] * _HUNDRED / counts["episodes"]
        yield compare(
            "revision_summary", f"{env}/threetraj", "regressions_pct", summary, share,
            f"not {row['regressions']} of {episodes}",
        )  # fmt: skip
        for inner, outer in (("strict", "permissive"), ("permissive", "regressions"), ("regressions", "episodes")):
            found = Interval(ZERO, counts[outer].high)
            yield compare("salience", env, inner, row.number(inner), found, f"more than {outer}, which it is among")
        release = paper.row("salience_release", environment=env)
        for column, released in (
            ("episodes", "episodes"),
            ("regressions", "regressions"),
            ("strict", "worst_below_median_and_cited"),
            ("permissive", "worst_below_best_and_cited"),
        ):
            found = point(release.count(released))
            wrong = f"the released results have {release[released]}"
            yield compare("salience", env, column, row.number(column), found, wrong)


_WITHIN: Final = (
    ("worst_below_median_and_cited", "worst_below_median"),
    ("worst_below_median_and_cited", "worst_below_best_and_cited"),
    ("worst_below_best_and_cited", "worst_below_best"),
    ("worst_below_median", "worst_below_best"),
    ("worst_below_best", "regressions"),
    ("regressions", "episodes"),
)


def release(paper: Paper) -> Iterator[Result]:
    """Counts of the release within each other."""
    for row in paper.rows("salience_release"):
        for inner, outer in _WITHIN:
            found = Interval(ZERO, point(row.count(outer)).high)
            wrong = f"more than {outer}, which it is among"
            yield compare("salience_release", row["environment"], inner, row.number(inner), found, wrong)


def agreement(paper: Paper) -> Iterator[Result]:
    """Pong's structures of agreement: their sum, and their mean delta against that of all episodes."""
    rows = list(paper.rows("pong_agreement"))
    counts = [row.count("episodes") for row in rows]
    released = paper.row("salience_release", environment="pong")
    equal = released.count("regressions") - released.count("worst_below_best")
    everything = released.count("episodes")
    text = str(sum(counts))
    wrong = (
        f"all three rows have worst < best, yet {equal} of {released['regressions']} regressions have three equal "
        f"rollouts, so at most {everything - equal} of {everything} episodes can be in them"
    )
    found = Interval(ZERO, point(everything - equal).high)
    yield compare("pong_agreement", "all rows", "episodes", _count(text), found, wrong)
    weighted = total(point(n) * row.number("mean_delta").interval for n, row in zip(counts, rows, strict=True))
    summary = paper.row("revision_summary", environment="pong", method="threetraj", metric="mean_delta")
    found = weighted / point(sum(counts))
    wrong = "not the mean of the rows of pong_agreement, weighted with their episodes"
    yield compare("revision_summary", "pong/threetraj", "mean_delta", summary.number("value"), found, wrong)


def _count(text: str) -> Printed:
    number = point(int(text))
    return Printed(text, number.low, number)


def _metric(paper: Paper, row: Row, metric: str, method: str | None = None) -> Printed:
    where = {"environment": row["environment"], "method": method or row["method"]}
    return paper.row("revision_summary", **where, metric=metric).number("value")


def _item(row: Row) -> str:
    return f"{row['environment']}/{row['method']}"
