"""The section of the page on critics: what each card states, in what critics differ, and the numbers as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from audit.output.errors import count
from audit.output.notes import simulated
from figures.names import label
from figures.page.causes import Paragraph
from figures.plots.critics import STEM, TITLE, Named, moving
from figures.tables import MISSING, Column, Row, Table, shown, text

if TYPE_CHECKING:
    from audit.cards.card import Card
    from audit.cards.comparing import Difference

CAPTION: Final = (
    "Critics by their cards, those first that gain most. Brackets hold 95% intervals over prompts. Gains are "
    "percentages of the way from random policies to high returns; with evidence: how much more a revision gains with "
    "the rollouts than without. Made worse: revisions after which the return is lower. Breaks: revisions of "
    "near-optimal policies that break them. Below a number: the same of random edits of the same size. Names the "
    "worst: answers that name the worst rollout in a sentence with a reason; 33% at random. Follows: revisions that "
    "follow a rollout because of what is named, with the verdict, of shares that move any of these critics."
)
_COLUMNS: Final = (
    ("readable", "Readable"),
    ("gain", "Gain"),
    ("gain from evidence", "Gain with evidence"),
    ("made worse", "Made worse"),
    ("near-optimal breaks", "Breaks"),
    ("names the worst", "Names the worst"),
)


def paragraphs(named: Sequence[Named]) -> list[Paragraph]:
    """What cards state, then in what critics differ from the first, with a warning where no language model answered."""
    caveat = simulated([(card.model, card.backend) for _, card in named])
    found: list[Paragraph] = [(caveat, [])] if caveat else []
    found += [(f"{label(name)} ({card.size}):", list(card.findings)) for name, card in named]
    return [*found, *_differences(named)]


def table_of(named: Sequence[Named]) -> Table:
    """A row for each critic; the CSV file has one for each number of each, unrounded."""
    cards = [card for _, card in named]
    columns = [
        text("critic", "Critic"),
        text("size", "Size"),
        *(
            Column(
                heading,
                lambda row, key=key: row[key],  # type: ignore[misc]
                key,
                beside=lambda row, key=key: row[f"{key}, random edit"],  # type: ignore[misc]
            )
            for key, heading in _COLUMNS
        ),
        *(Column(f"Follows {share}", lambda row, key=share: row.get(key, MISSING), share) for share in moving(cards)),  # type: ignore[misc]
    ]
    rows = [_row(name, card) for name, card in named]
    caveat = simulated([(card.model, card.backend) for card in cards])
    note = f"Prompts of {cards[0].suite}."
    data = [row for name, card in named for row in _data(name, card)]
    return Table(STEM, TITLE, CAPTION, f"{note} {caveat}" if caveat else note, columns, rows, data)


def _row(name: str, card: Card) -> dict[str, str]:
    row = {"critic": name, "size": card.size}
    for key, _ in _COLUMNS:
        own, random = (
            next((each for each in card.numbers if (each.name, each.who) == (key, who)), None)
            for who in ("model", "random edit")
        )
        row[key] = _between(own)
        row[f"{key}, random edit"] = "" if random is None or random.value is None else f"random {_between(random)}"
    for share in card.moves or ():
        row[share.name] = ", ".join([_between(share), *([share.verdict] if share.verdict else [])])
    return row


def _between(each: Any) -> str:
    if each is None or each.value is None:
        return MISSING
    value, low, high = (shown(end, "{:z.0%}") for end in (each.value, each.low, each.high))
    return value if MISSING in {low, high} else f"{value} [{low}, {high}]"


def _data(name: str, card: Card) -> Iterator[Row]:
    by = {"critic": name, "backend": card.backend, "model": card.model, "size": card.size, "suite": card.suite}
    keys = ("section", "name", "who", "value", "low", "high", "units", "answers", "verdict")
    for each in card.numbers:
        yield {**by, **{key: getattr(each, key, None) for key in keys}}
    for share in card.moves or ():
        known = {key: getattr(share, key, None) for key in keys}
        yield {**by, **known, "section": "moves", "who": "model"}


def _differences(named: Sequence[Named]) -> Iterator[Paragraph]:
    """In what each critic differs from the first, paired over prompts that both have."""
    from audit.cards.comparing import ALIKE, CANNOT_TELL, DIFFERS, differences  # and with it all that runs policies

    if len(named) < 2:
        return
    first = named[0][0]
    for (name, card), of_one in zip(named[1:], differences([each for _, each in named]), strict=True):
        if not of_one:
            without = name if card.problems else first
            yield f"{label(name)} is not compared with {label(first)}: answers of {label(without)} have a problem.", []
            continue
        points = [f"{each.name}: {_signed(each)}" for each in of_one if each.verdict == DIFFERS]
        others = {word: [each.name for each in of_one if each.verdict == word] for word in (ALIKE, CANNOT_TELL)}
        points += [f"{verdict}: {', '.join(names)}" for verdict, names in others.items() if names]
        paired = count(max(each.units for each in of_one), "prompt")
        yield f"{label(name)} minus {label(first)}, paired over {paired}:", points


def _signed(each: Difference) -> str:
    value, low, high = (shown(end, "{:+.0%}") for end in (each.value, each.low, each.high))
    return f"{value} [{low}, {high}], p {each.p_adjusted:.2g}"
