"""Draws from short lists: what `Generator.choice` draws, without the arrays that it makes of its arguments."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def pick(options: Sequence[T], rng: np.random.Generator) -> T:
    """One of the options, each as likely as any other."""
    return options[int(rng.integers(len(options)))]


def pick_weighted(options: Sequence[T], weights: Sequence[float], rng: np.random.Generator) -> T:
    """One of the options.

    Args:
        options: shape (n,).
        weights: in proportion to their probabilities, shape (n,).
        rng: where the number comes from.
    """
    cumulative = list(accumulate(weights))
    return options[bisect_right([each / cumulative[-1] for each in cumulative], rng.random())]
