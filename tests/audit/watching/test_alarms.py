"""The alarms against hand calculations, enumeration, and drawn runs."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import fmean

import numpy as np
import pytest
from scipy import stats

from audit.output.errors import UsageError
from audit.watching.alarms import BLOCK, ODDS, Alarm, CitingBet, alarms


def test_one_regression_multiplies_by_the_mean_of_the_ratios() -> None:
    """Chances from 0.5 to 1 have the mean 0.75, and 0.75 / 0.5 is 1.5; one improvement likewise gives 0.5."""
    alarm = Alarm("regressions")
    alarm.add("run", "regression", None)
    assert alarm.wealth == pytest.approx(1.5)
    alarm = Alarm("regressions")
    alarm.add("run", "improvement", None)
    assert alarm.wealth == pytest.approx(0.5)


def test_ties_are_left_out() -> None:
    alarm = Alarm("regressions")
    alarm.add("run", "no_change", True)
    assert alarm.wealth == 1
    assert alarm.curve == [1]


@pytest.mark.parametrize(("citing", "regressions"), [(5, 5), (2, 7), (9, 1), (0, 4), (10, 6)])
def test_the_mean_over_all_orders_of_a_block_is_one(citing, regressions) -> None:
    """Enumerated: whichever of the ten cite, all equally likely."""
    factors = []
    for chosen in combinations(range(BLOCK), citing):
        bet = CitingBet()
        for place in range(BLOCK):
            factor = bet.add(is_regression=place < regressions, cites=place in chosen)
        factors.append(factor)
    assert fmean(factors) == pytest.approx(1)


def test_a_block_is_the_likelihood_ratio_of_the_noncentral_hypergeometric() -> None:
    """Four cite and five regress, three do both; SciPy has both distributions."""
    bet = CitingBet()
    for place in range(BLOCK):
        factor = bet.add(is_regression=place < 5, cites=place in {0, 1, 2, 9})
    null = stats.hypergeom(BLOCK, 5, 4).pmf(3)
    expected = fmean(stats.nchypergeom_fisher(BLOCK, 5, 4, odds).pmf(3) / null for odds in ODDS)
    assert factor == pytest.approx(expected)


def test_nothing_is_won_by_a_run_that_comes_later() -> None:
    alarm = Alarm("regressions")
    alarm.begin("one")
    for _ in range(3):
        alarm.add("one", "improvement", None)
    before = alarm.wealth
    alarm.begin("two")
    assert alarm.wealth == before
    alarm.add("two", "regression", None)
    assert alarm.wealth == pytest.approx(before / 2 + before / 2 * 1.5)


def test_with_all_runs_from_the_start_the_wealth_is_the_mean() -> None:
    alone = [Alarm("regressions") for _ in range(3)]
    together = Alarm("regressions")
    for run in range(3):
        together.begin(run)
    rng = np.random.default_rng(1)
    for _ in range(30):
        for run, alarm in enumerate(alone):
            direction = "regression" if rng.random() < 0.6 else "improvement"
            alarm.add(run, direction, None)
            together.add(run, direction, None)
    assert together.wealth == pytest.approx(fmean(alarm.wealth for alarm in alone))


def test_a_long_run_of_improvements_leaves_wealth_that_can_still_change() -> None:
    """No wealth becomes 0 by rounding before 5,000 revisions, and none becomes unknown after."""
    alarm = Alarm("regressions")
    for _ in range(5_000):
        alarm.add("run", "improvement", None)
    assert 0 <= alarm.wealth < 1e-3


@pytest.mark.parametrize("p0", [0, 1, -1, 2, float("nan")])
def test_a_chance_is_between_0_and_1(p0) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        alarms(p0)


def test_how_often_they_are_raised() -> None:
    """200 runs of 500 revisions without, and of 200 with an effect; `benchmarks/alarms.py` has 2,000."""
    rng = np.random.default_rng(7)
    false, found = 0, np.zeros(2)
    for _ in range(200):
        both = alarms()
        for regressed, cites in zip(rng.random(500) < 0.5, rng.random(500) < 0.5, strict=True):
            for alarm in both:
                alarm.add(0, "regression" if regressed else "improvement", bool(cites))
        false += any(alarm.raised is not None for alarm in both)
        planted = alarms()
        for _ in range(200):
            cites = bool(rng.random() < 0.5)
            planted[0].add(0, "regression" if rng.random() < 0.65 else "improvement", None)
            planted[1].add(0, "regression" if rng.random() < (0.65 if cites else 0.35) else "improvement", cites)
        found += [alarm.raised is not None for alarm in planted]
    assert false <= 18  # 5% of 200 are 10; more than 18 are drawn in less than one in 100 of the worst allowed cases
    assert (found >= 150).all()  # 80% are 160


def test_wealth_stays_a_number() -> None:
    alarm, _ = alarms()
    for _ in range(3_000):
        alarm.add("run", "regression", None)
    assert math.isfinite(alarm.wealth)
    assert alarm.wealth > 1e200
