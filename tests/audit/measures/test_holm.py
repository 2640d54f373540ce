"""Holm's correction against its definition, and what becomes of tests that could not be done."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from audit.measures.holm import holm, holm_within

p_lists = st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=12)


def test_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.5 times 4, 3, 2, 1: 0.04, 0.06, 0.06, 0.5.
    assert holm([0.5, 0.03, 0.01, 0.02]) == pytest.approx([0.5, 0.06, 0.04, 0.06])


@given(p_lists)
def test_agrees_with_the_closed_testing_definition(p: list[float]) -> None:
    # Holm is closed testing with Bonferroni: a test's adjusted p is the largest, over all sets holding it, of the
    # set's size times its smallest p. For one size the worst such set has the largest other p-values.
    expected = []
    for i, own in enumerate(p):
        others = sorted(p[:i] + p[i + 1 :], reverse=True)
        expected.append(min(1, max((size + 1) * min([own, *others[:size]]) for size in range(len(p)))))
    assert holm(p) == pytest.approx(expected)


def test_a_test_that_could_not_be_done_is_no_member_of_the_family() -> None:
    adjusted = holm([0.01, math.nan, 0.04])
    assert adjusted[[0, 2]] == pytest.approx([0.02, 0.04])
    assert math.isnan(adjusted[1])


@pytest.mark.parametrize("p_values", [[], [math.nan, math.nan]])
def test_nothing_to_correct(p_values: list[float]) -> None:
    assert np.isnan(holm(p_values)).all()


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.inf])
def test_a_value_that_is_no_probability_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="outside"):
        holm([0.5, wrong])


def test_families_are_corrected_apart_and_sized_without_the_undone() -> None:
    adjusted, sizes = holm_within([0.01, 0.02, 0.02, math.nan], ["a", "b", "a", "b"])
    assert adjusted[:3] == pytest.approx([0.02, 0.02, 0.02])
    assert math.isnan(adjusted[3])
    assert sizes.tolist() == [2, 1, 2, 1]


def test_families_must_match_the_p_values() -> None:
    with pytest.raises(ValueError, match="families"):
        holm_within([0.1, 0.2], ["a"])


@given(p_lists)
def test_adjusted_p_values_are_those_of_statsmodels(p: list[float]) -> None:
    with mock.patch("gc.collect"):  # which statsmodels calls each time, and which goes through all that tests have made
        expected = multipletests(p, method="holm")[1]
    assert holm(p) == pytest.approx(expected)
