"""Chance in a task's dynamics, as functions of a generator.

Called from Python the generator is NumPy's. Where the dynamics are compiled, `rollouts.compiled.generator` puts
the same algorithms in the place of these functions.
"""

from __future__ import annotations

import numpy as np


def uniform(generator: np.random.Generator, low: float, high: float) -> float:
    """A number from [low, high), evenly."""
    return generator.uniform(low, high)


def integer(generator: np.random.Generator, low: int, high: int) -> int:
    """A whole number from [low, high), evenly; the range has fewer than 2³² numbers."""
    return int(generator.integers(low, high))
