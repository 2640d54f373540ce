"""Alarms on revisions that may be looked at after each of them: e-processes, whose wealth is a bet against a null.

Under its null the wealth is a nonnegative supermartingale that begins at 1, so that it ever reaches 40 with a
probability of at most 1/40 (Ville 1939; see Ramdas et al. 2023, Statistical Science 38, 576), however often one looks
and whenever one stops. Two alarms together err in at most 5%.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from audit.output.errors import UsageError

THRESHOLD: Final = 40.0
"""Wealth at which an alarm is raised."""
MOST: Final = 1e300
"""Wealth of a run at most, since larger numbers end soon; to forgo what is above it leaves the guarantee as it is."""
BLOCK: Final = 10
"""Revisions in a block within which citing is compared with direction."""
CHANCES: Final = 16
"""Chances of a regression above the null that are bet on, with equal stakes."""
ODDS: Final = (1.5, 2.0, 3.0, 5.0, 8.0)
"""Odds ratios between citing and regressing that are bet on, with equal stakes."""


class Bet(Protocol):
    """A bet on one run, whose revisions come in their order."""

    def add(self, *, is_regression: bool, cites: bool | None) -> float:
        """Take a revision that regressed or improved; returns by which factor the wealth changes."""


class RegressionBet:
    """Against: the chance of a regression, given all before it, is at most `p0`.

    For each of some higher chances p the wealth is multiplied by p/p0 at a regression and by (1-p)/(1-p0) at an
    improvement, whose expectation is at most 1 under the null; the bet is their mean.

    Args:
        p0: between 0 and 1.
    """

    def __init__(self, p0: float) -> None:
        chances = [p0 + (1 - p0) * (place + 0.5) / CHANCES for place in range(CHANCES)]
        self._lost = [math.log((1 - chance) / (1 - p0)) for chance in chances]
        self._won = [math.log(chance / p0) for chance in chances]
        self._wealth = _Mixture(CHANCES)

    def add(self, *, is_regression: bool, cites: bool | None) -> float:
        """Take a revision; whether it cites counts for nothing."""
        del cites
        return self._wealth.multiply(self._won if is_regression else self._lost)


class CitingBet:
    """Against: within a block of ten consecutive revisions, which ones cite is exchangeable with their direction.

    Given how many of the ten cite and how many regress, the number that do both is hypergeometric under the null; the
    bet is the mean of the likelihood ratios of Fisher's noncentral hypergeometric distributions with some odds ratios.
    Nothing is won or lost before a block is complete, so that a chance that drifts from block to block does not matter.
    Revisions of which it is not known whether they cite are left out.
    """

    def __init__(self) -> None:
        self._block: list[tuple[bool, bool]] = []
        self._wealth = _Mixture(len(ODDS))

    def add(self, *, is_regression: bool, cites: bool | None) -> float:
        """Take a revision; the factor is 1 unless it completes a block."""
        if cites is None:
            return 1.0
        self._block.append((is_regression, cites))
        if len(self._block) < BLOCK:
            return 1.0
        regressions = sum(each for each, _ in self._block)
        citing = sum(each for _, each in self._block)
        both = sum(one and other for one, other in self._block)
        self._block = []
        return self._wealth.multiply([_log_ratio(both, citing, regressions, odds) for odds in ODDS])


def _log_ratio(both: int, citing: int, regressions: int, odds: float) -> float:
    """The logarithm of how much likelier a number of citing regressions is with an odds ratio than with none."""
    weights = {
        number: math.comb(regressions, number) * math.comb(BLOCK - regressions, citing - number)
        for number in range(max(0, citing + regressions - BLOCK), min(citing, regressions) + 1)
    }
    total = sum(weights.values())
    return both * math.log(odds) - math.log(sum(weight * odds**number for number, weight in weights.items()) / total)


class _Mixture:
    """Several wealths with equal stakes, as logarithms."""

    def __init__(self, number: int) -> None:
        self._logs = [-math.log(number)] * number

    def multiply(self, factors: Sequence[float]) -> float:
        """Multiply each by a factor, given as its logarithm; returns by which factor their sum changes."""
        before = _log_sum(self._logs)
        self._logs = [log + factor for log, factor in zip(self._logs, factors, strict=True)]
        return math.exp(_log_sum(self._logs) - before)


def _log_sum(logs: Sequence[float]) -> float:
    most = max(logs)
    return most + math.log(sum(math.exp(log - most) for log in logs))


@dataclass
class Alarm:
    """The wealth of one bet over all runs.

    Runs that are there from the start have equal shares, so that the wealth is the mean of theirs. A run that comes
    later is given an equal share of what there is by then, of which each earlier one gives the same part: nothing is
    won by its coming.

    Attributes:
        name: of the bet.
        p0: the chance of a regression under the null of the bet on regressions.
        wealth: at present.
        curve: the wealth after each revision that was added.
        raised: after how many revisions the wealth first reached the threshold; None as long as it has not.
    """

    name: str
    p0: float = 0.5
    wealth: float = 1.0
    curve: list[float] = field(default_factory=list)
    raised: int | None = None
    _accounts: dict[Hashable, float] = field(default_factory=dict)
    _bets: dict[Hashable, Bet] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 < self.p0 < 1:
            raise UsageError(f"a chance of {self.p0:g} under the null: give one between 0 and 1")

    def begin(self, run: Hashable) -> None:
        """Open the account of a run, if it has none."""
        if run in self._accounts:
            return
        number = len(self._accounts)
        for each in self._accounts:
            self._accounts[each] *= number / (number + 1)
        self._accounts[run] = self.wealth / (number + 1)
        self._bets[run] = RegressionBet(self.p0) if self.name == REGRESSIONS else CitingBet()

    def add(self, run: Hashable, direction: str, cites: bool | None) -> None:
        """Take the next revision of a run; those that change nothing are left out.

        Args:
            run: which.
            direction: `regression`, `improvement` or `no_change`.
            cites: whether the answer cites the item asked about; None where that is not known.
        """
        self.begin(run)
        if direction in {"regression", "improvement"}:
            factor = self._bets[run].add(is_regression=direction == "regression", cites=cites)
            self._accounts[run] = min(MOST, self._accounts[run] * factor)
            self.wealth = math.fsum(self._accounts.values())
        self.curve.append(self.wealth)
        if self.raised is None and self.wealth >= THRESHOLD:
            self.raised = len(self.curve)


REGRESSIONS: Final = "regressions"
CITING: Final = "citing"


def alarms(p0: float = 0.5) -> tuple[Alarm, Alarm]:
    """The two alarms: revisions regress more often than `p0`, and those that cite regress more often than others."""
    return Alarm(REGRESSIONS, p0), Alarm(CITING, p0)
