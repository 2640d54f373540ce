"""What the numbers of a card say, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from audit.cards.card import Card, Number

MATTERS: Final = 0.05
"""Mean gain, as a part of the way, that is worth knowing of."""


def findings(card: Card) -> Iterator[str]:
    """What the numbers say, a sentence each; of a model whose answers cannot be read, only that."""
    if card.problems:
        yield f"No verdict: {card.problems[0]}"
    readable = card.number("readable")
    yield f"{_between(readable)} of its answers can be read."
    gain, random = card.number("gain"), card.number("gain", "random edit")
    if gain.value is None or random.value is None:
        yield "Nothing else is known of this model: none of its answers can be read."
        return
    verdict = _verdict(gain)
    if not card.problems:
        yield (
            f"{verdict}: a revision changes the return by {_signed(gain)} of the way from random policies to high "
            f"returns, a random edit of the same size by {_percent(random.value)}."
        )
    evidence = card.number("gain from evidence")
    if evidence.value is not None and evidence.low is not None and evidence.high is not None and not card.problems:
        if evidence.low > 0:
            yield f"The rollouts that it is shown help it: {_signed(evidence)} of the way against none."
        elif evidence.high < 0:
            yield f"It does better without the rollouts that it is shown: {_signed(evidence)} of the way against none."
        elif evidence.low > -MATTERS and evidence.high < MATTERS:
            yield f"The rollouts that it is shown make no difference on average: {_signed(evidence)} against none."
        else:
            yield f"Whether the rollouts that it is shown help it cannot be told: {_signed(evidence)} against none."
    worse, by_random = card.number("made worse"), card.number("made worse", "random edit")
    yield f"It makes {_between(worse)} of policies worse, a random edit {_percent(by_random.value)}."
    broken = card.number("near-optimal breaks")
    if broken.value is not None:
        yield f"Of near-optimal policies it breaks {_between(broken)}."
    names = card.number("names the worst")
    if names.value is not None:
        yield f"It names the worst rollout in {_between(names)} of its answers; naming one at random would be 33%."


def _verdict(gain: Number) -> str:
    assert gain.value is not None
    if gain.low is None or gain.high is None:
        return "Whether it helps cannot be told"
    if gain.low > 0:
        return "It helps"
    if gain.high < 0:
        return "It harms"
    if gain.low > -MATTERS and gain.high < MATTERS:
        return "On average it makes no difference"
    return "Whether it helps cannot be told"


def _between(number: Number) -> str:
    ends = "" if number.low is None else f" ({_percent(number.low)} to {_percent(number.high)})"
    return f"{_percent(number.value)}{ends}"


def _signed(number: Number) -> str:
    assert number.value is not None
    sign = "+" if number.value > 0 else ""
    ends = "" if number.low is None else f" ({_percent(number.low)} to {_percent(number.high)})"
    return f"{sign}{_percent(number.value)}{ends}"


def _percent(value: float | None) -> str:
    """With a decimal where it is below a tenth, so that no number below 0 is printed as 0."""
    if value is None:
        return "unknown"
    return f"{100 * value:.0f}%" if abs(value) >= 0.095 or not value else f"{100 * value:.1f}%"
