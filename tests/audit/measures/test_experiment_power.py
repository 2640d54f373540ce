"""Power: against the design's table, simulation, and each formula's inverse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.power import NormalIndPower, zt_ind_solve_power

from audit.measures.conditional_randomisation import conditional_randomisation_test
from audit.measures.experiment_power import (
    best_replicates,
    calls_for_effect,
    design_effect,
    detectable_difference,
    detectable_effect,
    power_of_calls,
    unit_difference_sd,
    units_for_difference,
)


@pytest.mark.parametrize(
    ("effect", "alone", "first_of_four"),
    [(0.1, 567, 772), (0.15, 258, 351), (0.2, 147, 200), (0.3, 66, 89), (0.5, 21, 29)],
)
def test_calls_are_those_of_the_designs_table(effect, alone, first_of_four):
    # Its numbers come from rounded quantiles, 10.5 and 14.3, and are rounded themselves.
    assert calls_for_effect(effect, power=0.9) == pytest.approx(alone, abs=1)
    assert calls_for_effect(effect, power=0.9, alpha=0.0125) == pytest.approx(first_of_four, abs=1)


@pytest.mark.parametrize("blocks", [2, 3, 5])
@pytest.mark.parametrize("power", [0.8, 0.9])
def test_the_three_formulas_are_inverse(blocks, power):
    options = {"alpha": 0.0125, "design_effect": 1.4, "blocks": blocks}
    calls = calls_for_effect(0.23, power=power, **options)
    assert detectable_effect(calls, power=power, **options) == pytest.approx(0.23)
    assert power_of_calls(calls, 0.23, **options) == pytest.approx(power)


def test_power_is_that_of_simulated_tests():
    rng = np.random.default_rng(1)
    found = 0
    for seed in range(400):
        holder = rng.integers(3, size=100)
        choice = np.where(rng.random(100) < 0.2, holder, rng.integers(3, size=100))
        found += conditional_randomisation_test(np.eye(3)[choice], holder, redraws=199, seed=seed).p <= 0.05
    assert found / 400 == pytest.approx(power_of_calls(100, 0.2), abs=0.07)


def test_paired_means_are_those_of_a_one_sample_test():
    wanted = zt_ind_solve_power(effect_size=0.4, alpha=0.05, power=0.9, ratio=0)
    assert units_for_difference(0.8, 2.0, power=0.9) == pytest.approx(wanted, rel=1e-3)
    assert NormalIndPower(ddof=0).power(0.4, wanted, 0.05, ratio=0) == pytest.approx(0.9, abs=1e-3)
    assert detectable_difference(wanted, 2.0, power=0.9) == pytest.approx(0.8, rel=1e-3)


def test_spread_of_a_units_difference_is_that_of_simulated_units():
    rng = np.random.default_rng(2)
    effects = rng.normal(0, 0.5, 20_000)
    arms = [rng.normal(0, math.sqrt(1.0**2 + 3.0**2 / 9), (20_000, 4)).mean(axis=1) for _ in range(2)]
    wanted = unit_difference_sd(between=0.5, within=1.0, replicates=4, rollout=3.0, rollouts=9)
    assert np.std(effects + arms[0] - arms[1]) == pytest.approx(wanted, rel=0.02)


def test_best_replicates_need_the_fewest_costs():
    best = best_replicates(between=0.5, within=1.0, cost_of_unit=4.0, cost_of_call=1.0)
    assert best == pytest.approx(4.0)

    def cost(replicates):
        sd = unit_difference_sd(between=0.5, within=1.0, replicates=replicates)
        return units_for_difference(0.3, sd) * (4.0 + 2 * replicates * 1.0)

    assert cost(best) < min(cost(best * 0.9), cost(best * 1.1))


def test_kishs_design_effect():
    assert design_effect(12, 0.1) == pytest.approx(2.1)
    assert design_effect(1, 0.9) == 1


def test_without_calls_there_is_no_power():
    assert power_of_calls(0, 0.3) == pytest.approx(0.025)
    assert math.isnan(detectable_effect(0))
    assert math.isnan(detectable_difference(0, 1.0))
    assert detectable_effect(1) < 1


@pytest.mark.parametrize("options", [{"effect": 0}, {"effect": 1.1}, {"effect": 0.1, "power": 1}])
def test_what_makes_no_sense_is_refused(options):
    with pytest.raises(ValueError, match=r"effect|power"):
        calls_for_effect(**options)
