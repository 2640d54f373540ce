"""Prediction limits, by hand and by draws from a population."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit.measures.prediction import prediction_p

LIMIT = 2.5 + 2.3534 * math.sqrt(1.25) * math.sqrt(5 / 3)
"""Of 1, 2, 3 and 4: mean 2.5, variance 5/3, and 2.3534 as the 95% point of t with three degrees of freedom (tables)."""


def test_a_value_at_the_limit_has_a_p_value_of_five_percent():
    assert prediction_p(LIMIT, [1, 2, 3, 4]) == pytest.approx(0.05, abs=1e-5)
    assert prediction_p(2.5, [1, 2, 3, 4]) == pytest.approx(0.5)
    assert prediction_p(LIMIT, [1, math.nan, 2, 3, 4]) == prediction_p(LIMIT, [1, 2, 3, 4])


def test_one_more_draw_of_the_population_passes_as_often_as_stated():
    drawn = np.random.default_rng(3).normal(0.1, 0.02, size=(4_000, 6))
    passed = np.mean([prediction_p(value, others) <= 0.05 for value, *others in drawn])
    assert passed == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / 4_000))


def test_populations_without_spread_or_of_one_value():
    assert [prediction_p(value, [0.5, 0.5]) for value in (0.4, 0.5, 0.6)] == [1, 1, 0]
    assert math.isnan(prediction_p(1.0, [0.5]))
    assert math.isnan(prediction_p(math.nan, [0.5, 0.6]))
