"""Tables of revisions: what they did, salience, agreement, edit patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from audit.measures.summary import Summary, ratio_of_sums
from figures.paper.bases import Base
from figures.paper.cells import Cell, Goal
from figures.paper.judging import absent, decimal, percent, value_cell
from figures.paper.published import Published, Withheld, number, row_of, text
from stats.published.printed import printed

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]
Select = Callable[[pd.DataFrame], Flags]


@dataclass(frozen=True)
class Measure:
    """A mean over some revisions.

    Attributes:
        of: what is averaged, shape (revisions,).
        among: which revisions count, shape (revisions,).
        goal: which cell of a row is the best.
        write: how the mean reads.
    """

    of: Callable[[pd.DataFrame], Values]
    among: Select
    goal: Goal = Goal.none
    write: Callable[[float], str] = decimal

    def mean(self, revisions: pd.DataFrame) -> Summary:
        """The mean over the revisions of all runs: sums over runs, divided."""
        runs, _ = pd.factorize(revisions["run"])
        among = self.among(revisions)
        sums = np.bincount(runs, weights=np.where(among, self.of(revisions), 0.0))
        return ratio_of_sums(sums, np.bincount(runs, weights=among))

    def count(self, revisions: pd.DataFrame) -> int:
        """In how many of the revisions that count it is not zero."""
        return int(np.count_nonzero(np.where(self.among(revisions), self.of(revisions), 0.0)))


def every(revisions: pd.DataFrame) -> Flags:
    """All revisions."""
    return np.ones(len(revisions), dtype=bool)


def equal(column: str, value: object) -> Select:
    """Those revisions that have this value."""
    return lambda revisions: revisions[column].isin([value]).to_numpy()


def known(column: str) -> Select:
    """Those revisions that have any value."""
    return lambda revisions: revisions[column].notna().to_numpy()


def classified(revisions: pd.DataFrame) -> Flags:
    """All revisions, where edit patterns of the task are known; else none."""
    can_tell = revisions["pattern"].notna().any() or revisions["direction"].isin(["no_change"]).all()
    return np.full(len(revisions), bool(can_tell))


def average(column: str, goal: Goal = Goal.none, *, digits: int = 2, among: Select | None = None) -> Measure:
    """The mean of a column over those revisions that have it, and are among the given ones."""

    def both(revisions: pd.DataFrame) -> Flags:
        here = known(column)(revisions)
        return here & among(revisions) if among else here

    return Measure(
        lambda r: r[column].to_numpy(dtype=float, na_value=np.nan), both, goal, lambda value: decimal(value, digits)
    )


def share(column: str, value: object, goal: Goal = Goal.none, *, among: Select = every) -> Measure:
    """How many of some revisions have a value, in percent."""
    return Measure(lambda r: np.where(equal(column, value)(r), 100.0, 0.0), among, goal, percent)


THREE: Final = "threetraj"
ALWAYS: Final = "alwayscritic"
COMPARED: Final = ("reptraj", THREE, "r2po")
"""The methods that the paper's tables of revisions compare."""
STRUCTURES: Final = ("failure_confirmed", "preservation_favored", "all_diverse", "identical")

SUMMARY: Final[Mapping[str, Measure]] = {
    "mean_delta": average("delta", Goal.highest),
    "mean_edit_distance": average("edit_distance", Goal.lowest, digits=1),
    "accepted_pct": share("accepted", value=True, goal=Goal.highest),
    "regressions_pct": share("direction", "regression", Goal.lowest),
}
PATTERNS: Final[Mapping[str, Measure]] = {
    "near_optimal_break": share("pattern", "near_optimal_break", Goal.lowest, among=classified),
    "surgical_backfire": share("pattern", "surgical_backfire", Goal.lowest, among=classified),
    "pinpoint_fix": share("pattern", "pinpoint_fix", Goal.highest, among=classified),
    "fine_tune": share("pattern", "fine_tune", Goal.highest, among=classified),
}
"""The patterns that the paper's table has."""
ALWAYS_CRITIC: Final[Mapping[str, Measure]] = {
    "regressions_pct": share("direction", "regression"),
    "near_optimal_break_pct": share("pattern", "near_optimal_break", among=classified),
    "pure_stochasticity_pct": share("pattern", "pure_stochasticity", among=classified),
}
SALIENCE: Final[Mapping[str, tuple[Measure, str]]] = {
    "regressions": (share("direction", "regression"), "episodes"),
    "strict": (share("strict", value=True, among=equal("direction", "regression")), "regressions"),
    "permissive": (share("permissive", value=True, among=equal("direction", "regression")), "regressions"),
}
"""What is counted, and what the published count is a part of."""


def outcomes(base: Base) -> Iterator[Cell]:
    """Mean change, edit distance, acceptance and regressions of the methods that show their critic rollouts."""
    for env in _tasks(base, COMPARED):
        for metric, measure in SUMMARY.items():
            for method in COMPARED:
                published = number("revision_summary", "value", environment=env, method=method, metric=metric)
                yield _measured(base, (env, metric), method, method, measure, published)


def patterns(base: Base) -> Iterator[Cell]:
    """Edit patterns, in percent of revisions."""
    for env in _tasks(base, COMPARED):
        for pattern, measure in PATTERNS.items():
            for method in COMPARED:
                where = {"environment": env, "method": method, "pattern": pattern}
                published = number("edit_patterns", "pct_of_episodes", **where)
                yield _measured(base, (env, pattern), method, method, measure, published)


def always_critic(base: Base) -> Iterator[Cell]:
    """What the text reports of AlwaysCritic, in percent of revisions."""
    for env in _tasks(base, [ALWAYS]):
        for column, measure in ALWAYS_CRITIC.items():
            published = number("always_critic", "value", environment=env, quantity=column)
            if column == "pure_stochasticity_pct" and row_of("always_critic", environment=env):
                published = text("<1")
            yield _measured(base, (env,), column, ALWAYS, measure, published)


def salience(base: Base) -> Iterator[Cell]:
    """Regressions that meet the two criteria, where three rollouts were shown."""
    for env in _tasks(base, [THREE]):
        row, revisions = row_of("salience", environment=env), base.revisions(env, THREE)
        total = Published(row.number("episodes")) if row else None
        yield Cell(row=(env,), column="revisions", text=str(len(revisions)), value=len(revisions), env=env,
                   method=THREE, records=base.condition, published=total)  # fmt: skip
        for column, (measure, whole) in SALIENCE.items():
            theirs = _counted(row.count(column), row.count(whole)) if row else None
            yield _with_count(_measured(base, (env,), column, THREE, measure, theirs), measure.count(revisions))


def agreement(base: Base) -> Iterator[Cell]:
    """Revisions by how the three rollouts agreed, with the mean change in return."""
    for env in _tasks(base, [THREE]):
        revisions = base.revisions(env, THREE)
        rows = {structure: row_of("pong_agreement", structure=structure) for structure in STRUCTURES}
        total = sum(row.count("episodes") for row in rows.values() if row)
        for structure in STRUCTURES:
            row, place = rows[structure] if env == "pong" else None, (env, structure)
            measure = share("structure", structure, among=known("structure"))
            theirs = _counted(row.count("episodes"), total) if row else None
            yield _with_count(
                _measured(base, place, "revisions", THREE, measure, _mixed(theirs)), measure.count(revisions)
            )
            delta = average("delta", among=equal("structure", structure))
            mean = Published(row.number("mean_delta")) if row else None
            yield _measured(base, place, "mean_delta", THREE, delta, _mixed(mean))


def _mixed(published: Published | None) -> Published | None:
    """A number of the published table of agreement: identical rollouts are somewhere in its other three rows."""
    return published and replace(published, doubt=Withheld.mixed)


def _tasks(base: Base, methods: Sequence[str]) -> list[str]:
    """The tasks with revisions of any of some methods."""
    return [env for env in base.tasks if any(len(base.revisions(env, method)) for method in methods)]


def _measured(
    base: Base, place: tuple[str, ...], column: str, method: str, measure: Measure, published: Published | None
) -> Cell:
    env = place[0]
    revisions, source = base.revisions(env, method), base.source(env, method)
    if source is None or revisions.empty:
        return absent(place, column, env, published)
    mean = measure.mean(revisions)
    return value_cell(place, column, source, mean, published, goal=measure.goal, write=measure.write)


def _counted(count: int, whole: int) -> Published:
    """A published count with the percentage that it makes."""
    pct = f"{100 * count / whole:.1f}"
    return Published(printed(pct), words=f"{count} ({pct}%)")


def _with_count(cell: Cell, count: int) -> Cell:
    """A share that is printed with its count: only the same count of as many is the same number."""
    if cell.is_missing:
        return cell
    text = f"{count} ({cell.text})"
    is_same = cell.published is not None and cell.published.text == text
    verdict = "compatible" if cell.verdict == "same" and not is_same else cell.verdict
    return replace(cell, text=text, verdict=verdict, details={"count": count})
