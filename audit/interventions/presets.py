"""Presets: how many units are asked under which arms, and which hypotheses are primary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from audit.interventions.arms import ARMS, CONJOINT, FRAMES, LETTERED, NOTHING
from audit.output.errors import UsageError

Outcome = Literal["edits", "text"]


class Hypothesis(msgspec.Struct, frozen=True):
    """A primary hypothesis.

    Attributes:
        factor: `label`, `position`, `number` or `presence` of the worst rollout.
        outcome: what it is about: `edits`, or the `text`'s justification.
        arm: the arm that is tested.
        control: the arm that it is compared with; None where the factor is drawn within the arm.
    """

    factor: Literal["label", "position", "number", "presence"]
    outcome: Outcome
    arm: str
    control: str | None = None

    @property
    def arms(self) -> tuple[str, ...]:
        """All that it needs."""
        return (self.arm,) if self.control is None else (self.arm, self.control)


LABEL: Final = Hypothesis("label", "edits", "XL", "N0h")
POSITION: Final = Hypothesis("position", "edits", "XP", "N0")
NUMBER: Final = Hypothesis("number", "text", "C")
PRESENCE: Final = Hypothesis("presence", "edits", "RW", "RM")
PRESENCE_DROPPED: Final = Hypothesis("presence", "edits", "DW", "DM")
HYPOTHESES: Final = (LABEL, POSITION, NUMBER, PRESENCE, PRESENCE_DROPPED)


@dataclass(frozen=True)
class Preset:
    """An experiment's size.

    Attributes:
        units: how many to draw.
        arms: answers of each unit by arm.
        spliced: recorded prompts are changed as they are, without being made again from the record.
    """

    units: int
    arms: Mapping[str, int]
    spliced: bool = False


_ALONE: Final = ("S_w", "S_m", "S_b")
_REPLACED: Final = ("RW", "RM", "RB")
PRESETS: Final[Mapping[str, Preset]] = {
    "small": Preset(30, {"A0": 2, CONJOINT: 18, **dict.fromkeys(_ALONE, 8), NOTHING: 4}),
    "standard": Preset(
        120, {"A0": 2, "C": 20, **dict.fromkeys(_ALONE, 10), "E0": 4, **dict.fromkeys(("R0", "RW", "RM", "RB"), 3)}
    ),
    # No placebos: these arms have one frame, and are compared with each other.
    "presence": Preset(40, {"A0": 2, **dict.fromkeys((LETTERED, *_REPLACED), 12)}),
    "foreign": Preset(40, {"A0": 2, CONJOINT: 28, **dict.fromkeys(_ALONE, 12), NOTHING: 6}, spliced=True),
}
"""Each is to lead to a verdict: few prompts with many answers tell more than many with few, as answers are compared
with others to the same prompt only."""


def get_preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        UsageError: there is none.
    """
    try:
        return PRESETS[name]
    except KeyError:
        raise UsageError(f"unknown preset '{name}'; choose from {', '.join(PRESETS)}") from None


def read_arms(settings: Sequence[str], preset: Mapping[str, int]) -> dict[str, int]:
    """The arms of a preset after a user's settings, `XP=8` or `RB=0`.

    Raises:
        UsageError: no such arm, or not a number of answers.
    """
    arms = dict(preset)
    for setting in settings:
        name, equals, number = setting.partition("=")
        if name not in ARMS:
            raise UsageError(f"unknown arm '{name}'; choose from {', '.join(ARMS)}")
        if not equals or not number.isdecimal() or int(number) > 1000:
            raise UsageError(f"--arm {setting}: give the number of answers of each unit, for example {name}=4")
        arms[name] = int(number)
    chosen = {name: arms[name] for name in ARMS if arms.get(name)}
    for name in chosen:
        control = ARMS[name].control
        if control is not None and control not in chosen and name not in FRAMES:
            raise UsageError(f"arm {name} is compared with {control}, which is not asked; add --arm {control}=4")
    return chosen


def family(arms: Mapping[str, int], *, has_numbers: bool) -> list[Hypothesis]:
    """The primary hypotheses that some arms can test; none where shares are estimated, which are a family of their own.

    The presence of the worst rollout is tested once: beside that of the others where all three are replaced, which
    are a family of their own; else by its replacement where that is asked, else by leaving it out.

    Args:
        arms: answers of each unit by arm.
        has_numbers: a drawn unit has returns that cannot be read off its rollouts.
    """
    if asks_shares(arms):
        return []
    found = [
        each for each in HYPOTHESES if all(arm in arms for arm in each.arms) and (each is not NUMBER or has_numbers)
    ]
    if asks_presence(arms):
        found = [each for each in found if each.factor != "presence"]
    return [each for each in found if each is not PRESENCE_DROPPED or PRESENCE not in found]


def asks_shares(arms: Mapping[str, int]) -> bool:
    """Whether the shares of revisions that follow a rollout can be estimated: `C`, and each rollout alone twice."""
    return bool(arms.get(CONJOINT)) and all(arms.get(arm, 0) > 1 for arm in _ALONE)


def asks_presence(arms: Mapping[str, int]) -> bool:
    """Whether it can be tested which rollout's presence moves edits: each replaced, and none, twice."""
    return all(arms.get(arm, 0) > 1 for arm in (LETTERED, *_REPLACED))
