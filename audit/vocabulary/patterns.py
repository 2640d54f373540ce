"""The edit patterns: their rules, in order, and what people call them."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple


class Term(NamedTuple):
    """A part of a rule: in SQL, over a revision's columns and `t`, its thresholds; and in words, as a template."""

    sql: str
    words: str


UNCHANGED: Final = Term("edit_distance = 0", "edit distance {edit_distance} = 0")
SMALL: Final = Term("edit_distance <= t.surgical_max", "edit distance {edit_distance} <= {surgical_max}")
SEVERAL: Final = Term("edit_distance >= t.multi_state_min", "edit distance {edit_distance} >= {multi_state_min}")
NEW: Final = Term("edit_distance >= t.redesign_min", "edit distance {edit_distance} >= {redesign_min}")
AT_FLOOR: Final = Term("abs(r0 - t.floor) <= t.near_zero", "r0 {r0} within near_zero {near_zero} of the floor {floor}")
OFF_FLOOR: Final = Term("r0 - t.floor > t.near_zero", "r0 {r0} more than near_zero {near_zero} above the floor {floor}")
PARTIAL: Final = Term("r0 > t.partial", "r0 {r0} > partial {partial}")
HIGH: Final = Term("r0 > t.high", "r0 {r0} > high {high}")
WORSE: Final = Term("delta < -t.meaningful", "delta {delta} < -meaningful {meaningful}")
BETTER: Final = Term("delta > t.meaningful", "delta {delta} > meaningful {meaningful}")


class Pattern(NamedTuple):
    """An edit pattern.

    Attributes:
        id: its name in records, tables and options.
        name: what people call it.
        direction: how the return changed.
        stake: how much was at stake, from 5 to 1: the order in tables and figures, and the depth of the colour.
        colour: orange for worse, blue for better.
        terms: all of which hold, where no earlier pattern of the direction applies.
        failure: its name among the four failure patterns of AlwaysCritic in the paper's text.
    """

    id: str
    name: str
    direction: Literal["regression", "improvement"]
    stake: int
    colour: str
    terms: tuple[Term, ...] = ()
    failure: str | None = None

    @property
    def rule(self) -> str:
        """The rule in words, a template for a revision's numbers and thresholds."""
        *before, last = [term.words for term in self.terms] or [_ELSE[self.direction]]
        return ", ".join([*before, f"and {last}"]) if before else last

    @property
    def rule_of_texts(self) -> str:
        """The same where the size of an edit is a share of the text."""
        return self.rule.replace("edit distance {edit_distance}", "edit ratio {edit_ratio}")


_ELSE: Final = {
    "regression": "a regression (delta {delta}) that no other rule takes",
    "improvement": "an improvement (delta {delta}) that no other rule takes",
}
_SIGNS: Final = {"regression": "delta < 0", "improvement": "delta > 0"}

PATTERNS: Final = {
    pattern.id: pattern
    for pattern in (
        Pattern(
            "pure_stochasticity", "pure stochasticity", "regression", 2, "#FCB97D", (UNCHANGED,), "pure stochasticity"
        ),
        Pattern(
            "near_optimal_break", "near-optimal break", "regression", 5, "#7F2704", (HIGH, WORSE), "compulsive revision"
        ),
        Pattern(
            *("surgical_backfire", "surgical backfire", "regression", 4, "#C74A02", (PARTIAL, SMALL, WORSE)),
            failure="surgical fix that backfires",
        ),
        Pattern("full_redesign", "full redesign", "regression", 3, "#F4862F", (AT_FLOOR, NEW), "full redesign"),
        Pattern("other_regression", "other regression", "regression", 1, "#FBDFC4"),
        Pattern("fine_tune", "fine-tune", "improvement", 5, "#08306B", (HIGH, SMALL, BETTER)),
        Pattern("pinpoint_fix", "pinpoint fix", "improvement", 4, "#1764AB", (PARTIAL, SMALL, BETTER)),
        Pattern("history_guided_rescue", "history-guided rescue", "improvement", 3, "#4A98C9", (AT_FLOOR, NEW, BETTER)),
        Pattern(
            *("targeted_multi_state_fix", "targeted multi-state fix", "improvement", 2, "#94C4DF"),
            terms=(OFF_FLOOR, SEVERAL, BETTER),
        ),
        Pattern("other_improvement", "other improvement", "improvement", 1, "#D3E4F3"),
    )
}
"""By id, regressions first, in the order in which the rules are tried."""


def by_stake(direction: str) -> list[Pattern]:
    """The patterns of a direction, highest stake first."""
    found = (pattern for pattern in PATTERNS.values() if pattern.direction == direction)
    return sorted(found, key=lambda pattern: -pattern.stake)


def macro() -> str:
    """The SQL function `edit_pattern` of a revision's columns and its thresholds, a struct or the name of their row.

    It is the first pattern whose rule holds; null where the return did not change.
    """
    rules = (
        f"when {' and '.join([_SIGNS[each.direction], *(term.sql for term in each.terms)])} then '{each.id}'"
        for each in PATTERNS.values()
    )
    return f"create macro edit_pattern(r0, delta, edit_distance, t) as case {' '.join(rules)} end"
