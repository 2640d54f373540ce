"""Sign flips: against SciPy's permutation test of paired samples, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.measures.sign_flip import sign_flip_test


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=9))
def test_few_pairs_are_counted_out_as_scipy_does(differences):
    for alternative in ("two-sided", "greater", "less"):
        wanted = stats.permutation_test(
            (differences,), np.mean, permutation_type="samples", vectorized=True,
            alternative=alternative, n_resamples=np.inf,
        ).pvalue  # fmt: skip
        assert sign_flip_test(differences, alternative=alternative).p == pytest.approx(wanted), alternative


def test_clusters_change_sign_together():
    # Cluster sums 3, 3 and -1: of the eight signs, 7 and 5, that is +++ and ++-, reach the observed 5.
    result = sign_flip_test([1, 2, 3, -1], ["a", "a", "b", "c"], alternative="greater")
    assert result == (1.25, 2 / 8, 4, 3)


def test_many_pairs_are_drawn_and_agree_with_the_sign_test():
    differences = [1.0] * 30 + [-1.0] * 16
    wanted = stats.binomtest(30, 46, alternative="greater").pvalue
    result = sign_flip_test(differences, alternative="greater", draws=20_000, seed=1)
    assert result.p == pytest.approx(wanted, abs=4 * np.sqrt(wanted / 20_000))


def test_what_is_unknown_is_left_out_and_nothing_gives_nothing():
    assert sign_flip_test([1, np.nan, 2, 3]) == sign_flip_test([1, 2, 3])
    nothing = sign_flip_test([np.nan])
    assert np.isnan([nothing.mean, nothing.p]).all()
    assert sign_flip_test([0.0, 0.0]).p == 1


@pytest.mark.parametrize(("values", "clusters"), [([1, np.inf], None), ([1, 2], [1]), ([[1, 2]], None)])
def test_what_makes_no_sense_is_refused(values, clusters):
    with pytest.raises(ValueError, match=r"infinite|cluster"):
        sign_flip_test(values, clusters)
