"""`audit critics`: cards side by side, and in what critics differ from the first, unit by unit."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.special import stdtr, stdtrit

from audit.cards.card import Card, read_card
from audit.cards.findings import MATTERS
from audit.interventions.effects.named_shares import FOLLOWED, SMALLEST, margin_of
from audit.interventions.effects.results import AWAY, MOVES
from audit.measures.holm import holm
from audit.output.errors import UsageError, count
from audit.output.formats import Row
from audit.output.notes import simulated
from audit.output.rows import Table

COLUMNS: Final = (
    *("critic", "against", "name", "value", "low", "high", "p", "p_adjusted", "verdict", "units", "answers"),
    "section",
)
DIFFERS: Final = "differs"
ALIKE: Final = "does not differ"
CANNOT_TELL: Final = "cannot be told"
ALPHA: Final = 0.05
MARGIN: Final = 0.1
"""Difference of two shares of answers that is of interest."""
COMPARED: Final = (
    *("readable", "gain", "gain over a random edit", "gain from evidence", "made worse", "near-optimal breaks"),
    "names the worst",
)
"""The numbers that are tested for differences, beside shares that follow."""


@dataclass(frozen=True)
class Difference:
    """How a critic differs from the first; NaN where it is not known.

    Attributes:
        name: of the number.
        value: second minus first, over units that both have.
        low, high: its 95% interval.
        p: two-sided, of no difference.
        p_adjusted: by Holm's method over all numbers and critics.
        verdict: differs, does not differ, or cannot be told.
        units: that both have.
    """

    name: str
    value: float
    low: float
    high: float
    p: float
    units: int
    alike: bool
    p_adjusted: float = math.nan
    verdict: str = CANNOT_TELL


def critics(cards: Sequence[str | Path]) -> Table:
    """Compare critics by their cards.

    Args:
        cards: folders of examinations, or files of cards; two or more of one suite.

    Returns:
        The numbers of each critic, a row each, then the differences of each from the first.

    Raises:
        UsageError: fewer than two, one twice, or cards of different suites.
        AuditError: a card cannot be read.
    """
    if len(cards) < 2:
        raise UsageError("give the cards of two critics or more")
    named = read_cards(cards)
    names, read = [name for name, _ in named], [card for _, card in named]
    found = differences(read)
    rows = [*_card_rows(names, read), *_difference_rows(names, found)]
    caption = simulated([(card.model, card.backend) for card in read])

    def print_for_people(_: Table) -> None:
        _print(names, read, found)

    return Table(
        columns=COLUMNS,
        rows=rows,
        title="Critics",
        caption=caption,
        notes=[caption] if caption else [],
        plain=True,
        print_for_people=print_for_people,
    )


def read_cards(cards: Sequence[str | Path]) -> list[tuple[str, Card]]:
    """Read cards of one suite, each with what its critic is called beside the others.

    Raises:
        UsageError: one is given twice, or cards of different suites.
        AuditError: a card cannot be read.
    """
    paths = [Path(each) for each in cards]
    if again := [path for path, times in Counter(path.resolve() for path in paths).items() if times > 1]:
        raise UsageError(f"{again[0]} is given twice; give cards that differ")
    read = [read_card(path) for path in paths]
    for path, card in zip(paths, read, strict=True):
        if card.suite_sha256 != read[0].suite_sha256:
            raise UsageError(
                f"{path} is of another suite ({card.suite}, {card.suite_sha256[:12]}…) than {paths[0]} "
                f"({read[0].suite}, {read[0].suite_sha256[:12]}…)"
            )
    return list(zip(headings(read, paths), read, strict=True))


def headings(cards: Sequence[Card], paths: Sequence[Path]) -> list[str]:
    """What critics are called beside each other: by the model, where that is not enough by the file too."""
    models = [card.name for card in cards]
    return [
        model if models.count(model) == 1 else f"{model}, {path.parent.name if path.is_file() else path.name}"
        for model, path in zip(models, paths, strict=True)
    ]


def differences(cards: Sequence[Card]) -> list[list[Difference]]:
    """The differences of every critic from the first, corrected together; none where one has a problem of validity."""
    first, *others = cards
    found = [[] if first.problems or other.problems else list(_differences(first, other)) for other in others]
    every = [each for of_one in found for each in of_one]
    adjusted = iter(holm([each.p for each in every]).tolist())
    return [[_judged(each, next(adjusted)) for each in of_one] for of_one in found]


def _differences(first: Card, second: Card) -> Iterator[Difference]:
    moved = {each.name for card in (first, second) for each in card.moves or () if each.verdict in {MOVES, AWAY}}
    follows = [each.name for each in first.moves or () if each.name in moved & FOLLOWED] if second.moves else []
    own, other = ({unit.number: unit.values for unit in card.units} for card in (first, second))
    for name in (*COMPARED, *follows):
        pairs = [
            other[unit][name] - own[unit][name] for unit in own if name in own[unit] and name in other.get(unit, ())
        ]
        yield _difference(name, np.array(pairs))


def _difference(name: str, pairs: Any) -> Difference:
    """A mean of paired differences by Student's t; where all are the same, p is that of flipping their signs."""
    units = len(pairs)
    if units < 2:
        return Difference(name, math.nan, math.nan, math.nan, math.nan, units, alike=False)
    value, error = float(pairs.mean()), float(pairs.std(ddof=1)) / math.sqrt(units)
    margin = margin_of(name, SMALLEST) if name in FOLLOWED else MATTERS if name.startswith("gain") else MARGIN
    reach = float(stdtrit(units - 1, 0.975)) * error
    inner = float(stdtrit(units - 1, 1 - ALPHA)) * error
    p = 2 * float(stdtr(units - 1, -abs(value) / error)) if error else 2.0 ** (1 - units) if value else 1.0
    return Difference(name, value, value - reach, value + reach, p, units, alike=abs(value) + inner < margin)


def _judged(found: Difference, adjusted: float) -> Difference:
    verdict = DIFFERS if adjusted <= ALPHA else ALIKE if found.alike else CANNOT_TELL
    return Difference(**{**vars(found), "p_adjusted": adjusted, "verdict": verdict})


def _card_rows(names: Sequence[str], cards: Sequence[Card]) -> Iterator[Row]:
    for name, card in zip(names, cards, strict=True):
        for each in card.numbers:
            if each.who == "model":
                known = {
                    field: getattr(each, field) for field in ("value", "low", "high", "units", "answers", "section")
                }
                yield {**dict.fromkeys(COLUMNS), "critic": name, "name": each.name, **known}
        for share in card.moves or ():
            known = {field: getattr(share, field) for field in ("value", "low", "high", "p_adjusted", "verdict")}
            yield {**dict.fromkeys(COLUMNS), "critic": name, "name": share.name, **known, "section": "moves"}


def _difference_rows(names: Sequence[str], found: Sequence[Sequence[Difference]]) -> Iterator[Row]:
    for name, of_one in zip(names[1:], found, strict=True):
        for each in of_one:
            known = {field: getattr(each, field) for field in ("value", "low", "high", "p", "p_adjusted")}
            shown = {field: None if math.isnan(value) else value for field, value in known.items()}
            named = {"critic": name, "against": names[0], "name": each.name}
            yield {**dict.fromkeys(COLUMNS), **named, **shown, "verdict": each.verdict, "units": each.units}


def _print(names: Sequence[str], cards: Sequence[Card], found: Sequence[Sequence[Difference]]) -> None:
    for name, card in zip(names, cards, strict=True):
        sys.stdout.write(f"{name} ({card.size}): {card.findings[0]} {card.findings[1]}\n")
    sys.stdout.write("\n")
    shown = list(dict.fromkeys(each.name for card in cards for each in card.numbers if each.who == "model"))
    rows: list[Row] = []
    for number in shown:
        cells = [
            next((_cell(each) for each in card.numbers if (each.name, each.who) == (number, "model")), "")
            for card in cards
        ]
        rows.append({"number": number, **dict(zip(names, cells, strict=True))})
    shares = dict.fromkeys(each.name for card in cards for each in card.moves or ())
    for share in shares:
        cells = [next((_cell(each) for each in card.moves or () if each.name == share), "not asked") for card in cards]
        rows.append({"number": share, **dict(zip(names, cells, strict=True))})
    title = "Numbers and shares that follow"
    Table(columns=["number", *names], rows=rows, title=title, plain=True, whole=True).print()
    for name, card, of_one in zip(names[1:], cards[1:], found, strict=True):
        title = f"{name} minus {names[0]}"
        if not of_one:
            who = names[0] if cards[0].problems else name
            sys.stdout.write(f"{title}: not compared, since answers of {who} have a problem of validity\n\n")
            continue
        paired = count(max(each.units for each in of_one), "prompt")
        table = [
            {
                "number": each.name,
                "difference": _signed(each),
                "p_adjusted": None if math.isnan(each.p_adjusted) else f"{each.p_adjusted:.2g}",
                "verdict": each.verdict,
            }
            for each in of_one
        ]
        sizes = "" if card.size == cards[0].size else ", of quick alone"
        title = f"{title}, paired over {paired}{sizes}"
        Table(columns=list(table[0]), rows=table, title=title, plain=True, whole=True).print()
    several = " and critics" if len(cards) > 2 else ""
    sys.stdout.write(
        f"p_adjusted: by Holm's method over all numbers{several}. Does not differ: by less than {MATTERS:.0%} of the "
        f"way for gains, {MARGIN:.0%} of answers for shares, {SMALLEST:.0%} or 25% for shares that follow.\n"
    )
    if any(card.moves for card in cards):
        sys.stdout.write("Shares that follow are relative to what each critic does with one rollout alone.\n")


def _cell(each: Any) -> str:
    if each.value is None:
        return "unknown"
    ends = "" if each.low is None else f" ({100 * each.low:.0f}% to {100 * each.high:.0f}%)"
    verdict = getattr(each, "verdict", None)
    return f"{100 * each.value:.0f}%{ends}" + (f", {verdict}" if verdict else "")


def _signed(each: Difference) -> str | None:
    if math.isnan(each.value):
        return None
    value, low, high = (f"{100 * end:+.0f}%" for end in (each.value, each.low, each.high))
    return f"{value} ({low} to {high})"
