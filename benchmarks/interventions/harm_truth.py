"""What seeing the worst rollout truly costs a simulated critic, in return: by asking it very often."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.interventions.cells import Cell
from benchmarks.interventions.datasets import Laboratory

ANSWERS: Final = 50
"""Of each unit under each arm: some 10⁵ over a pool of a thousand units."""
ROLLOUTS: Final = 20
DRAWS: Final = 2000
"""Draws of units by which it is known how often each is among those of a data set."""


def harm_truth(folder: Path, laboratory: Laboratory, cell: Cell) -> dict[str, float]:
    """Mean gain with the worst rollout (`N0`) less that without it (`RW`), by task, over units as they are drawn.

    Args:
        folder: where it is kept.
        laboratory: asks the critic.
        cell: whose critic and draws.
    """
    kept = folder / f"harm-{cell.critic}.json"
    if kept.exists():
        return dict(json.loads(kept.read_text()))
    pool = laboratory.pool
    drawn = Counter(unit.key for seed in range(DRAWS) for unit in pool.draw(cell.units, cell.runs, seed))
    sums: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for number, (unit, _) in enumerate(pool.units.values()):
        if not drawn[unit.key]:
            continue
        arms = {"N0": ANSWERS, "RW": ANSWERS}
        experiment = laboratory.experiment(cell.critic, arms, [unit], 10**6 + number, rollouts=ROLLOUTS)
        means = {arm: np.mean([answer.gain for answer in experiment.arm(arm)[0]]) for arm in arms}
        sums[unit.env].append((drawn[unit.key], float(means["N0"] - means["RW"])))
    truth = {
        env: float(np.average([gain for _, gain in each], weights=[w for w, _ in each])) for env, each in sums.items()
    }
    kept.write_text(json.dumps(truth))
    return truth
