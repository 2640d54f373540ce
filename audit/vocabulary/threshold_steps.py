"""The values that thresholds of the edit patterns are moved to, to see how the patterns' counts change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypedDict

from audit.output.errors import UsageError
from audit.vocabulary.thresholds import KEYS, parse_overrides

VARIED: Final = tuple(key for key in KEYS if key != "floor")
"""What is varied by default: all but the floor, which the others are measured from."""
MOST: Final = 101
"""Values of a threshold that one request can have."""


class Step(TypedDict):
    """A value to try, for one task; or a factor of the value in force, for all (`env` is None)."""

    env: str | None
    threshold: str
    factor: float | None
    value: float | None


def around(steps: int = 5, spread: float = 0.5) -> list[Step]:
    """Factors from 1 − spread to 1 + spread at equal distances, for every threshold but the floor.

    Raises:
        UsageError: fewer than two steps or too many, or a spread that is not above 0 and at most 1.
    """
    if not 2 <= steps <= MOST:
        raise UsageError(f"--steps {steps}: give 2 to {MOST}")
    if not 0 < spread <= 1:
        raise UsageError(f"--spread {spread:g}: give a share above 0 and at most 1, such as 0.5")
    # Whole numbers first, so that the middle one is exactly 1.
    factors = [1 + spread * (2 * step - (steps - 1)) / (steps - 1) for step in range(steps)]
    return [Step(env=None, threshold=name, factor=factor, value=None) for name in VARIED for factor in factors]


def parse_variations(settings: Sequence[str]) -> list[Step]:
    """Read settings such as `cartpole.high=400,450,480`.

    Raises:
        UsageError: a setting has another form, or names a task, threshold or value that makes no sense.
    """
    steps = []
    for setting in settings:
        name, equals, values = setting.partition("=")
        task, dot, key = name.strip().partition(".")
        if not (equals and dot):
            raise UsageError(f"--vary {setting}: write TASK.KEY=VALUE,VALUE, such as cartpole.high=400,450,480")
        try:
            for value in values.split(","):
                number = parse_overrides([f"{name}={value}"])[task][key]
                steps.append(Step(env=task, threshold=key, factor=None, value=number))
        except UsageError as error:
            raise UsageError(str(error).replace("--set", "--vary", 1)) from None
    return steps
