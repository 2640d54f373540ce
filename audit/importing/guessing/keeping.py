"""Which of the two candidates was kept: by a column, or by a rule that all rows follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from audit.importing.guessing.chains import kept_in
from audit.importing.guessing.columns import Column
from audit.importing.guessing.draft import Draft
from audit.importing.guessing.words import CHOICES, KEPT, NO, REFUSED, YES
from audit.measures.rounding import sign_of_change

MOST_VALUES: Final = 3
FEWEST: Final = 3
"""Rows from which on a rule is no accident."""
RULES: Final[Mapping[str, str]] = {
    "better": "the revised one where its score is not lower",
    "strict": "the revised one where its score is higher",
    "always": "the revised one always",
    "pool": "both: every candidate joins a pool",
}


def find_kept(draft: Draft, runs: Sequence[Sequence[int]]) -> None:
    """Find what states which candidate was kept; `runs` are the rows of each run in order."""
    chain = _chain(draft, runs)
    if "selected" in draft.given:
        return
    flags = [(column, meaning) for column in draft.free() if (meaning := _meaning(draft, column, chain)) is not None]
    strong = [each for each in flags if set(each[0].words) & (KEPT | REFUSED)]
    flags = strong or flags
    if len(flags) > 1 and len({repr(_kept(*each)) for each in flags}) > 1:
        options = {column.path: {"selected": column.path} for column, _ in flags}
        draft.ask("selected", "Which column states whether the revised candidate was kept?", options)
    elif flags:
        column, meaning = flags[0]
        kept = _kept(column, meaning)
        if _is_contradicted(draft, column, kept, chain):
            return
        draft.values["selected"] = meaning
        draft.take("selected", column, _reason(draft, kept))
        _state_rule(draft, kept)
    elif chain:
        _by_rule(draft, chain)
    else:
        options = {words: {"selected": rule} for rule, words in RULES.items()}
        draft.ask("selected", "No column states which candidate was kept. Which is it?", options)


def _is_contradicted(draft: Draft, column: Column, kept: Mapping[int, bool], chain: Mapping[int, bool]) -> bool:
    """Ask where a flag says one thing, and the next rows or all scores another."""
    against = sum(kept[row] != is_kept for row, is_kept in chain.items() if row in kept)
    if against:
        text = f"By {column.path!r} one candidate was kept, by the next row the other, in {against} rows. What holds?"
        draft.ask("selected", text, {column.path: {"selected": column.path}, "the better one": {"selected": "better"}})
        return True
    better = _by_scores(draft)
    rows = [row for row in better if row in kept]
    if len(rows) >= FEWEST and not any(kept[row] == better[row] for row in rows):
        text = f"By {column.path!r} always the candidate with the lower score was kept, where of scores the higher is "
        text += (
            "better. If they are costs, write a column with their negative into the log. If they are not, what holds?"
        )
        draft.ask("selected", text, {column.path: {"selected": column.path}})
        return True
    return False


def name_values(draft: Draft, column: Column) -> None:
    """State what the values of a column mean that the user has named."""
    meaning = _by_words(column)
    if meaning is None:
        values = ", ".join(map(repr, column.distinct()[:4]))
        draft.remarks.append(f"selected: [values.selected] has to state what {values} mean")
    else:
        draft.values["selected"] = meaning


def _chain(draft: Draft, runs: Sequence[Sequence[int]]) -> dict[int, bool]:
    """Which rows' revised candidates were kept, as their next rows show."""
    for name in ("text", "params"):
        before, after = (draft.column(f"{role}.{name}") for role in ("initial", "revised"))
        if before is not None and after is not None:
            return kept_in(before, after, runs) or {}
    return {}


def _kept(column: Column, meaning: Mapping[str, str]) -> dict[int, bool]:
    return {
        row: meaning[spelt(column, row)] == "revised" for row, value in enumerate(column.values) if value is not None
    }


def spelt(column: Column, row: int) -> str:
    """A value as [values] names it."""
    cell = column.cells[row]
    return (
        ("true" if cell else "false")
        if isinstance(cell, bool)
        else str(cell).strip()
        if isinstance(cell, str)
        else str(cell)
    )


def _by_words(column: Column) -> dict[str, str] | None:
    """What the values of a column mean by themselves."""
    is_reverse = bool(set(column.words) & REFUSED) and not set(column.words) & KEPT
    meaning = {}
    for row, value in enumerate(column.values):
        if value is None:
            continue
        word = str(value).lower()
        if word not in YES and word not in NO:
            return None
        meaning[spelt(column, row)] = "revised" if (word in YES) != is_reverse else "initial"
    if column.shape == "flag" and not isinstance(column.cells[0], str):
        meaning = {"true": "initial" if is_reverse else "revised", "false": "revised" if is_reverse else "initial"}
    return meaning or None


def _meaning(draft: Draft, column: Column, chain: Mapping[int, bool]) -> dict[str, str] | None:
    """Which candidate each value of a column means; None where the column is about something else."""
    words = set(column.words)
    if not words & (KEPT | REFUSED | CHOICES) or column.shape not in ("flag", "whole", "text"):
        return None
    if len(column.distinct()) > MOST_VALUES:
        return None
    meaning = _by_words(column)
    if meaning is not None and words & (KEPT | REFUSED):
        return meaning
    proof = {row: is_kept for row, is_kept in (chain or _by_scores(draft)).items() if column.values[row] is not None}
    by_value: dict[str, set[bool]] = {}
    for row, is_kept in proof.items():
        by_value.setdefault(spelt(column, row), set()).add(is_kept)
    values = {spelt(column, row) for row, value in enumerate(column.values) if value is not None}
    if by_value.keys() != values or any(len(each) > 1 for each in by_value.values()):
        return None
    proven = {value: "revised" if True in each else "initial" for value, each in by_value.items()}
    return proven if len(set(proven.values())) > 1 and meaning in (None, proven) else None


def _by_scores(draft: Draft) -> dict[int, bool]:
    """Whether the revised candidate is the better one, in rows where one is."""
    found = {}
    for row in range(len(draft.sample.rows)):
        before, after = draft.scores(row)
        if before is not None and after is not None and (change := sign_of_change(before, after)):
            found[row] = change > 0
    return found


def _rules(draft: Draft, kept: Mapping[int, bool]) -> list[str]:
    """The rules that all rows follow."""
    rules = {"better": True, "strict": True, "always": True}
    for row, is_kept in kept.items():
        before, after = draft.scores(row)
        if before is None or after is None:
            continue
        change = sign_of_change(before, after)
        rules["better"] &= is_kept == (change >= 0)
        rules["strict"] &= is_kept == (change > 0)
        rules["always"] &= is_kept
    return [rule for rule, holds in rules.items() if holds]


def _reason(draft: Draft, kept: Mapping[int, bool]) -> str:
    number = sum(kept.values())
    rules = _rules(draft, kept)
    how = f", {RULES[rules[0]]}" if rules else ", not by these scores alone"
    return f"the revised candidate is kept in {number} of {len(kept)} rows{how}"


def _state_rule(draft: Draft, kept: Mapping[int, bool]) -> None:
    rules = _rules(draft, kept)
    if len(rules) == 1:
        draft.run["selection_rule"] = rules[0]


def _by_rule(draft: Draft, chain: Mapping[int, bool]) -> None:
    """What the next rows show, as a rule."""
    rules = _rules(draft, chain)
    if len(rules) == 1 or set(rules) == {"better", "strict"}:
        reason = f"as {len(chain)} next rows show: {RULES[rules[0]]}"
        draft.fix("selected", rules[0], reason)
        return
    options: dict[str, dict[str, Any]] = {RULES[rule]: {"selected": rule} for rule in (rules or RULES)}
    draft.ask("selected", "The rows do not show by which rule a candidate is kept. Which is it?", options)
