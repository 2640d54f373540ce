"""Every identity that must hold within and between the tables about revisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from stats.published.intervals import ZERO, Interval, point, total
from stats.published.printed import Printed
from stats.published.results import Result
from stats.published.source import Paper, Row
from stats.published.tables import at_least, compare

_AMONG: Final = (("strict", "permissive"), ("permissive", "regressions"), ("regressions", "episodes"))
_RELEASED: Final = (
    ("episodes", "episodes"),
    ("regressions", "regressions"),
    ("strict", "worst_below_median_and_cited"),
    ("permissive", "worst_below_best_and_cited"),
)
_AMONG_RELEASED: Final = (
    ("worst_below_median_and_cited", "worst_below_median"),
    ("worst_below_median_and_cited", "worst_below_best_and_cited"),
    ("worst_below_best_and_cited", "worst_below_best"),
    ("worst_below_median", "worst_below_best"),
    ("worst_below_best", "regressions"),
    ("regressions", "episodes"),
)


def shares(paper: Paper) -> Iterator[Result]:
    """Accepted and regressing revisions make up all; patterns are among the revisions that they can be patterns of."""
    for row in paper.rows("revision_summary", metric="accepted_pct"):
        regressions = paper.cell(f"revision_summary/{row['environment']},{row['method']},regressions_pct/value")
        found = point(100) - regressions.interval
        wrong = f"with {regressions.text}% regressions it is not 100%: a revision is accepted unless it is a regression"
        yield _compare(row, "accepted_pct", found, wrong)
    for outcome, patterns in (
        ("regressions_pct", ("near_optimal_break", "surgical_backfire")),
        ("accepted_pct", ("pinpoint_fix", "fine_tune")),
    ):
        for row in paper.rows("revision_summary", metric=outcome):
            cells = [f"edit_patterns/{row['environment']},{row['method']},{name}/pct_of_episodes" for name in patterns]
            needed = total(paper.cell(cell).interval for cell in cells)
            wrong = f"less than {' and '.join(patterns)} together, which are some of them"
            yield _compare(row, outcome, at_least(needed), wrong)
    for row in paper.rows("always_critic", quantity="regressions_pct"):
        breaks = paper.cell(f"always_critic/{row['environment']},near_optimal_break_pct/value")
        wrong = f"less than {breaks.text}% near-optimal breaks, which are some of them"
        found = at_least(breaks.interval)
        yield compare("always_critic", row["environment"], "regressions_pct", row.number("value"), found, wrong)


def _compare(row: Row, quantity: str, found: Interval, wrong: str) -> Result:
    item = f"{row['environment']}/{row['method']}"
    return compare("revision_summary", item, quantity, row.number("value"), found, wrong)


def salience(paper: Paper) -> Iterator[Result]:
    """Counts within counts, percentages of counts, and counts against those of the released results."""
    for row in paper.rows("salience"):
        env = row["environment"]
        share = point(100 * row.count("regressions")) / point(row.count("episodes"))
        wrong = f"not {row['regressions']} of {row['episodes']}"
        summary = paper.row("revision_summary", environment=env, method="threetraj", metric="regressions_pct")
        yield _compare(summary, "regressions_pct", share, wrong)
        yield from _among("salience", row, _AMONG)
        release = paper.row("salience_release", environment=env)
        for column, released in _RELEASED:
            found = point(release.count(released))
            wrong = f"the released results have {release[released]}"
            yield compare("salience", env, column, row.number(column), found, wrong)


def release(paper: Paper) -> Iterator[Result]:
    """Counts of the release within each other."""
    for row in paper.rows("salience_release"):
        yield from _among("salience_release", row, _AMONG_RELEASED)


def _among(table: str, row: Row, pairs: Sequence[tuple[str, str]]) -> Iterator[Result]:
    for inner, outer in pairs:
        found = Interval(ZERO, point(row.count(outer)).high)
        wrong = f"more than {outer}, which it is among"
        yield compare(table, row["environment"], inner, row.number(inner), found, wrong)


def agreement(paper: Paper) -> Iterator[Result]:
    """Pong's structures of agreement: their sum, and their mean delta against that of all episodes."""
    rows = list(paper.rows("pong_agreement"))
    counts = [row.count("episodes") for row in rows]
    released = paper.row("salience_release", environment="pong")
    equal = released.count("regressions") - released.count("worst_below_best")
    everything = released.count("episodes")
    wrong = (
        f"all three rows have worst < best, yet {equal} of {released['regressions']} regressions have three equal "
        f"rollouts, so at most {everything - equal} of {everything} episodes can be in them"
    )
    found, number = Interval(ZERO, point(everything - equal).high), point(sum(counts))
    yield compare("pong_agreement", "all rows", "episodes", Printed(str(sum(counts)), number.low, number), found, wrong)
    weighted = total(point(n) * row.number("mean_delta").interval for n, row in zip(counts, rows, strict=True))
    summary = paper.row("revision_summary", environment="pong", method="threetraj", metric="mean_delta")
    wrong = "not the mean of the rows of pong_agreement, weighted with their episodes"
    yield _compare(summary, "mean_delta", weighted / number, wrong)
