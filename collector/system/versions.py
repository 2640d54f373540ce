"""Versions of what decides the numbers of a rollout."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version


def versions(*others: str) -> dict[str, str]:
    """Versions of what decides a run's numbers, and of other packages."""
    found = {"python": platform.python_version()}
    for package in ("salience-audit", "gymnasium", "mujoco", "numpy", *others):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a source tree, or without MuJoCo
            found[package] = "unknown"
    return found
