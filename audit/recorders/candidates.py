"""What a loop passes to a recorder, as the parts of records."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from collector.records import ItemLabel, ShownItem, TextCandidate

Text = Mapping[str, str] | str
"""A text in named components, or one without a name, which is recorded as the component `text`."""
Scores = Sequence[float] | float
"""One score per example, or their mean where only that is known."""

LONGEST_ITEM: Final = 64 * 1024
"""Bytes of a shown item that are kept."""
ROUNDING: Final = 1e-9
"""How far a score may be beyond its range, as a share of that: a mean of sums is rounded."""
CUT: Final = " … [cut]"


@dataclass(frozen=True, kw_only=True)
class Item:
    """Something with a score that the reflector is shown.

    Attributes:
        text: what is shown of it.
        index: its index among the scores given to `shown`; None where it is of another candidate.
        score: its score, where `index` does not give it; None if it has none.
        name: the heading above it in the prompt, if it has one.
        label: `worst` or `best` where the prompt calls it so.
    """

    text: str | None = None
    index: int | None = None
    score: float | None = None
    name: str | None = None
    label: ItemLabel = "item"


def candidate(
    text: dict[str, str],
    scores: Scores,
    ids: Sequence[Any] | None,
    score_range: tuple[float, float] | None,
    *,
    answer: str | msgspec.UnsetType | None = msgspec.UNSET,
    thinking: str | None = None,
) -> TextCandidate:
    """A candidate with its scores.

    Args:
        text: all of its components.
        scores: its score on each example, or their mean.
        ids: which examples these are.
        score_range: the lowest and the highest score, where they are known; rounding is no score beyond them.
        answer: of a revised candidate the answer that it was taken from, or None if that is not known. Without it, the
            candidate is an earlier one that is to be revised.
        thinking: the thinking of the model that answered.

    Raises:
        TypeError: a score that is not a number.
        ValueError: no scores, one beyond its range, or ids of another number.
    """
    by_critic = answer is not msgspec.UNSET
    returns = None if isinstance(scores, (int, float)) else [_number(score) for score in scores]
    if returns is not None and not returns:
        raise ValueError("no scores")
    if ids is not None and len(ids) != len(returns or []):
        raise ValueError(f"{len(ids)} ids for {len(returns or [])} scores")
    mean = float(scores) if isinstance(scores, (int, float)) else statistics.fmean(returns or [])
    if score_range is not None:
        low, high = score_range
        most = ROUNDING * (high - low)
        for score in (*(returns or ()), mean):
            if not low - most <= score <= high + most:
                raise ValueError(f"the score {score:g} is beyond score_range, {low:g} to {high:g}")
    return TextCandidate(
        text=text,
        source="critic" if by_critic else "parent",
        answer=None if isinstance(answer, msgspec.UnsetType) else answer,
        thinking=thinking,
        returns=returns,
        example_ids=None if ids is None else [str(each) for each in ids],
        mean_return=mean,
    )


def components(text: Text) -> dict[str, str]:
    """A text as named components."""
    return {"text": text} if isinstance(text, str) else dict(text)


def shown_items(initial: TextCandidate, items: Sequence[str | Item] | None) -> list[ShownItem]:
    """What is shown of a candidate's examples, or beside them, in the order of display.

    Args:
        initial: the candidate.
        items: a text per score, or items; None where all examples are shown in their order.

    Raises:
        ValueError: texts of another number than scores.
    """
    scores = initial.returns or []
    if items is None:
        items = [Item(index=place, name=_heading(place)) for place in range(len(scores))]
    elif items and len(items) != len(scores) and all(isinstance(item, str) for item in items):
        raise ValueError(f"{len(items)} items for {len(scores)} scores; give an Item with its index for each")
    shown = []
    for place, item in enumerate(items):
        each = Item(text=item, index=place, name=_heading(place)) if isinstance(item, str) else item
        shown.append(
            ShownItem(
                label=each.label,
                rollout=each.index,
                return_=each.score if each.index is None else scores[each.index],
                name=each.name,
                text=msgspec.UNSET if each.text is None else _shortened(each.text),
            )
        )
    return shown


def _heading(place: int) -> str:
    return f"Example {place + 1}"


def _number(score: Any) -> float:
    # `float` reads texts as well, and what a text means is not ours to guess.
    if isinstance(score, str):
        raise TypeError(f"the score {score!r} is a text, not a number")
    return float(score)


def _shortened(text: str) -> str:
    data = text.encode()
    return text if len(data) <= LONGEST_ITEM else data[: LONGEST_ITEM - 16].decode(errors="ignore") + CUT
