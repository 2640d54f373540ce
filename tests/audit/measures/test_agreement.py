"""Measures of agreement, compared with statsmodels, SciPy and calculations by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

from audit.measures.agreement import (
    accuracy,
    against_rest,
    confusion,
    f1,
    f1_interval,
    kappa,
    kappa_interval,
    kappa_standard_error,
    precision,
    recall,
    wilson,
)

# Rows are true codes, columns what was found.
TABLES = {
    "two codes": [[20, 5], [10, 15]],
    "three codes": [[44, 5, 1], [7, 20, 3], [9, 5, 6]],
    "one code is never true": [[12, 3, 0], [2, 9, 1], [0, 0, 0]],
    "worse than chance": [[1, 9], [8, 2]],
    "one item": [[0, 1], [0, 0]],
}
each_table = pytest.mark.parametrize("table", [np.array(table, float) for table in TABLES.values()], ids=list(TABLES))


@each_table
def test_kappa_its_error_and_interval_are_those_of_statsmodels(table):
    # statsmodels divides by zero on a single item.
    reference = cohens_kappa(table) if table.sum() > 1 else None
    assert kappa(table) == pytest.approx(0.0 if reference is None else reference.kappa)
    if reference is not None:
        assert kappa_standard_error(table) == pytest.approx(reference.std_kappa)
        theirs = np.clip((reference.kappa_low, reference.kappa_upp), -1, 1)
        assert kappa_interval(table) == pytest.approx(theirs, rel=1e-6)


def test_kappa_by_hand():
    # 35 of 50 agree, 0.7. By chance (25 x 30 + 25 x 20) / 2500 = 0.5. So (0.7 - 0.5) / (1 - 0.5) = 0.4.
    assert kappa(np.array([[20, 5], [10, 15]])) == pytest.approx(0.4)


def test_kappa_is_undefined_where_all_items_have_one_code_and_one_where_all_agree():
    one_code, all_agree = np.array([[7.0, 0], [0, 0]]), np.array([[7.0, 0], [0, 2]])
    assert math.isnan(kappa(one_code))
    assert math.isnan(kappa_standard_error(one_code))
    assert all(map(math.isnan, kappa_interval(one_code)))
    assert kappa(all_agree) == 1
    assert kappa_standard_error(all_agree) == pytest.approx(0, abs=1e-9)
    # A code that is never true has a kappa of 0, whatever is found: rounding must not give this a width.
    for table in (all_agree, np.array([[0.0, 0], [26, 74]])):
        assert all(map(math.isnan, kappa_interval(table)))


def test_scores_of_a_code_against_the_rest_by_hand():
    table = np.array(TABLES["three codes"])
    # Of the second code: 20 hits; 7 + 3 missed; 5 + 5 false alarms; 44 + 1 + 9 + 6 elsewhere.
    ours = against_rest(table, 1)
    assert ours.tolist() == [[20, 10], [10, 60]]
    assert precision(ours) == pytest.approx(20 / 30)
    assert recall(ours) == pytest.approx(20 / 30)
    assert f1(ours) == pytest.approx(20 / 30)
    assert accuracy(table) == pytest.approx(70 / 100)
    first = against_rest(table, 0)
    assert first.tolist() == [[44, 6], [16, 34]]
    assert (precision(first), recall(first), f1(first)) == pytest.approx((44 / 60, 44 / 50, 88 / 110))


@pytest.mark.parametrize(
    ("table", "undefined"),
    [
        ([[0, 2], [0, 3]], {"precision"}),
        ([[0, 0], [2, 3]], {"recall"}),
        ([[0, 0], [0, 3]], {"precision", "recall", "f1"}),
        ([[0, 0], [0, 0]], {"precision", "recall", "f1", "accuracy"}),
    ],
)
def test_what_has_no_denominator_is_undefined(table, undefined):
    measures = {"precision": precision, "recall": recall, "f1": f1, "accuracy": accuracy}
    counts = np.array(table, float)
    assert {name for name, measure in measures.items() if math.isnan(measure(counts))} == undefined


def test_leading_axes_stay():
    tables = np.random.default_rng(0).integers(0, 9, (5, 4, 3, 3)).astype(float)
    for measure in (accuracy, kappa):
        assert measure(tables).shape == (5, 4)
        assert measure(tables)[2, 1] == pytest.approx(measure(tables[2, 1]))
    ours = against_rest(tables, 2)
    assert ours.shape == (5, 4, 2, 2)
    for measure in (precision, recall, f1):
        assert measure(ours)[3, 2] == pytest.approx(measure(ours[3, 2]))


def test_pairs_are_counted_and_weighted():
    truth, found = ["a", "a", "b", "c"], ["a", "b", "b", "a"]
    assert confusion(truth, found, "abc").tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]
    assert confusion(truth, found, "abc", [0.5, 2, 3, 4]).tolist() == [[0.5, 2, 0], [0, 3, 0], [4, 0, 0]]
    with pytest.raises(KeyError):
        confusion(["z"], ["a"], "abc")


@pytest.mark.parametrize(("successes", "trials"), [(0, 5), (1, 5), (7, 7), (33, 100), (1, 1)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilson_agrees_with_statsmodels_and_scipy(successes, trials, level):
    ours = wilson(successes, trials, level)
    assert ours == pytest.approx(proportion_confint(successes, trials, 1 - level, method="wilson"), abs=1e-12)
    theirs = binomtest(successes, trials).proportion_ci(level, method="wilson")
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_wilson_at_the_edges():
    assert all(map(math.isnan, wilson(0, 0)))
    assert wilson(4, 4).high == 1.0
    assert wilson(0, 4).low == 0.0
    with pytest.raises(ValueError, match="5 successes in 4 trials"):
        wilson(5, 4)


def test_the_interval_of_f1_by_hand():
    # J = 8 / (8 + 1 + 3) = 2/3, and F1 = 16 / 20 = 0.8 = 2J / (1 + J).
    table = np.array([[8.0, 1], [3, 9]])
    low, high = proportion_confint(8, 12, method="wilson")
    assert f1_interval(table) == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)))
    assert f1_interval(table).low < float(f1(table)) < f1_interval(table).high


def test_the_interval_of_f1_holds_the_truth_about_as_often_as_it_says():
    # Independent items: tp, fn, fp with chances 0.4, 0.1, 0.1, so that F1 is 0.8.
    draws = np.random.default_rng(3).multinomial(80, [0.4, 0.1, 0.1, 0.4], 2000).reshape(-1, 2, 2)
    held = [low <= 0.8 <= high for low, high in (f1_interval(table) for table in draws)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)
