"""Conditional randomisation: against the binomial distribution, an enumeration of all draws, and by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from audit.measures.conditional_randomisation import conditional_randomisation_test


def test_choices_of_one_of_three_are_a_binomial_test():
    rng = np.random.default_rng(1)
    choice, holder = rng.integers(3, size=60), rng.integers(3, size=60)
    holder[:20] = choice[:20]
    share = np.mean(choice == holder)
    result = conditional_randomisation_test(np.eye(3)[choice], holder, redraws=20_000)
    assert result.effect == pytest.approx(1.5 * (share - 1 / 3))
    away = abs(share * 60 - 20)
    wanted = stats.binom(60, 1 / 3).sf(20 + away - 1) + stats.binom(60, 1 / 3).cdf(20 - away)
    assert result.p == pytest.approx(wanted, abs=4 * np.sqrt(wanted / 20_000) + 1e-4)
    assert result.effects.mean() == pytest.approx(result.effect)


def test_scores_and_eligible_blocks_agree_with_all_draws():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(5, 4))
    eligible = np.ones((5, 4), dtype=bool)
    eligible[0, 1] = eligible[1, 0] = eligible[1, 3] = False
    holder = np.array([0, 2, 1, 3, 0])
    draws = [np.flatnonzero(row) for row in eligible]
    centre = sum(scores[i, each].mean() for i, each in enumerate(draws))
    sums = np.array([sum(scores[range(5), chosen]) for chosen in product(*draws)]) - centre
    observed = scores[range(5), holder].sum() - centre
    wanted = np.mean(np.abs(sums) >= abs(observed) - 1e-9)
    result = conditional_randomisation_test(scores, holder, eligible=eligible, redraws=20_000)
    assert result.p == pytest.approx(wanted, abs=4 * np.sqrt(wanted * (1 - wanted) / 20_000))
    others = [np.mean([scores[i, j] for j in each if j != holder[i]]) for i, each in enumerate(draws)]
    assert result.effects == pytest.approx(scores[range(5), holder] - others)


def test_a_call_without_a_choice_does_not_count():
    scores = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    eligible = [[1, 1, 1], [0, 1, 0], [1, 1, 1]]
    result = conditional_randomisation_test(scores, [0, 1, 0], eligible=eligible)
    assert result.calls == 2
    assert np.isnan(result.effects).tolist() == [False, True, False]
    assert result.effect == pytest.approx((1 - 0.5) / 2)
    nothing = conditional_randomisation_test(np.empty((0, 3)), [])
    assert np.isnan([nothing.effect, nothing.p]).all()


def test_size_where_answers_of_a_run_depend_on_each_other():
    rng = np.random.default_rng(3)
    rejected = 0
    for seed in range(400):
        # Two runs, each with a block of its own that all its answers follow.
        choice = np.repeat(rng.integers(3, size=2), 20)
        rejected += conditional_randomisation_test(
            np.eye(3)[choice], rng.integers(3, size=40), redraws=199, seed=seed
        ).p <= 0.05  # fmt: skip
    assert rejected <= 20 + 3 * np.sqrt(400 * 0.05 * 0.95)


def test_calls_in_several_batches_are_those_of_one(monkeypatch):
    rng = np.random.default_rng(4)
    scores, holder = np.eye(3)[rng.integers(3, size=50)], rng.integers(3, size=50)
    whole = conditional_randomisation_test(scores, holder)
    monkeypatch.setattr("audit.measures.conditional_randomisation._AT_ONCE", 5_000)
    assert conditional_randomisation_test(scores, holder).p == whole.p


@pytest.mark.parametrize(
    ("scores", "holder", "eligible"),
    [
        ([[1, 0]], [2], None),
        ([[1, 0]], [0, 1], None),
        ([[1, np.nan]], [0], None),
        ([[1, 0]], [0], [[0, 1]]),
        ([[1, 0]], [0], [[1, 1, 1]]),
    ],
)
def test_what_makes_no_sense_is_refused(scores, holder, eligible):
    with pytest.raises(ValueError, match=r"block|holder|finite"):
        conditional_randomisation_test(scores, holder, eligible=eligible)
