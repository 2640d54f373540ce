"""Which rules of acceptance keep a revision, and what they take."""

from __future__ import annotations

import numpy as np
import pytest

from audit.remedies.trials import ROLLOUTS, Trial, accepted
from collector import acceptance

PAIRS = acceptance.PAIRS


@pytest.mark.parametrize(
    ("trial", "greedy", "recheck", "gate"),
    [
        (Trial(1.0, 2.0, [1.0, 2.0] * (PAIRS // 2)), True, True, True),
        (Trial(1.0, -2.0, [-1.0, 1.0] * (PAIRS // 2)), True, False, False),
        (Trial(-1.0, 2.0, [-1.0, -2.0] * (PAIRS // 2)), False, False, False),
        # No difference is no gain; greedy keeps what is not lower.
        (Trial(0.0, 0.0, [0.0] * PAIRS), True, True, False),
    ],
)
def test_rules_by_hand(trial, greedy, recheck, gate):
    assert accepted("greedy", trial) == (greedy, 0)
    assert accepted("recheck", trial) == (recheck, 2 * ROLLOUTS if greedy else 0)
    assert accepted("gate", trial) == (gate, 2 * PAIRS)
    assert accepted("gate-sequential", trial)[0] == gate
    assert accepted("gate-sequential", trial)[1] <= 2 * PAIRS


def test_with_noisy_evaluations_the_gates_avoid_two_thirds_of_false_acceptances_and_the_sequential_one_costs_less():
    """Revisions that lose half a standard deviation of a return's noise, or gain a whole one."""
    rng = np.random.default_rng(0)
    kept = {rule: [0, 0, 0] for rule in ("greedy", "recheck", "gate", "gate-sequential")}
    for number in range(400):
        true = -0.3 if number % 2 else 1.0
        greedy, again = rng.normal(true, np.sqrt(2 / ROLLOUTS), size=2)
        trial = Trial(float(greedy), float(again), rng.normal(true, np.sqrt(2), size=PAIRS).tolist())
        for rule, counts in kept.items():
            takes, rollouts = accepted(rule, trial)
            counts[0 if true < 0 else 1] += takes
            counts[2] += rollouts
    false = {rule: counts[0] for rule, counts in kept.items()}
    assert false["greedy"] >= 20
    assert false["gate"] <= false["greedy"] / 3
    assert false["gate-sequential"] <= false["greedy"] / 3
    assert false["recheck"] < false["greedy"]
    assert kept["gate"][1] >= 0.9 * kept["greedy"][1]
    assert kept["gate-sequential"][2] < kept["gate"][2] / 2
