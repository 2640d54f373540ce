"""The cells of the benchmark: which critic is asked how much, and what its tests have to find and not to find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from audit.interventions.presets import PRESETS
from collector.llm.simulated import get_personality

TESTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "label, edits": ("label", "edits", "XL"),
    "position, edits": ("position", "edits", "XP"),
    "presence, edits": ("presence", "edits", "RW"),
    "number, text": ("number", "text", "C"),
    "label, text": ("label", "text", "C"),
    "position, text": ("position", "text", "C"),
    "last position, text": ("last position", "text", "C"),
    "number, direction": ("number", "direction", "C"),
    "label, direction": ("label", "direction", "C"),
    "position, direction": ("position", "direction", "C"),
    "last position, direction": ("last position", "direction", "C"),
    "dropped against the prompt, edits": ("DW", "edits", "DW"),
}
"""By name, an effect's factor, outcome and arm."""


@dataclass(frozen=True)
class Design:
    """An experiment.

    Attributes:
        arms: answers of each unit by arm.
        rollouts: fresh rollouts of each revised policy.
        against_prompt: compare `DW` with `A0`, as no preset does: it shows what a change of length alone can do.
    """

    arms: Mapping[str, int]
    rollouts: int = 0
    against_prompt: bool = False


DESIGNS: Final[Mapping[str, Design]] = {
    "small": Design({**PRESETS["small"].arms, "RW": 4, "RM": 4}),
    "direction": Design(dict.fromkeys(("C", "S_w", "S_m", "S_b"), 4)),
    "harm": Design(dict.fromkeys(("N0", "RW", "RM"), 4), rollouts=50),
    "dropped": Design(dict.fromkeys(("A0", "N0", "RW", "RM", "DW"), 4), against_prompt=True),
}
"""`small` is the preset with the arms that test the presence of the worst rollout."""

_SMALL_FACTORS: Final = ("label, edits", "position, edits")
_TEXT_FACTORS: Final = ("number, text", "label, text", "position, text", "last position, text")
_DIRECTION_FACTORS: Final = tuple(name for name in TESTS if name.endswith("direction"))

_DRIVEN: Final[Mapping[str, str]] = {
    "number": "number",
    "magnitude": "number",
    "label": "label",
    "first": "position",
    "last": "last position",
}
"""The factor that a rule plants."""

_PRESENCE: Final[Mapping[str, Mapping[str, bool]]] = {"presence": {"none": False}, "DW": {"length": True}}
"""By rule, whether the presence of the worst rollout matters, where that is known."""


@dataclass(frozen=True)
class Cell:
    """Data sets of one kind.

    Attributes:
        critic: the personality.
        design: one of `DESIGNS`.
        units: how many are drawn, at most.
        runs: from how many runs.
    """

    critic: str
    design: str
    units: int
    runs: int

    def __str__(self) -> str:
        return f"{self.critic}/{self.design}/{self.units}/{self.runs}"

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that its arms allow."""
        if self.design == "small":
            # A critic that goes by the history names no rollout: its texts cannot make a test reject.
            texts = () if get_personality(self.critic).rule == "none" else _TEXT_FACTORS
            return (*_SMALL_FACTORS, "presence, edits", *texts)
        if self.design == "direction":
            return _DIRECTION_FACTORS
        return ("presence, edits", "dropped against the prompt, edits") if self.design == "dropped" else ()

    def planted(self, test: str) -> bool | None:
        """Whether there is an effect to be found; None where there is a slight one, or one of another cause.

        - Whoever looks at the evidence answers differently without one of its rollouts, be it the worst or not.
        - The rest of a mixture, and critics without a rule, go by typicality, which reads the returns.
        - Who follows the first rollout avoids the last.
        - Who hardly ever names its anchor names it now and then.
        - A talker's text goes by the label, whatever its edit goes by.
        """
        factor, outcome, _ = TESTS[test]
        critic = get_personality(self.critic)
        if factor in _PRESENCE:
            return _PRESENCE[factor].get(critic.rule)
        talks = outcome == "text" and critic.names == "worst"
        drives = "label" if talks else _DRIVEN.get(critic.rule)
        if outcome == "edits" and drives == "last position":
            drives = "position"  # one swap moves both
        found = drives == factor
        slight = found and outcome == "text" and critic.outspoken < 0.5
        by_typicality = factor == "number" and not talks and critic.rule not in {"uniform", "none"}
        opposite = {factor, drives} == {"position", "last position"}
        return None if slight or (not found and (by_typicality or opposite)) else found


def cells() -> Iterator[Cell]:
    """All of them, the nulls first."""
    for critic in ("uniform", "none", "format", "typical"):
        for units in (20, 60):
            for runs in (2, 4, 14):
                yield Cell(critic, "small", units, runs)
    for critic in (
        *("number", "label", "first", "last", "content", "magnitude", "length"),
        *("number-silent", "label-silent", "first-silent", "typical-talker", "uniform-talker"),
        *("label@0.4", "first@0.4"),
    ):
        yield Cell(critic, "small", 40, 14)
    for critic in ("label-silent", "first-silent", "number-silent", "uniform-silent"):
        yield Cell(critic, "direction", 120, 14)
    yield Cell("number", "harm", 40, 14)
    yield Cell("length", "dropped", 40, 14)
