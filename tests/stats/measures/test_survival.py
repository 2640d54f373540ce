"""Kaplan and Meier's estimate: by hand, and against statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.duration.survfunc import SurvfuncRight

from stats.measures.survival import kaplan_meier


@pytest.mark.parametrize(
    ("times", "censored", "median"),
    [
        ([3, 1, 2], [0, 0, 0], 2),
        ([1, 2, 3, 4], [0, 0, 0, 0], 2),
        ([5, 5, 5], [1, 1, 1], math.inf),
        ([1, 9, 9], [0, 1, 1], math.inf),
        ([1, 9], [0, 1], 1),
        # At 2 a half is left of three fifths that were: 4/5 at 1; the one that ends at 1.5 counts no more;
        # 4/5 * 2/3 = 8/15 at 2, 4/15 at 3.
        ([1, 1.5, 2, 3, 9], [0, 1, 0, 0, 1], 3),
        ([], [], math.inf),
    ],
)
def test_the_median_counts_runs_that_never_get_there(times: list[float], censored: list[int], median: float) -> None:
    assert kaplan_meier(times, censored).median == median


def test_a_run_that_ends_at_the_time_of_an_event_is_at_risk_of_it() -> None:
    # Three at risk at 1, of which one gets there and one ends; one is left at 2.
    found = kaplan_meier([1, 1, 2], [0, 1, 0])
    assert found.times.tolist() == [1, 2]
    assert found.shares.tolist() == pytest.approx([2 / 3, 0])


@pytest.mark.parametrize("seed", range(20))
def test_the_estimate_is_that_of_statsmodels(seed: int) -> None:
    generator = np.random.default_rng(seed)
    times, censored = generator.integers(1, 15, 30), generator.random(30) < 0.4
    theirs = SurvfuncRight(times, ~censored)
    ours = kaplan_meier(times, censored)
    at_events = np.isin(ours.times, theirs.surv_times)
    assert ours.times[at_events].tolist() == theirs.surv_times.tolist()
    assert ours.shares[at_events] == pytest.approx(theirs.surv_prob)
    # statsmodels takes the first time at which less than half is left, or half: the same but for the rounding.
    assert ours.median == (theirs.quantile(0.5) if not math.isnan(theirs.quantile(0.5)) else math.inf)
