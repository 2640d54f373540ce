"""How often the alarms of `audit watch` are raised: on 2,000 runs where nothing is wrong, and where something is.

    python -m benchmarks.alarms

Each run has 500 revisions and is looked at after each. Where nothing is wrong, the chance of a regression given the
past is at most one half, and citing does not depend on the direction.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from audit.watching.alarms import alarms

RUNS = 2_000
LENGTH = 500

Drawn = tuple[np.ndarray, np.ndarray]


def chain(rng: np.random.Generator, length: int, stay: float) -> np.ndarray:
    """Zeros and ones, each like the one before with a probability of `stay`, and otherwise the other one."""
    changes = rng.random(length) >= stay
    changes[0] = rng.random() < 0.5
    return np.cumsum(changes) % 2 == 1


def stationary(rng: np.random.Generator) -> Drawn:
    """Half of the revisions regress, and half of the answers cite."""
    return rng.random(LENGTH) < 0.5, rng.random(LENGTH) < 0.5


def drifting(rng: np.random.Generator) -> Drawn:
    """Regressions go from 20% to 50%, and citing from 20% to 80%."""
    chance = np.linspace(0, 1, LENGTH)
    return rng.random(LENGTH) < 0.2 + 0.3 * chance, rng.random(LENGTH) < 0.2 + 0.6 * chance


def autocorrelated(rng: np.random.Generator) -> Drawn:
    """A regression follows a regression in 50% and an improvement in 20%; citing stays as it was in 80%."""
    regressed = np.zeros(LENGTH, dtype=bool)
    for place in range(1, LENGTH):
        regressed[place] = rng.random() < (0.5 if regressed[place - 1] else 0.2)
    return regressed, chain(rng, LENGTH, 0.8)


def both_autocorrelated(rng: np.random.Generator) -> Drawn:
    """Directions and citing both stay in 80%, independently: outside of both nulls, to see how far it matters."""
    return chain(rng, LENGTH, 0.8), chain(rng, LENGTH, 0.8)


def planted_regressions(rng: np.random.Generator) -> Drawn:
    """65% of 200 revisions regress and 35% improve."""
    return rng.random(200) < 0.65, rng.random(200) < 0.5


def planted_citing(rng: np.random.Generator) -> Drawn:
    """Of 200 revisions those that cite regress in 65%, others in 35%."""
    cites = rng.random(200) < 0.5
    return rng.random(200) < np.where(cites, 0.65, 0.35), cites


def raised(draw: Callable[[np.random.Generator], Drawn]) -> tuple[float, float, float]:
    """The shares of runs with an alarm on regressions, one on citing, and any."""
    counts = np.zeros(3)
    for run in range(RUNS):
        regressed, cites = draw(np.random.default_rng([2026, run]))
        both = alarms()
        for is_regression, is_citing in zip(regressed.tolist(), cites.tolist(), strict=True):
            for alarm in both:
                alarm.add(0, "regression" if is_regression else "improvement", is_citing)
        found = [alarm.raised is not None for alarm in both]
        counts += [*found, any(found)]
    return tuple(counts / RUNS)


def main() -> None:
    """Print the shares."""
    print(f"{'share of runs with an alarm':30} regressions  citing     any")
    for draw in (stationary, drifting, autocorrelated, both_autocorrelated, planted_regressions, planted_citing):
        shares = "  ".join(f"{share:9.1%}" for share in raised(draw))
        print(f"{draw.__name__:30} {shares}")


if __name__ == "__main__":
    main()
