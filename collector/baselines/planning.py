"""From options to runs of baselines, and the error where one cannot learn a task or nothing can learn at all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from importlib.util import find_spec
from typing import Any, Final

import msgspec

from collector.baselines.hyperparameters import preset
from collector.baselines.methods import ALL, BASELINES, Baseline, actions, fitting
from collector.errors import CollectorError, UsageError
from collector.methods import Method
from collector.records import Run, WarmupTrial
from collector.spec import RunSpec
from collector.system.versions import versions
from collector.tasks import Task

BACKEND: Final = "stable-baselines3"
CONDITION: Final = "sb3"
PACKAGES: Final = {"stable-baselines3": "stable_baselines3", "sb3-contrib": "sb3_contrib", "torch": "torch"}
"""Packages of the extra that decide a run's numbers, and their modules."""


class BaselineRun(RunSpec):
    """One run of a baseline on a task."""

    __slots__ = ()

    @property
    def baseline(self) -> Baseline:
        """The method, with what only baselines have."""
        assert isinstance(self.method, Baseline)
        return self.method

    @property
    def episodes(self) -> int:
        """Episodes in the run: one to train in and K to evaluate in, per iteration."""
        return self.iterations * (1 + self.rollouts)

    def record(self, warmup: list[WarmupTrial]) -> Run:
        """The `run.json` of a run that starts now: there are no prompts, and other packages matter."""
        return msgspec.structs.replace(super().record(warmup), prompts={}, step_size=None, versions=versions(*PACKAGES))


def options(baseline: Baseline, task: Task) -> dict[str, Any]:
    """What of a baseline goes into the record of its runs on a task."""
    settings: dict[str, Any] = msgspec.to_builtins(preset(baseline.id, task.id))
    return {"algorithm": baseline.algorithm} | settings


def is_wanted(method: Method, task: Task, variants: Collection[str]) -> bool:
    """Whether the method is to be run on the task; a misfit is passed over where only `sb3-all` asks for it.

    Raises:
        UsageError: it does not fit, and was asked for by name.
    """
    if not isinstance(method, Baseline) or method.fits(task):
        return True
    if method.id in variants:
        fit = ", ".join(baseline.id for baseline in fitting(task))
        raise UsageError(
            f"{method.id} needs {method.needs} actions and {task.id} has {actions(task)} ones; "
            f"baselines that fit: {fit}, or {ALL} for all that fit"
        )
    return False


def left_out(tasks: Iterable[Task], variants: Collection[str]) -> str | None:
    """One line that names what `sb3-all` skips, if anything."""
    if ALL not in variants:
        return None
    passed_over: dict[str, list[str]] = {}
    for task in tasks:
        if names := [baseline.id for baseline in BASELINES.values() if not baseline.fits(task)]:
            passed_over.setdefault(", ".join(names), []).append(task.id)
    misfits = "; ".join(f"{names} on {', '.join(on)}" for names, on in passed_over.items())
    return f"left out, as the actions do not fit: {misfits}" if misfits else None


def require_extra() -> None:
    """Find out early whether the optional packages are there.

    Raises:
        CollectorError: one of them is not installed.
    """
    missing = [package for package, module in PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise CollectorError(
            f"baselines need {', '.join(missing)}, not installed here: first install PyTorch (without a GPU its CPU "
            f"build), then in a clone pip install '.[baselines]'; see docs/collector.md"
        )
