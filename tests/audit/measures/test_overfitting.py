"""Overfitting of minibatches: a calculation by hand, and searches of known truth."""

import math

import numpy as np
import pytest

from audit.measures.overfitting import overfitting


def test_gap_and_interval_by_hand():
    # Gaps .2 .1 .3 .2 .1 .3: mean .2, standard deviation sqrt(.04 / 5), error .0365148, t(.975, 5) 2.5705818.
    result = overfitting([0.4, 0.3, 0.5, 0.4, 0.3, 0.5], [0.2] * 6)
    assert (result.revisions, result.minibatch, result.validation) == (6, pytest.approx(0.4), pytest.approx(0.2))
    assert result.gap == pytest.approx(0.2)
    assert (result.low, result.high) == (pytest.approx(0.2 - 0.0938644), pytest.approx(0.2 + 0.0938644))
    # Half of the gain is found again, which is neither more nor less than half.
    assert result.verdict == "cannot be told"


@pytest.mark.parametrize("found", [[], [0.0], [0.0] * 5])
def test_few_revisions_tell_nothing(found):
    result = overfitting([1.0] * len(found), found)
    assert result.verdict == "cannot be told"
    assert math.isnan(result.low)
    assert math.isnan(result.high)


def test_revisions_without_validation_do_not_count():
    assert overfitting([1.0, 2.0], [math.nan, 1.0]).revisions == 1


def search(rng, effect, noise=0.3, kept=30, batch=3, validation=50):
    """A search that keeps what is better on a minibatch: the gains of what it keeps, there and on validation.

    A proposal's effect is real on every example with the mean `effect`; scores are noisy.
    """
    here, there = [], []
    while len(here) < kept:
        real = rng.normal(effect, 0.05)
        gain = real + rng.normal(0, noise / math.sqrt(batch))
        if gain > 0:
            here.append(gain)
            there.append(real + rng.normal(0, noise / math.sqrt(validation)))
    return overfitting(here, there)


def verdicts(effect, noise, runs=300):
    rng = np.random.default_rng(7)
    found = [search(rng, effect, noise).verdict for _ in range(runs)]
    return {verdict: found.count(verdict) / runs for verdict in ("overfits", "does not", "cannot be told")}


def test_proposals_without_effect_overfit():
    assert verdicts(0.0, 0.3)["overfits"] > 0.95


def test_real_effects_beyond_noise_do_not():
    assert verdicts(0.3, 0.1)["does not"] > 0.95


def test_half_of_the_gain_is_seldom_told_wrongly():
    # By simulation half of the gain is lost: luck is worth as much as the effect.
    rng = np.random.default_rng(11)
    told = 0
    for _ in range(500):
        lucky = rng.gamma(2.0, 0.1, size=30)
        told += overfitting(lucky, 0.5 * lucky + rng.normal(0, 0.1, 30)).verdict != "cannot be told"
    assert told / 500 < 0.08
