"""What the critic wrote and was shown, and what else a row states."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from audit.importing.guessing.columns import Column
from audit.importing.guessing.draft import Draft
from audit.importing.guessing.words import (
    ANSWERS,
    BATCHES,
    BETTER,
    INITIAL,
    OTHER_UNITS,
    SCORES,
    SECONDS,
    SHOWN,
    THINKING,
    WORSE,
    first_of,
    words_of,
)

LABELS: Final = ("worst", "median", "best")
INDICES: Final = frozenset({"idx", "index", "rollout", "id"})


def find_answers(draft: Draft) -> None:
    """Find what the critic wrote."""
    written = [
        column
        for column in draft.free()
        if column.shape == "text" and not set(column.words) & INITIAL and any(" " in text for text in column.present)
    ]
    for name, ranking in (("thinking", THINKING), ("answer", ANSWERS)):
        found = [column for column in written if first_of(column.words, ranking) is not None]
        free = [column for column in found if column.path not in draft.taken()]
        if len(free) == 1:
            draft.take(f"revised.{name}", free[0], "the only text under a usual name")
        elif free:
            options = {column.path: {f"revised.{name}": column.path} for column in free}
            draft.ask(f"revised.{name}", f"Which is the critic's {name}?", {**options, "none": {f"revised.{name}": ""}})


def find_seconds(draft: Draft) -> None:
    """Find how long an iteration took, in seconds; a clock that runs on is something else."""
    for column in draft.free():
        if first_of(column.words, SECONDS) is None or set(column.words) & (OTHER_UNITS | SCORES):
            continue
        if column.shape not in ("whole", "number"):
            continue
        values = column.present
        is_clock = len(values) > 3 and all(a < b for a, b in pairwise(values))
        if min(values) >= 0 and not is_clock:
            draft.take("seconds", column, "numbers from 0 that do not only grow, under a usual name")
            return


def find_evidence(draft: Draft) -> None:
    """Find which scored items the critic saw, where the log shows that."""
    if any(name.startswith("evidence.") for name in draft.given):
        return
    if _three(draft) or _pair(draft):
        return
    scores, ids = draft.column("initial.returns"), draft.column("initial.example_ids")
    if scores is None:
        return
    for column in draft.free():
        if set(column.words) & SHOWN and column.shape in ("names", "numbers") and _items(draft, column, scores, ids):
            return
    named = [column for column in (ids, scores) if column is not None and set(column.words) & BATCHES]
    if named:
        word = next(word for word in words_of(named[0].path) if word in BATCHES)
        draft.fix("evidence.kind", "batch", f"{named[0].path!r} is of a {word}, all of which the critic is shown")
        draft.fix("evidence.items", "all", "as above, in the order of the scores")
    else:
        shown = {"evidence.kind": "batch", "evidence.items": "all"}
        text = "No column states what the critic was shown. All examples with their scores, in this order?"
        draft.ask("evidence.kind", text, {"yes": shown, "not stated": {"evidence.kind": ""}}, needed=False)


def _three(draft: Draft) -> bool:
    """Indices of the worst, the median and the best rollout, from 0."""
    found = {}
    for label in LABELS:
        columns = [
            column
            for column in draft.free()
            if label in column.words and column.shape == "whole" and set(column.words) & INDICES
        ]
        if len(columns) != 1:
            return False
        found[label] = columns[0]
    scores = draft.column("initial.returns")
    for first in (0, 1):
        if scores is not None and all(_is_extreme(scores, found[label], label, first) for label in ("worst", "best")):
            for label, column in found.items():
                draft.take(f"evidence.{label}", column, f"the index of the {label} score, from {first}, in every row")
            draft.fix("evidence.kind", "three", "the log has worst, median and best")
            draft.count("rollout", first)
            return True
    return False


def _is_extreme(scores: Column, column: Column, label: str, first: int) -> bool:
    for row, place in enumerate(column.values):
        of = scores.worth(row)
        if place is None or of is None:
            continue
        if not 0 <= place - first < len(of) or of[int(place) - first] != (min(of) if label == "worst" else max(of)):
            return False
    return True


def _pair(draft: Draft) -> bool:
    """A worse and a better item of which the log has scores, and perhaps texts."""
    found: dict[str, Column] = {}
    for label, words in (("worst", WORSE), ("best", BETTER)):
        for column in draft.free():
            kind = (
                "return" if column.shape in ("whole", "number", "flag") else "text" if column.shape == "text" else None
            )
            if kind is None or not set(column.words) & words or (kind == "return" and not set(column.words) & SCORES):
                continue
            if f"{label}_{kind}" in found:
                return False
            found[f"{label}_{kind}"] = column
    worse, better = found.get("worst_return"), found.get("best_return")
    if worse is None or better is None or set(worse.words) - WORSE != set(better.words) - BETTER:
        return False
    rows = [(low, high) for low, high in zip(worse.values, better.values, strict=True) if None not in (low, high)]
    if not rows or any(low > high for low, high in rows):
        return False
    for name, column in found.items():
        draft.take(f"evidence.{name}", column, "never above its counterpart, which the log calls the better one")
    draft.fix("evidence.kind", "pair", "the log has a worse and a better item; the worse one is taken to come first")
    return True


def _items(draft: Draft, column: Column, scores: Column, ids: Column | None) -> bool:
    """Whether a column lists the examples that were shown, by their ids or else their indices."""
    rows = [row for row, value in enumerate(column.values) if value is not None and scores.values[row] is not None]
    if ids is not None:
        if all({str(item) for item in column.values[row]} <= {str(item) for item in ids.values[row]} for row in rows):
            draft.take("evidence.items", column, "ids of examples of the same row, in every row")
            draft.fix("evidence.kind", "batch", f"{column.path!r} lists scored examples")
            return True
        return False
    if column.shape != "numbers" or not rows:
        return False
    for first in (0, 1):
        if all(first <= item < len(scores.worth(row) or ()) + first for row in rows for item in column.values[row]):
            lowest = min(item for row in rows for item in column.values[row])
            if lowest != first:
                break
            draft.take("evidence.items", column, f"indices of scores, from {first}")
            draft.fix("evidence.kind", "batch", f"{column.path!r} lists scored examples")
            draft.count("rollout", first)
            return True
    options = {f"from {first}": {"evidence.items": column.path, "count_from.rollout": str(first)} for first in (0, 1)}
    draft.ask("evidence.items", f"From what does {column.path!r} count the scores?", options)
    return True
