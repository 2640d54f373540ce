"""The budget that all methods share, and other defaults of a run."""

from __future__ import annotations

from typing import Final

CALLS: Final = 200
"""Model calls in a run."""
ROLLOUTS: Final = 20
"""Rollouts in an evaluation."""
RUNS: Final = 10
"""Runs of a method on a task."""
LOCAL_RUNS: Final = 1
LOCAL_ITERATIONS: Final = 5
"""Runs and iterations with the local model, which is small and slow: enough to see that all works."""
EXCERPTS: Final = 5
"""Trajectories excerpted in the history, for the methods that show any."""
