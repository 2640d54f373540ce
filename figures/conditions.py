"""The parts of a condition's label: its setting of τ_c, and whose runs of reinforcement learning belong beside it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

import pandas as pd

BASELINE: Final = "sb3-"
"""What the ids of Stable-Baselines3's algorithms begin with."""
LEARNERS: Final = "sb3"
"""The default label of their runs."""

DEFAULT: Final = "default"
HALF: Final = "half"
OFF: Final = "off"
AUTOMATIC: Final = "auto-"
"""What settings begin with that leave τ_c to a rule."""
_ALIASES: Final = {"none": OFF, "disabled": OFF, "inf": OFF}
_TAU: Final = "tau-"


def split_tau(condition: str) -> tuple[str, str]:
    """A condition without its setting of τ_c, and that setting: `default` where the label names none."""
    model, *settings = condition.split("+")
    found = [part.removeprefix(_TAU) for part in settings if part.startswith(_TAU)]
    rest = "+".join([model, *(part for part in settings if not part.startswith(_TAU))])
    return rest, _ALIASES.get(found[0], found[0]) if found else DEFAULT


def families(conditions: Iterable[str]) -> dict[str, dict[str, str]]:
    """Conditions that differ in τ_c alone, by what they have in common: the condition of each setting, two or more."""
    found: dict[str, dict[str, str]] = {}
    for condition in sorted(conditions):
        common, tau = split_tau(condition)
        found.setdefault(common, {})[tau] = condition
    return {common: settings for common, settings in found.items() if len(settings) > 1}


def learners_in(runs: pd.DataFrame) -> set[str]:
    """The conditions that hold nothing but runs of Stable-Baselines3, from columns condition and variant."""
    learns = runs["variant"].astype(str).str.startswith(BASELINE)
    return {
        str(condition)
        for condition, all_learn in learns.groupby(runs["condition"], observed=True).all().items()
        if all_learn
    }


def learners_of(condition: str, learners: Collection[str]) -> str | None:
    """Which condition of `learners` belongs beside another: to `m+x` it is `sb3+x`, else `sb3`, else the only one."""
    _, *settings = split_tau(condition)[0].split("+")
    wanted = ("+".join([LEARNERS, *settings]), LEARNERS, *(learners if len(learners) == 1 else ()))
    return next((other for other in wanted if other in learners and other != condition), None)
