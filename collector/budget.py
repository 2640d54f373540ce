"""The budget that all methods share, and other defaults of a run."""

from __future__ import annotations

from typing import Final

CALLS: Final = 200
"""Model calls in a run."""
ROLLOUTS: Final = 20
"""Rollouts in an evaluation."""
RUNS: Final = 10
"""Runs of a method on a task."""
EXCERPTS: Final = 5
"""Trajectories excerpted in the history, for the methods that show any."""
