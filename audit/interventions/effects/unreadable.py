"""Unreadable answers: under which arms there are more, and whether what they may have followed decides a verdict.

Those of arm `C` may have followed any rollout, which intervals of shares have room for (`verdicts.Bounds`). Those of
other arms may be left out, or count as answers that change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, Self, TypeVar

from audit.interventions.effects.results import AWAY, CANNOT_TELL, MOVES, NOT_ASKED, Unreadable
from audit.interventions.effects.validity import DOUBTFUL, LEAST_DIFFERENCE, MOST_UNREADABLE
from audit.interventions.experiment import Experiment


class _Judged(Protocol):
    """A share or a contrast with its verdict."""

    @property
    def name(self) -> str:
        """What may move the critic."""

    @property
    def verdict(self) -> str | None:
        """Whether it does."""

    def _replace(self, *, verdict: str | None) -> Self:
        """The same with another verdict."""


T = TypeVar("T", bound=_Judged)


def unreadable_line(arms: Sequence[Unreadable]) -> str | None:
    """Which arms' answers are unreadable, in one line; None where they are few, and as many under all arms.

    Args:
        arms: all of them.
    """
    answers, unreadable = sum(each.answers for each in arms), sum(each.unreadable for each in arms)
    unequal = [each for each in arms if each.p <= DOUBTFUL and abs(each.difference) >= LEAST_DIFFERENCE]
    # An arm is compared with all others as well, so that these have fewer for the sake of one that has more.
    named = [each for each in unequal if each.difference > 0] or unequal
    if not named and unreadable <= MOST_UNREADABLE * answers:
        return None
    whole = f"{unreadable:,} of {answers:,} answers are unreadable"
    more = "more" if any(each.difference > 0 for each in named) else "fewer"
    counts = ", ".join(f"{each.arm} ({each.unreadable:,} of {each.answers:,})" for each in named)
    return f"{whole}, {more} under {counts} than under other arms" if named else whole


def holding(rows: Sequence[T], left_out: Sequence[T], counted: Sequence[T]) -> tuple[list[T], bool]:
    """Keep the verdicts that do not depend on unreadable answers.

    Args:
        rows: with room for what unreadable answers of `C` may have followed.
        left_out: without that room.
        counted: as `rows`, with unreadable answers of all other arms as answers that change nothing.

    Returns:
        The rows, *cannot be told* where the verdict is another if unreadable answers count; and whether something that
        moves the critic is left, if anything moves it at all.
    """
    other = {row.name: row.verdict for row in counted}
    kept = [
        row if row.verdict in {None, NOT_ASKED, other.get(row.name)} else row._replace(verdict=CANNOT_TELL)
        for row in rows
    ]
    moved = [any(row.verdict in {MOVES, AWAY} for row in each) for each in (kept, rows, left_out, counted)]
    return kept, moved[0] or not any(moved)


def unchanged(experiment: Experiment, but: str) -> Experiment:
    """An experiment in which unreadable answers are answers that change nothing, but for those of an arm."""
    answers = [each if each.arm == but else replace(each, readable=True) for each in experiment.answers]
    return Experiment(experiment.units, answers)


def with_consequence(line: str, *, holds: bool) -> str:
    """A line on unreadable answers with what follows: findings hold, or these answers decide them."""
    if holds:
        return f"{line}; nothing that is found depends on how they count"
    return f"{line}; what is found depends on how they count"
