"""Critics side by side, from their cards: whether answers can be used, what revisions gain and break, what moves them.

Drawn from cards of `audit critic`, not from records, and so once for all conditions.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from audit.interventions.effects.named_shares import SMALLEST, STIMULI, margin_of
from audit.interventions.effects.results import MOVES
from figures.errors import FiguresError
from figures.names import narrow
from figures.plots.drawing import Drawing, in_style, joined
from figures.plots.marks import absent, handle, interval, number, rows_of
from figures.plots.plotting import Panels
from figures.plots.shares import DESCRIBED, LOOKS
from figures.provenance import origin
from figures.style import MUTED, WIDTH, annotate, legend, round_ticks

if TYPE_CHECKING:
    from audit.cards.card import Card, Follows, Number

STEM: Final = "critics"
TITLE: Final = "Critics"
CAPTION: Final = (
    "Critics by their cards, each a row, with 95% intervals over prompts; sorted by what a revision gains. Squares: "
    "the critic. Diamonds: random edits that change as many parameters by as much. Readable: answers that hold all "
    "parameters. Gain: mean change in return as a percentage of the way from random policies to high returns; at the "
    "line nothing is changed. Made worse: revisions after which the return is lower. Near-optimal breaks: revisions of "
    "near-optimal policies that break them. Names the worst: answers that name the worst rollout in a sentence with a "
    "reason; the dotted line is naming one at random. Hollow squares have no interval; a bar has no verdict."
)
SHARES: Final = (
    "Lower panels, of full cards: the percentage of revisions that follow a rollout because of what is named, above "
    "the mean of the other two of its kind, or are moved by wording, length or the order of headings as if by so large "
    "a share; those that move any of these critics. A disc: it moves the critic. A triangle to the left: it moves it "
    "away. A diamond: it goes with another of its kind. A cross: it does not. A triangle: that cannot be told. Grey "
    "bands are too small to be of interest."
)
CRITIC: Final = ("#0072B2", "s")
RANDOM: Final = (MUTED, "D")
_APART: Final = 0.17
"""From the middle of a row to the mark of the critic above it, and to that of the random edit below."""
_ACROSS: Final = 5
_ROW: Final = 0.3
"""Inches of a row, which has a name and a line below it."""
_TITLE: Final = 14
"""Characters of a line of a title."""
_SIZE: Final = 4.8
_BEHIND: Final = 0.8
"""Layer of lines that are before the grid and behind all marks."""


class Panel(NamedTuple):
    """A panel: the number of the card, its title, its axis, and where a line is for comparison."""

    name: str
    title: str
    axis: str
    line: float | None = None


PANELS: Final = (
    Panel("readable", "Readable", "% of answers"),
    Panel("gain", "Gain", "% of the way", 0.0),
    Panel("made worse", "Made worse", "% of revisions"),
    Panel("near-optimal breaks", "Near-optimal\nbreaks", "% of revisions"),
    Panel("names the worst", "Names the\nworst", "% of answers", 100 / 3),
)

Named = tuple[str, "Card"]
"""A card with what its critic is called beside the others."""


def read(cards: Sequence[str | Path]) -> list[Named]:
    """Read cards, those first whose critics gain most.

    Raises:
        FiguresError: there is none.
        AuditError: one cannot be read, is given twice, or is of another suite.
    """
    from audit.cards.comparing import read_cards  # and with it all that runs policies

    if not cards:
        raise FiguresError("give the card of a critic, or of several; `audit critic` makes them")
    return sorted(read_cards(cards), key=lambda each: -_gain(each[1]))


def _gain(card: Card) -> float:
    """What a revision gains; of a critic of which it is not known, less than that of any other."""
    value = number(card.number("gain").value)
    return -math.inf if math.isnan(value) else value


def moving(cards: Iterable[Card]) -> list[str]:
    """The shares that move any of some critics, in the order of the cards."""
    every = [share for card in cards if not card.problems for share in card.moves or ()]
    moved = {share.name for share in every if share.verdict == MOVES}
    return [name for name in dict.fromkeys(share.name for share in every) if name in moved]


@in_style
def draw(named: Sequence[Named]) -> Drawing:
    """Draw critics from their cards, a row each."""
    cards = [card for _, card in named]
    full = [each for each in named if each[1].moves]
    shares = moving(cards)
    blocks = [len(named), *[len(full)] * -(-len(shares) // _ACROSS)]
    figure = Figure(figsize=(WIDTH, sum(_ROW * rows + 0.8 for rows in blocks)))
    grid = figure.add_gridspec(len(blocks), _ACROSS, height_ratios=[rows + 1 for rows in blocks])
    labels = [_row_label(*each) for each in named]
    for place, panel in enumerate(PANELS):
        ax = figure.add_subplot(grid[0, place])
        rows_of(ax, labels if place == 0 else [""] * len(named))
        _draw(ax, panel, cards)
    for place, share in enumerate(shares):
        ax = figure.add_subplot(grid[1 + place // _ACROSS, place % _ACROSS])
        rows_of(ax, [_row_label(*each) for each in full] if place % _ACROSS == 0 else [""] * len(full))
        _draw_share(ax, share, [card for _, card in full])
    entries = [*_HANDLES, *_verdicts(cards, shares)]
    legend(figure, entries, across=5 if len(entries) == 5 else 4)
    note = joined([*_remarks(named, shares), _origin(cards)])
    annotate(figure, note)
    described = "Numbers of critics with intervals, a row each: " + ", ".join(panel.name for panel in PANELS)
    moved = f"; below, shares of revisions that follow: {', '.join(shares)}" if shares else ""
    return Drawing(STEM, TITLE, f"{CAPTION} {SHARES}" if shares else CAPTION, note, f"{described}{moved}.", figure)


_HANDLES: Final = (
    handle("critic", *CRITIC, size=_SIZE),
    handle("random edit", *RANDOM, size=_SIZE, inside="white"),
    Line2D([], [], color=MUTED, lw=1.0, label="doing nothing"),
    Line2D([], [], color=MUTED, lw=1.0, ls=":", label="naming at random"),
)


def _row_label(name: str, card: Card) -> str:
    """The model, and under it what tells this card from others: its folder where models are alike, and its size."""
    folder = name.removeprefix(card.name).removeprefix(", ")
    return f"{narrow(card.name)}\n{', '.join([*([narrow(folder)] if folder else []), card.size])}"


def _draw(ax: Axes, panel: Panel, cards: Sequence[Card]) -> None:
    found = [_numbers(card, panel.name) for card in cards]
    values = [value for numbers in found for each in numbers if each for value in _percents(each)]
    is_share = panel.name != "gain"
    ends = [0.0, *([100.0] if is_share else []), *(value for value in values if math.isfinite(value))]
    _frame(ax, panel.title, panel.axis, min(ends), max(ends))
    if panel.line is not None:
        ax.axvline(panel.line, color=MUTED, lw=1.0, ls=":" if panel.line else "-", zorder=_BEHIND)
    for y, (card, (own, random)) in enumerate(zip(cards, found, strict=True)):
        if own is None or own.value is None:
            absent(ax, y, "– unknown")
            continue
        colour, marker = LOOKS[DESCRIBED] if card.problems else CRITIC
        interval(ax, y - (_APART if random else 0), *_percents(own), colour, marker, size=_SIZE)
        if random:
            interval(ax, y + _APART, *_percents(random), *RANDOM, size=_SIZE - 0.8, inside="white", width=0.8)


def _numbers(card: Card, name: str) -> tuple[Number | None, Number | None]:
    """A number of a card, and that of the random edit; None where there is none."""
    own, random = (
        next((each for each in card.numbers if (each.name, each.who) == (name, who)), None)
        for who in ("model", "random edit")
    )
    return own, random if random is not None and random.value is not None else None


def _draw_share(ax: Axes, share: str, cards: Sequence[Card]) -> None:
    found = [next((each for each in card.moves or () if each.name == share), None) for card in cards]
    values = [value for each in found if each for value in _percents(each)]
    ends = [-20.0, 100.0, *(value for value in values if math.isfinite(value))]
    title = f"Moved by\n{share}" if share in STIMULI else "Follows\n" + textwrap.fill(share, _TITLE)
    _frame(ax, title, "% of revisions", min(ends), max(ends))
    ax.axvline(0, color=MUTED, lw=0.8, zorder=_BEHIND)
    for y, (card, each) in enumerate(zip(cards, found, strict=True)):
        if each is None or each.value is None:
            absent(ax, y, "– not asked" if each is None else "– unknown")
            continue
        verdict = _verdict(card, each)
        if verdict != DESCRIBED and share not in STIMULI:
            margin = 100 * margin_of(share, SMALLEST)
            ax.fill_betweenx([y - 0.5, y + 0.5], -margin, margin, color=MUTED, alpha=0.12, lw=0, zorder=0)
        interval(ax, y, *_percents(each), *LOOKS[verdict], size=_SIZE + 0.7)


def _verdict(card: Card, share: Follows) -> str:
    return DESCRIBED if card.problems or share.verdict not in LOOKS else str(share.verdict)


def _frame(ax: Axes, title: str, axis: str, low: float, high: float) -> None:
    ax.set_title(title)
    ax.set_xlabel(axis)
    ax.grid(visible=True, axis="x")
    ax.xaxis.set_major_locator(round_ticks(3))
    margin = 0.05 * ((high - low) or 1.0)
    ax.set_xlim(low - margin, high + margin)


def _percents(each: Number | Follows) -> tuple[float, float, float]:
    value, low, high = (100 * number(end) for end in (each.value, each.low, each.high))
    return value, low, high


def _verdicts(cards: Sequence[Card], shares: Sequence[str]) -> list[Line2D]:
    """Entries of the legend: the verdicts on shares, and the bar of critics that have none."""
    found = {_verdict(card, each) for card in cards for each in card.moves or () if each.name in shares}
    found |= {DESCRIBED for card in cards if card.problems}
    return [handle(verdict, *look, size=_SIZE + 0.7) for verdict, look in LOOKS.items() if verdict in found]


def _remarks(named: Sequence[Named], shares: Sequence[str]) -> list[str]:
    found = [f"{name}, no verdict: {card.problems[0].rstrip('.')}." for name, card in named if card.problems]
    if not shares and any(card.moves for _, card in named):
        found.append("No share moves a critic that was asked.")
    answers = sum(card.cost.calls for _, card in named)
    return [*found, f"Prompts of {named[0][1].suite}: {answers:,} answers."]


def _origin(cards: Sequence[Card]) -> str:
    facts = [{"condition": STEM, "backend": card.backend, "model": card.model} for card in cards]
    return origin(pd.DataFrame(facts), STEM)


def plot_critics(cards: Sequence[str | Path]) -> Panels:
    """Plot critics from their cards: readable answers, gains, harm and what they name; of full cards what moves them.

    Args:
        cards: folders of `audit critic`, or files of cards; one or more of one suite.

    Returns:
        The axes, of a new figure that pyplot does not know of: `axes[0].figure.savefig(...)` writes it.

    Raises:
        FiguresError: no card is given.
        AuditError: a card cannot be read, is given twice, or is of another suite.
    """
    return np.array(draw(read(cards)).figure.axes, dtype=object)
