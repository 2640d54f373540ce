"""Weights of references: against a search of a grid, SciPy's optimiser, and known mixtures."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from audit.measures.mixture import mixture_terms, mixture_weights


@pytest.mark.parametrize("seed", range(20))
def test_no_point_of_a_grid_is_better(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(3, 2))
    # As estimates are: not quite of negative type, whatever is on the diagonal.
    b = cdist(points, points) + np.diag(rng.uniform(0, 1, 3))
    a = rng.uniform(0.2, 2, 3)
    weights = mixture_weights(a, b)
    steps = np.arange(201) / 200
    grid = np.array([(u, v, 1 - u - v) for u, v in product(steps, steps) if u + v <= 1])
    values = 2 * grid @ a - np.einsum("ij,jk,ik->i", grid, b, grid)
    found = 2 * weights @ a - weights @ b @ weights
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert found <= values.min() + 1e-12
    assert found == pytest.approx(values.min(), abs=1e-3)


def test_four_references_agree_with_a_general_optimiser():
    rng = np.random.default_rng(30)
    points = rng.normal(size=(5, 3))
    distances = cdist(points, points)
    a, b = distances[0, 1:], distances[1:, 1:]
    wanted = minimize(
        lambda w: 2 * w @ a - w @ b @ w, [0.25] * 4, bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1}, tol=1e-12,
    )  # fmt: skip
    assert mixture_weights(a, b) == pytest.approx(wanted.x, abs=1e-4)


def test_a_mixture_is_recognised():
    rng = np.random.default_rng(40)
    centres = np.array([[0, 0], [4, 0], [0, 4]])
    whole = centres[rng.choice(3, size=600, p=[0.6, 0.3, 0.1])] + rng.normal(size=(600, 2))
    parts = (centres[:, None] + rng.normal(size=(3, 200, 2))).reshape(-1, 2)
    answers = np.concatenate([whole, parts])
    names = np.repeat([0, 1, 2, 3], [600, 200, 200, 200])
    terms = mixture_terms(cdist(answers, answers), names == 0, [names == c for c in (1, 2, 3)])
    assert mixture_weights(*terms) == pytest.approx([0.6, 0.3, 0.1], abs=0.06)


def test_terms_are_means_over_pairs():
    distances = cdist([[0], [1], [3], [6], [10]], [[0], [1], [3], [6], [10]])
    a, b = mixture_terms(distances, [1, 0, 0, 0, 0], [[0, 1, 1, 0, 0], [0, 0, 0, 1, 1]])
    assert a == pytest.approx([2, 8])
    assert b == pytest.approx(np.array([[2, 6], [6, 4]]))
    alone = mixture_terms(distances, [1, 0, 0, 0, 0], [[0, 1, 0, 0, 0]])
    assert np.isnan(alone.b).all()


def test_equal_references_are_weighted_somehow():
    assert mixture_weights([1, 1, 1], np.zeros((3, 3))).sum() == pytest.approx(1)
    assert mixture_weights([1.0], [[0.5]]).tolist() == [1]


@pytest.mark.parametrize(("a", "b"), [([1, 2], [[0]]), ([1, np.nan], [[0, 1], [1, 0]]), ([], np.empty((0, 0)))])
def test_what_makes_no_sense_is_refused(a, b):
    with pytest.raises(ValueError, match=r"shape|finite"):
        mixture_weights(a, b)
