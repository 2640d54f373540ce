"""What an experiment on reflection prompts shows, in sentences: which example texts follow, and what changes them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from audit.interventions.effects.results import AWAY, CANNOT_TELL, DOES_NOT, LEAST_SIGNAL, MOVES
from audit.interventions.texts.arms import ARMS
from audit.interventions.texts.contrasts import PRESENCE, Contrast
from audit.interventions.texts.effects import (
    CALLED_WORSE,
    FIRST,
    HIGHEST,
    LAST,
    LONGEST,
    LOWEST,
    LOWEST_PRINTED,
    SCORED,
    Followed,
    Share,
)
from audit.interventions.texts.plan import TextPlan

_WORDS: Final = {
    FIRST: ("the example that is shown first", "because it is first"),
    LAST: ("the example that is shown last", "because it is last"),
    LOWEST_PRINTED: ("the example with the lowest printed score", "because of that number"),
    LONGEST: ("the example with the longest feedback", "because it is longest"),
    CALLED_WORSE: ("the one that is called the worse", "because of that name"),
    LOWEST: ("the example with the lowest score", "whatever is printed or said about it"),
    HIGHEST: ("the example with the highest score", "whatever is printed or said about it"),
}


def following(
    plan: TextPlan, found: Followed, contrasts: Sequence[Contrast], named: Mapping[str, tuple[float, float]]
) -> Iterator[str]:
    """Which example texts follow, and what does not decide it or cannot be told.

    Args:
        plan: the plan.
        found: the shares.
        contrasts: what else was tested.
        named: of each share, how often answers name the example that has the attribute, and another alone.
    """
    noise = f"signal to noise {_small(found.signal)}"
    depends = [each.name for each in found.shares if each.p_adjusted <= plan.alpha]
    if found.is_blind:
        yield _of_blind(found, [*depends, *(each.name for each in contrasts if each.p_adjusted <= plan.alpha)], noise)
        return
    moving = [each for each in found.shares if each.verdict in {MOVES, AWAY}]
    for each in sorted(moving, key=lambda each: -abs(each.estimate)):
        yield f"{_followed(each, plan.smallest)}."
        if each.name in SCORED:
            yield "That score was not drawn: its cause may be all that goes with it."
        own, other = named.get(each.name, (0.0, 0.0))
        if own or other:
            yield f"Its reasons name that one in {own:.0%} of answers, and only another in {other:.0%}."
    if {FIRST, LAST} <= {each.name for each in moving if each.verdict == AWAY}:
        is_second = {len(unit.scores) for unit in plan.units} == {3}
        yield f"So they follow {'the one that is shown second' if is_second else 'those between'}."
    if not moving and depends:
        yield f"What it follows is not known: its texts depend on {', '.join(depends)}."
    elif not moving:
        yield "Nothing that was drawn was found to decide which example its texts follow."
    for verdict, words in ((DOES_NOT, "Does not decide"), (CANNOT_TELL, "Cannot be told")):
        if names := [f"{each.name}{_ends(each)}" for each in found.shares if each.verdict == verdict]:
            yield f"{words}: {', '.join(names)}."
    yield (
        "Percentages are of texts written as for one example alone, beyond what the other examples have "
        f"({noise}; what is drawn within ±{plan.smallest:.0%} counts as not deciding)."
    )


def _of_blind(found: Followed, depends: Sequence[str], noise: str) -> str:
    """What is said where texts for different examples can hardly be told apart; that it follows none only if known."""
    if depends:
        return f"What it follows is not known: its texts depend on {', '.join(depends)} ({noise})."
    if found.signal_high < LEAST_SIGNAL:
        return (
            "It follows none of the examples: texts for one of them are as unlike each other as those for different "
            f"ones ({noise}, at most {_small(found.signal_high)})."
        )
    return f"Cannot be told: texts for different examples can hardly be told apart ({noise})."


def _followed(each: Share, smallest: float) -> str:
    """That texts follow an example, by how little, or that they turn away from it."""
    what, why = _WORDS[each.name]
    if each.verdict == AWAY:
        return f"Its texts turn away from {what}, {why}: {_percent(each.estimate)}{_ends(each)}"
    little = f", less than {smallest:.0%}" if each.high < smallest else ""
    return f"{_percent(each.estimate)} of its texts follow {what}, {why}{_ends(each)}{little}"


def _small(value: float) -> str:
    return f"{value:z.2f}" if abs(value) >= 0.095 else f"{value:z.1g}"


def _ends(each: Share) -> str:
    return "" if math.isnan(each.low) else f" ({_percent(each.low)} to {_percent(each.high)})"


def _percent(value: float) -> str:
    return f"{max(-1.0, min(1.0, value)):.0%}" if not math.isnan(value) else "unknown"


def changed_by(each: Contrast) -> str:
    """That an arm changes texts."""
    if each.name == PRESENCE:
        more = "more" if each.estimate > 0 else "less"
        return f"It misses the example of the lowest score {more} than that of the highest (p {each.p_adjusted:.2g})."
    size = "" if math.isnan(each.estimate) else f", {each.estimate:.2f} times what another example does"
    return f"Changed by {each.name} ({each.arm} against {each.control}{size}; p {each.p_adjusted:.2g})."


def earned(each: Mapping[str, Any]) -> str:
    """What an arm gains or loses."""
    ends = "" if math.isnan(each["low"]) else f" ({each['low']:+.3g} to {each['high']:+.3g})"
    amount = f"{each['estimate']:+.3g}{ends}"
    words = {MOVES: "changes", CANNOT_TELL: "cannot be told to change"}[str(each["verdict"])]
    arms = f"{each['arm']} against {each['control']}"
    return f"{ARMS[each['arm']].meaning.capitalize()}: {words} the {each['outcome']} ({arms}), {amount}."
