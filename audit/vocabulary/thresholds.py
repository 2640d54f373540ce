"""Thresholds of the edit patterns for logs that carry none, and the user's changes to them."""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, Final

from audit.output.errors import UsageError
from audit.output.names import meant

COUNTS: Final = ("surgical_max", "redesign_min", "multi_state_min")
KEYS: Final = ("floor", "partial", "high", "near_zero", "meaningful", *COUNTS)

MACROS: Final = {
    "first_thresholds": "create macro first_thresholds(a, b, c) as "
    f"{{{', '.join(f'{key}: coalesce(a.{key}, b.{key}, c.{key})' for key in KEYS)}}}",
    "with_threshold": "create macro with_threshold(t, name, number) as "
    f"{{{', '.join(f'{key}: if(name = {key!r}, number, t.{key})' for key in KEYS)}}}",
    "is_count": f"create macro is_count(name) as name in {COUNTS}",
}
"""SQL functions over structs or rows of all thresholds: of each the first that is not null, all with one moved,
and whether a threshold counts parameters."""

TEXT: Final = "text"
"""Names the preset of runs whose candidates are texts, whatever their task, in settings and in files."""

Overrides = Mapping[str, Mapping[str, float]]


def presets() -> dict[str, dict[str, Any]]:
    """Per task id its policy kind, parameter count, thresholds and their origin, from `presets.toml`."""
    return {env: preset for env, preset in _file().items() if env != TEXT}


def text_preset() -> dict[str, float]:
    """Thresholds for texts, from `presets.toml`: shares of the range of scores, and edit ratios."""
    return {key: _file()[TEXT][key] for key in KEYS}


def parse_overrides(settings: Sequence[str]) -> dict[str, dict[str, float]]:
    """Read settings such as `cartpole.high=460`.

    Raises:
        UsageError: a setting has another form, or names a task, key or value that makes no sense.
    """
    overrides: dict[str, dict[str, float]] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        task, dot, key = name.strip().partition(".")
        if not (equals and dot):
            raise UsageError(f"--set {setting}: write TASK.KEY=VALUE, such as cartpole.high=460")
        overrides.setdefault(meant(task, [*presets(), TEXT]), {})[meant(key, KEYS)] = _number(setting, text)
    check_overrides(overrides)
    return overrides


def check_overrides(overrides: Overrides) -> None:
    """Refuse thresholds of unknown tasks or unknown names.

    Raises:
        UsageError: an unknown task or key, or a count that is not a whole number.
    """
    for task, values in overrides.items():
        if task not in {*presets(), TEXT}:
            raise UsageError(f"--set {task}: no such task; tasks are {', '.join(sorted(presets()))}, and {TEXT}")
        for key, value in values.items():
            if key not in KEYS:
                raise UsageError(f"--set {task}.{key}: no such threshold; thresholds are {', '.join(KEYS)}")
            if key in COUNTS and task != TEXT and value != int(value):
                raise UsageError(f"--set {task}.{key}: {value} is not a whole number")


@functools.cache
def _file() -> dict[str, dict[str, Any]]:
    return tomllib.loads(resources.files("audit.vocabulary").joinpath("presets.toml").read_text("utf-8"))


def _number(setting: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"--set {setting}: {text.strip() or 'nothing'} is not a number")
    return value
