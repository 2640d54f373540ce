"""Whether a revision is better, from paired differences of returns: revised minus initial, on seeds that both share.

Pure functions of numbers, for searches here and for optimizers elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

LEVEL: Final = 0.05
"""Chance of accepting a revision that changes nothing, at most."""
PAIRS: Final = 40
"""Pairs of a fixed test, and the most that a sequential one takes."""
BATCH: Final = 4
"""Pairs between two looks of a sequential test."""
ENOUGH: Final = 1 / LEVEL
"""E-value at which a sequential test accepts."""
STAKES: Final = (0.25, 0.5, 1.0, 2.0)
"""How fast stakes grow with the size of a difference; the capital starts in equal shares."""
PATIENCE: Final = 2 * BATCH
"""Pairs before which no test gives up."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a test decided.

    Attributes:
        accepted: the revision is taken for better.
        pairs: differences that it saw.
        p_or_e: its p-value; of a sequential test its e-value.
        rule: the test.
    """

    accepted: bool
    pairs: int
    p_or_e: float
    rule: str


def fixed(differences: Sequence[float]) -> Decision:
    """Student's paired one-sided t-test at 5%.

    Without any variation the mean alone decides: a policy that always gains the same is better. Fewer than two pairs
    are no evidence.
    """
    import numpy as np
    from scipy import stats

    values = np.asarray(differences, dtype=float)
    spread = float(values.std(ddof=1)) if values.size > 1 else math.nan
    if spread > 0:
        p = float(stats.t.sf(values.mean() / (spread / math.sqrt(values.size)), values.size - 1))
    else:
        p = 0.0 if spread == 0 and values[0] > 0 else 1.0
    return Decision(p <= LEVEL, values.size, p, "t")


def signs(differences: Sequence[float]) -> Decision:
    """The exact one-sided sign test at 5% of differences that are no ties, whose mean has to be above 0 as well."""
    gains, untied = sum(each > 0 for each in differences), sum(each != 0 for each in differences)
    p = sum(math.comb(untied, more) for more in range(gains, untied + 1)) / 2**untied
    return Decision(p <= LEVEL and sum(differences) > 0, len(differences), p, "signs")


class Sequential:
    """A test that may stop after any batch, and accepts a revision that changes nothing in 5% of cases at most.

    It bets on the sign of each difference, with a stake that grows with its size. Under the null hypothesis (of
    differences of any size, no more are for the revision than against it) no stake gains on average, even one chosen
    in view of the sizes: with s the root mean square of all differences so far, the capital

        E = mean over c of the product over i of (1 + tanh(c d_i / s))

    is a nonnegative supermartingale that starts at 1, so that by Ville's inequality it ever reaches 20 with a
    probability of 1/20 at most. Betting as a test is that of Waudby-Smith and Ramdas, "Estimating means of bounded
    random variables by betting" (JRSS B 86, 2024), the bets on signs given sizes that of Ramdas, Ruf, Larsson and
    Koolen, "Admissible anytime-valid sequential inference must rely on nonnegative martingales" (2020), section on
    symmetric distributions.

    Bets on the mean itself need a bound on differences, which tasks do not state, and one that is taken from the data
    is none: without a bound no test of a mean can have any power (Bahadur and Savage, 1956). Signs need none, whatever
    the tails. The price is that a revision which gains a little on most seeds and loses much on a few counts as better
    by its signs; it is accepted only if the mean difference is above 0 as well.

    It gives up after 40 pairs, or when pairs to come that are one standard error better than those so far would not
    carry it to 20. That can only take acceptances away.
    """

    rule = "e"

    def __init__(self) -> None:
        self._seen: list[float] = []
        self._capital = [1.0 / len(STAKES)] * len(STAKES)

    @property
    def e(self) -> float:
        """The e-value so far."""
        return sum(self._capital)

    def add(self, batch: Sequence[float]) -> Decision | None:
        """Take further differences, at most so many that there are 40; the decision, once there is one."""
        self._seen += batch
        size = math.sqrt(math.fsum(each * each for each in self._seen) / (sum(each != 0 for each in self._seen) or 1))
        if size > 0:
            for place, stake in enumerate(STAKES):
                for each in batch:
                    self._capital[place] *= 1 + math.tanh(stake * each / size)
        pairs = len(self._seen)
        if self.e >= ENOUGH and math.fsum(self._seen) > 0:
            return Decision(accepted=True, pairs=pairs, p_or_e=self.e, rule=self.rule)
        if pairs >= PAIRS or (pairs >= PATIENCE and not self._may_reach(size)):
            return Decision(accepted=False, pairs=pairs, p_or_e=self.e, rule=self.rule)
        return None

    def _may_reach(self, size: float) -> bool:
        """Whether pairs to come, one standard error better than those so far, would carry it there."""
        if size == 0:
            return False
        pairs = len(self._seen)
        mean = math.fsum(self._seen) / pairs
        error = math.sqrt(math.fsum((each - mean) ** 2 for each in self._seen) / (pairs - 1) / pairs)
        to_come = PAIRS - pairs
        reached = 0.0
        for stake, capital in zip(STAKES, self._capital, strict=True):
            factors = [1 + math.tanh(stake * (each + error) / size) for each in self._seen]
            if capital > 0 and min(factors) > 0:
                growth = math.fsum(map(math.log, factors)) / pairs
                reached += math.exp(min(math.log(capital) + to_come * growth, 700.0))
        return reached >= ENOUGH
