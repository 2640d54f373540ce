"""Control edits: changes of the same policy, of the same number and size, that are drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collector.tasks import ParameterSpace

Floats = NDArray[np.float64]

TOLERANCE: Final = 0.05
"""Changes of a linear policy's parameters up to this are none: parameters have one decimal."""


def control_edit(
    space: ParameterSpace,
    before: Sequence[float],
    after: Sequence[float],
    rng: np.random.Generator,
    *,
    bounded: bool = True,
) -> Floats:
    """Change as many parameters as a revision did, drawn at random.

    In a table the states are drawn, and each gets another action. In a linear policy the revision's changes go to
    parameters that are drawn, each with a random sign, reversed where it would leave the range that the policy and
    its revision keep to; so the change has the same length, up to changes within the tolerance.

    Args:
        space: the policy class.
        before: shape (parameters,), the policy.
        after: shape (parameters,), the revision.
        rng: draws the edit.
        bounded: signs are reversed so; of a revision that leaves the range the edit may well be the revision then.

    Returns:
        Shape (parameters,).
    """
    from collector.tasks import TabularSpace

    policy, change = np.array(before, dtype=float), np.subtract(after, before)
    if isinstance(space, TabularSpace):
        for state in rng.choice(len(policy), size=np.count_nonzero(change), replace=False):
            policy[state] = rng.choice([action for action in space.actions if action != policy[state]])
        return policy
    sizes = rng.permutation(np.abs(change[np.abs(change) > TOLERANCE]))
    places = rng.choice(len(policy), size=len(sizes), replace=False)
    steps = sizes * rng.choice([-1.0, 1.0], size=len(sizes))
    low = min(space.low, policy.min(), float(np.min(after)))
    high = max(space.high, policy.max(), float(np.max(after)))
    outside = (policy[places] + steps < low) | (policy[places] + steps > high)
    policy[places] += np.where(outside & bounded, -steps, steps)
    return np.round(policy, 10)  # 0.1 + 0.2 is 0.3 as in the records
