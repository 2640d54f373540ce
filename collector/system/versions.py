"""Versions of what decides the numbers of a rollout."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version


def versions(*others: str) -> dict[str, str]:
    """Versions of what decides a run's numbers, and of other packages."""
    found = {"python": platform.python_version()}
    for package in ("salience-audit", "gymnasium", "mujoco", "numpy", *others):
        found[package] = _version(package)
    return found


@cache  # each run that begins asks, and an answer is read from a file of pages
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from a source tree, or without MuJoCo
        return "unknown"
