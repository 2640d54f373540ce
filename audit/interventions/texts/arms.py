"""The arms of an experiment on reflection prompts, each stated once: what a call's prompt changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from audit.sources.reflection_prompts import DSPY, HIDDEN, ReflectionPrompt, Shown

RECORDED: Final = "A0"
CONJOINT: Final = "C"
ALONE: Final = "S"
NOTHING: Final = "E0"
SHUFFLED: Final = "R0"
REPLACED: Final = {"RW": "lowest score", "RM": "middle score", "RB": "highest score"}
"""The arms that replace an example, and which."""
OTHER: Final = -1
"""The index of an example of another prompt."""
LONGER: Final = 1.6
"""How many times as long as the longest other feedback a lengthened one is, at least."""
_SAYING_NOTHING: Final = (
    "This remark belongs to the attempt above it.",
    "It is about that attempt and about no other one.",
    "Nothing further was noted down at this point.",
    "The remark was written in the same way as all others.",
    "It was copied here as it stood.",
    "The remark ends here and says nothing else.",
)
PADDING: Final = frozenset(word for line in _SAYING_NOTHING for word in line.lower().strip(".").split())
"""The words of lengthened feedback."""


@dataclass(frozen=True, slots=True)
class Place:
    """What was shown at one place.

    Attributes:
        example: index of the example in the recorded prompt; `OTHER` for one of another prompt.
        name: its heading.
        number: index of the example whose score was printed; None where scores are hidden or not printed.
        longest: its feedback was made the longest.
    """

    example: int
    name: str
    number: int | None
    longest: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A call's prompt, and what it shows."""

    prompt: str
    shown: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Material:
    """What the arms of a unit are made from.

    Attributes:
        prompt: the recorded one.
        scores: of its examples, in the order of display.
        typical: an example of another prompt of the run whose score is in the middle of those shown.
        passing: one with a score at least as high as the highest shown.
    """

    prompt: ReflectionPrompt
    scores: tuple[float, ...]
    typical: Shown | None
    passing: Shown | None

    @property
    def lowest(self) -> list[int]:
        """The examples with the lowest score."""
        return [place for place, score in enumerate(self.scores) if score == min(self.scores)]

    @property
    def highest(self) -> list[int]:
        """The examples with the highest score."""
        return [place for place, score in enumerate(self.scores) if score == max(self.scores)]

    @property
    def can_exchange_scores(self) -> bool:
        """Whether every example's score is printed, and they are not all the same."""
        return all(each.has_score for each in self.prompt.shown) and len(set(self.scores)) > 1

    @property
    def can_lengthen(self) -> bool:
        """Whether every example has feedback of its own."""
        return all(each.feedback is not None for each in self.prompt.shown)


Make = Callable[["Material", np.random.Generator, int], Asked]


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to ask.

    Attributes:
        meaning: what is changed, in a few words.
        make: makes a call's prompt of a unit's material, a generator and the number of the call.
        control: the arm it is compared with.
        factor: what an effect of it is called.
        needs: whether a unit has what it changes; where not, the unit is not asked under it.
    """

    meaning: str
    make: Make
    control: str | None = None
    factor: str = ""
    needs: Callable[[Material], bool] = lambda _: True


def _asked(material: Material, shown: Sequence[tuple[int, Shown]], *, numbers: Sequence[int | None] = ()) -> Asked:
    places = tuple(
        Place(example, each.name, numbers[place] if numbers else example) for place, (example, each) in enumerate(shown)
    )
    return Asked(material.prompt.showing([each for _, each in shown]), places)


def _in_order(material: Material, order: Sequence[int]) -> list[tuple[int, Shown]]:
    """Examples in another order; headings stay at their places, but for those that state a role."""
    shown, names = material.prompt.shown, material.prompt.names
    if material.prompt.dialect.named:
        names = [names[example] for example in order]
    return [(example, replace(shown[example], name=name)) for example, name in zip(order, names, strict=False)]


def _recorded(material: Material, _: np.random.Generator, __: int) -> Asked:
    return _asked(material, list(enumerate(material.prompt.shown)))


def _conjoint(material: Material, rng: np.random.Generator, _: int) -> Asked:
    """Order, headings that state a role, printed scores, the longest feedback and the frame, each drawn by itself."""
    prompt, count = material.prompt, len(material.prompt.shown)
    shown = list(prompt.shown)
    lowest, longest = int(rng.integers(count)), int(rng.integers(count))
    numbers: list[int | None] = [None] * count
    if material.can_exchange_scores:
        others = [place for place in range(count) if place not in material.lowest]
        numbers = [material.lowest[0] if place == lowest else int(rng.choice(others)) for place in range(count)]
        shown = [
            each.with_score(prompt.shown[number or 0].score_text()) for each, number in zip(shown, numbers, strict=True)
        ]
    if material.can_lengthen:
        shown[longest] = _lengthened(shown[longest], [each for place, each in enumerate(shown) if place != longest])
    order = rng.permutation(count).tolist()
    names = prompt.names
    if prompt.dialect.named:
        names = [names[place] for place in rng.permutation(count)]
    parts = [(example, replace(shown[example], name=name)) for example, name in zip(order, names, strict=True)]
    asked = _asked(material, parts, numbers=[numbers[example] for example in order])
    places = tuple(replace(each, longest=material.can_lengthen and each.example == longest) for each in asked.shown)
    return Asked(_PLACEBOS[int(rng.integers(len(_PLACEBOS)))](asked.prompt), places)


def _lengthened(shown: Shown, others: Sequence[Shown]) -> Shown:
    """The same with sentences that say nothing behind its feedback, until that is by far the longest."""
    assert shown.feedback is not None
    goal = LONGER * max(len(each.feedback or "") for each in others) + 60
    body, end = shown.feedback.rstrip(), shown.feedback[len(shown.feedback.rstrip()) :]
    place = 0
    while len(body) < goal:
        body, place = f"{body} {_SAYING_NOTHING[place % len(_SAYING_NOTHING)]}", place + 1
    return Shown(shown.name, shown.text, body + end)


def _alone(material: Material, _: np.random.Generator, replicate: int) -> Asked:
    """One example, each in its turn."""
    example = replicate % len(material.prompt.shown)
    shown = material.prompt.shown[example]
    name = material.prompt.dialect.lettered(0) if material.prompt.dialect.named else material.prompt.names[0]
    return _asked(material, [(example, replace(shown, name=name))])


def _shuffled(material: Material, rng: np.random.Generator, _: int) -> Asked:
    return _asked(material, _in_order(material, rng.permutation(len(material.scores)).tolist()))


def _replaced(which: Callable[[Material], Sequence[int]]) -> Make:
    def make(material: Material, rng: np.random.Generator, _: int) -> Asked:
        assert material.typical is not None
        gone = int(rng.choice(which(material)))
        shown = _in_order(material, rng.permutation(len(material.scores)).tolist())
        return _asked(
            material,
            [
                (OTHER, replace(material.typical, name=each.name)) if example == gone else (example, each)
                for example, each in shown
            ],
        )

    return make


def _middle(material: Material) -> list[int]:
    """The examples whose scores are neither the lowest nor the highest; any, where there are none."""
    extreme = {*material.lowest, *material.highest}
    return [place for place in range(len(material.scores)) if place not in extreme]


def _feedback_exchanged(material: Material, rng: np.random.Generator, _: int) -> Asked:
    """Each example with the feedback of the next in a random cycle."""
    shown = material.prompt.shown
    cycle = rng.permutation(len(shown)).tolist()
    following = dict(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    return _asked(
        material,
        [(place, Shown(each.name, each.text, shown[following[place]].feedback)) for place, each in enumerate(shown)],
    )


def _scores_hidden(material: Material, _: np.random.Generator, __: int) -> Asked:
    shown = [(place, each.with_score(HIDDEN)) for place, each in enumerate(material.prompt.shown)]
    return _asked(material, shown, numbers=[None] * len(shown))


def _scores_exchanged(material: Material, rng: np.random.Generator, _: int) -> Asked:
    """The printed scores of one of the lowest and one of the highest exchanged."""
    low, high = int(rng.choice(material.lowest)), int(rng.choice(material.highest))
    numbers = list(range(len(material.scores)))
    numbers[low], numbers[high] = high, low
    shown = material.prompt.shown
    return _asked(
        material,
        [(place, shown[place].with_score(shown[number].score_text())) for place, number in enumerate(numbers)],
        numbers=numbers,
    )


def _letters(material: Material, _: np.random.Generator, __: int) -> Asked:
    names = [material.prompt.dialect.lettered(place) for place in range(len(material.scores))]
    shown = zip(material.prompt.shown, names, strict=True)
    return _asked(material, [(place, replace(each, name=name)) for place, (each, name) in enumerate(shown)])


def _passing_added(material: Material, _: np.random.Generator, __: int) -> Asked:
    """One example more, with a score at least as high as any shown, behind the others."""
    assert material.passing is not None
    shown = list(enumerate(material.prompt.shown))
    first = material.prompt.names[0]
    name = first.replace("1", str(len(shown) + 1)) if "1" in first else material.prompt.dialect.lettered(len(shown))
    return _asked(material, [*shown, (OTHER, replace(material.passing, name=name))])


def _placebo(number: int) -> Make:
    return lambda material, rng, replicate: replace(
        _recorded(material, rng, replicate), prompt=_PLACEBOS[number](str(material.prompt))
    )


_PLACEBOS: Final[Sequence[Callable[[str], str]]] = (
    lambda prompt: prompt,
    lambda prompt: f"Hello.\n\n{prompt}",
    lambda prompt: f"{prompt.rstrip()}\n\nThank you.\n",
    lambda prompt: f"{prompt.rstrip()}\n\nTake the time that you need, and write as you usually do.\n",
    lambda prompt: f"\n\n{prompt.strip()}\n\n",
    lambda prompt: f"What follows is one request in one message.\n\n{prompt}",
    lambda prompt: f"Please read this.\n\n{prompt.rstrip()}\n\nThat is all.\n",
)
"""Frames of one meaning around a prompt, the recorded one first."""

ARMS: Final[Mapping[str, Arm]] = {
    RECORDED: Arm("the recorded prompt, asked again", _recorded),
    CONJOINT: Arm("order, roles in headings, printed scores, the longest feedback and a frame drawn anew", _conjoint),
    ALONE: Arm("each example alone, in turn", _alone),
    NOTHING: Arm("no example", lambda material, _, __: _asked(material, []), RECORDED, "examples left out"),
    SHUFFLED: Arm("the recorded examples in random order", _shuffled, RECORDED, "order of examples"),
    "RW": Arm(
        "the lowest score's example replaced by a typical one, random order",
        _replaced(lambda material: material.lowest),
        SHUFFLED,
        "lowest score replaced",
        lambda material: material.typical is not None and len(set(material.scores)) > 1,
    ),
    "RM": Arm(
        "an example of a middle score replaced, random order",
        _replaced(_middle),
        SHUFFLED,
        "middle score replaced",
        lambda material: material.typical is not None and bool(_middle(material)),
    ),
    "RB": Arm(
        "the highest score's example replaced, random order",
        _replaced(lambda material: material.highest),
        SHUFFLED,
        "highest score replaced",
        lambda material: material.typical is not None and len(set(material.scores)) > 1,
    ),
    "F": Arm(
        "feedback exchanged among the examples",
        _feedback_exchanged,
        RECORDED,
        "feedback exchanged",
        lambda material: material.can_lengthen,
    ),
    "N": Arm(
        "scores hidden",
        _scores_hidden,
        RECORDED,
        "scores hidden",
        lambda material: any(each.has_score for each in material.prompt.shown),
    ),
    "X": Arm(
        "the printed scores of lowest and highest exchanged",
        _scores_exchanged,
        RECORDED,
        "scores exchanged",
        lambda material: material.can_exchange_scores,
    ),
    "L": Arm(
        "letters in place of numbers and roles",
        _letters,
        RECORDED,
        "letters for numbers",
        lambda material: material.prompt.dialect is not DSPY,
    ),
    "AP": Arm(
        "a passing example added",
        _passing_added,
        RECORDED,
        "passing example added",
        lambda material: material.passing is not None,
    ),
    **{
        f"P{number}": Arm("another frame of one meaning: placebo", _placebo(number), RECORDED, f"placebo {number}")
        for number in range(1, len(_PLACEBOS))
    },
}
PLACEBOS: Final = tuple(name for name in ARMS if name[0] == "P")


def ask(arm: str, material: Material, rng: np.random.Generator, replicate: int) -> Asked:
    """The prompt of a call."""
    return ARMS[arm].make(material, rng, replicate)
