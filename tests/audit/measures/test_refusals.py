"""What makes no sense is refused by every statistic, with a reason."""

from __future__ import annotations

import re

import numpy as np

from audit.measures.agreement import confusion, wilson
from audit.measures.association import associate, robust_odds
from audit.measures.bootstrap import cluster_bootstrap, ratio_interval
from audit.measures.cluster_robust import cluster_robust
from audit.measures.conditional_randomisation import conditional_randomisation_test
from audit.measures.energy import bounded, energy_test, presence_test
from audit.measures.holm import holm, holm_within
from audit.measures.permutation import no_change, no_change_paired
from audit.measures.sign_flip import sign_flip_test
from audit.measures.stratified_permutation import stratified_difference
from audit.measures.summary import summarise
from audit.measures.within_strata import within_effects

NAN, INF = float("nan"), float("inf")
TWO = [True, True, False, False]


def first(sums):
    return sums[:, 0]


CASES = [
    (confusion, (["z"], ["a"], "abc"), {}, "z"),
    (wilson, (5, 4), {}, "5 successes in 4 trials"),
    *(
        (each, (wrong,), {}, "count")
        for each in (associate, robust_odds)
        for wrong in ([1], [[1, 2, 3]], [[1, 2, 3, -4]])
    ),
    (cluster_bootstrap, (np.ones(3), first), {}, "shape"),
    (cluster_bootstrap, ([[1.0], [NAN]], first), {}, "finite"),
    (cluster_bootstrap, (np.ones((3, 2)), first), {"level": 1.0}, "level"),
    (cluster_bootstrap, (np.ones((3, 2)), first), {"resamples": 0}, "resample"),
    (ratio_interval, ([1, 0], [1, 1], [1, 2, 3]), {}, "length"),
    (cluster_robust, ([1, 2, 3], [[1], [1]], [0, 1, 2]), {}, "expected"),
    (cluster_robust, ([1, INF, 3], [[1]] * 3, [0, 1, 2]), {}, "finite"),
    (cluster_robust, ([1, 2, 3], [[1, 1]] * 3, [0, 1, 2]), {}, "depend"),
    (cluster_robust, ([1, 2, 3], [[1]] * 3, [0, 1, 2]), {"weights": [1, 0, 1]}, "weight"),
    (conditional_randomisation_test, ([[1, 0]], [2]), {}, "block"),
    (conditional_randomisation_test, ([[1, 0]], [0, 1]), {}, "holder"),
    (conditional_randomisation_test, ([[1, NAN]], [0]), {}, "finite"),
    (conditional_randomisation_test, ([[1, 0]], [0]), {"eligible": [[0, 1]]}, "block"),
    (conditional_randomisation_test, ([[1, 0]], [0]), {"eligible": [[1, 1, 1]]}, "block"),
    (energy_test, ([np.zeros((2, 3))], [[True, False]]), {}, "shape"),
    (energy_test, ([np.full((2, 2), NAN)], [[True, False]]), {}, "finite"),
    (energy_test, ([np.ones((2, 2))], [[True, False]]), {}, "itself"),
    (presence_test, ([np.zeros((4, 4))], [TWO], [TWO], [[False] * 4]), {}, "two arms"),
    (bounded, ([1.0], 0.0), {}, "positive"),
    *((holm, ([0.5, wrong],), {}, "outside") for wrong in (-0.1, 1.1, INF)),
    (holm_within, ([0.1, 0.2], ["a"]), {}, "families"),
    *(
        (test, pair, {}, "return|shape")
        for test in (no_change, no_change_paired)
        for pair in (([1, 2], [1, 2]), ([[1, 2]], [[1, 2, 3]]), ([[]], [[]]), ([[NAN, 1]], [[1, 1]]))
    ),
    *((sign_flip_test, wrong, {}, "infinite|cluster") for wrong in (([1, INF], None), ([1, 2], [1]), ([[1, 2]], None))),
    (stratified_difference, ([1, 2], [True], [0, 0]), {}, "length"),
    (stratified_difference, ([1, NAN], [True, False], [0, 0]), {}, "finite"),
    (stratified_difference, ([1, 2], [True, False], [0, 0]), {"redraws": 0}, "redraw"),
    (summarise, ([[1.0, 2.0], [3.0, 4.0]],), {}, "shape"),
    (within_effects, ([1, NAN], [([0, 1], None)], [0, 0], [0, 0]), {}, "not a finite"),
    (within_effects, ([1, 2, 3], [([0, 1], None)], [0, 0], [0, 0]), {}, "expected y"),
    (within_effects, ([[1], [2]], [([0, 1], None)], [0, 0], [0, 0]), {}, "expected y"),
]


def test_what_makes_no_sense_is_refused():
    taken = []
    for function, arguments, options, message in CASES:
        try:
            function(*arguments, **options)
        except (ValueError, KeyError) as error:
            if re.search(message, str(error)):
                continue
        taken.append((function.__name__, arguments, options))
    assert not taken
