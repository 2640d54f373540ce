"""Differences of two critics whose motives are planted: vectors about means that both have in common, with noise."""

from __future__ import annotations

import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.differences import ALIKE, DIFFERS, Critic, compared, differences
from audit.interventions.effects.named_shares import CONTENTS, FOLLOWED, LABELS, NUMBERS, PLACES, SHARES, STIMULI
from audit.interventions.effects.results import CANNOT_TELL
from audit.interventions.effects.shares import followed
from audit.interventions.experiment import Experiment
from audit.measures.holm import holm
from benchmarks.interventions.asking import experiment
from benchmarks.interventions.critics import Critic as Planted
from benchmarks.interventions.scores import Scores

ASKED = {"C": 12, "S_w": 8, "S_m": 8, "S_b": 8, "E0": 8}
EVERY = frozenset({*FOLLOWED, *STIMULI})
WORST = Planted(((LABELS[0], 0.6),))
BEST = Planted(((LABELS[2], 0.6),))
NOTHING = Planted()


def asked(scores, planted, seed, arms=ASKED):
    return experiment(scores, planted, scores.units, arms, np.random.default_rng(seed))


def critic(scores, planted, seed, *, moving=None, signal=0.25):
    moves = frozenset(motive for motive, _ in planted.motives) if moving is None else moving
    return Critic(asked(scores, planted, seed), moves, signal)


def judged(first, second):
    (rows,) = differences([compared(first, second)], alpha=0.05, smallest=0.15)
    return {row.name: row for row in rows}


@pytest.fixture(scope="module")
def scores():
    return Scores(120, 12, 0.25, seed=1)


@pytest.fixture(scope="module")
def worst(scores):
    return critic(scores, WORST, 1)


@pytest.fixture(scope="module")
def nothing(scores):
    return critic(scores, NOTHING, 2)


def test_shares_that_are_not_known_are_not_compared(worst, nothing):
    found = judged(replace(worst, unknown=frozenset(LABELS)), nothing)
    assert {found[name].verdict for name in LABELS} == {CANNOT_TELL}
    assert ALIKE in {row.verdict for row in found.values()}


def test_what_one_critic_follows_and_the_other_does_not_is_the_difference(worst, nothing):
    found = judged(worst, nothing)
    assert [name for name, row in found.items() if row.verdict == DIFFERS] == ["called worst"]
    assert found["called worst"].low < -0.6 < found["called worst"].high < -0.4
    assert found["called worst"].p_adjusted < 1e-4
    # The first follows both others less, as much the one as the other.
    assert found["called best"].estimate == pytest.approx(0.3, abs=0.15)
    assert {found[name].verdict for name in LABELS[1:]} <= {ALIKE, CANNOT_TELL}
    assert [found[name].verdict for name in PLACES].count(ALIKE) >= 2
    assert {found[name].verdict for name in (*CONTENTS, *NUMBERS)} <= {ALIKE, CANNOT_TELL}


def test_the_order_of_critics_turns_the_sign_and_nothing_else(worst, nothing):
    there, back = judged(worst, nothing), judged(nothing, worst)
    for name, row in there.items():
        turned = back[name]
        assert (turned.verdict, turned.p) == (row.verdict, pytest.approx(row.p, nan_ok=True)), name
        expected = (-row.estimate, -row.high, -row.low)
        assert (turned.estimate, turned.low, turned.high) == pytest.approx(expected, nan_ok=True), name


def test_critics_that_follow_different_labels_differ_in_both_and_not_in_the_third(scores, worst):
    found = judged(worst, critic(scores, BEST, 3))
    assert [found[name].verdict for name in LABELS] == [DIFFERS, ALIKE, DIFFERS]
    assert [found[name].estimate for name in LABELS] == pytest.approx([-0.9, 0.0, 0.9], abs=0.2)


def test_alike_is_within_the_margins_by_two_one_sided_tests(worst, nothing):
    pair = compared(worst, nothing)
    low, high = pair.found.interval(0.9)
    far = np.maximum(-low, high)[[SHARES.index(name) for name in PLACES]]
    for smallest in np.linspace(0.02, 0.3, 15):
        (rows,) = differences([pair], alpha=0.05, smallest=smallest)
        verdicts = [row.verdict for row in rows if row.name in PLACES]
        assert verdicts == [ALIKE if each < smallest else CANNOT_TELL for each in far]
    assert far.min() > 0.02
    assert far.max() < 0.3


def test_a_difference_that_moves_neither_is_not_called_one(worst, nothing):
    neither = [replace(each, moving=frozenset()) for each in (worst, nothing)]
    assert {row.verdict for row in judged(*neither).values()} == {CANNOT_TELL, ALIKE, None}


def test_below_a_signal_of_a_tenth_nothing_is_compared(worst, nothing):
    found = judged(worst, replace(nothing, signal=0.05))
    assert {found[name].verdict for name in EVERY} == {CANNOT_TELL}
    assert {math.isnan(number) for row in found.values() for number in row[1:6]} == {True}


def test_what_is_no_rollout_is_compared_by_share_equivalents():
    clear = Scores(120, 12, 1.0, seed=3)
    found = judged(critic(clear, NOTHING, 1), critic(clear, Planted((("length", 0.5),)), 2, signal=0.16))
    assert found["length"].verdict == DIFFERS
    assert found["length"].estimate > 0.5
    assert math.isnan(found["length"].low)
    assert {row.verdict for name, row in found.items() if name in FOLLOWED} <= {ALIKE, CANNOT_TELL}


def test_without_references_there_is_nothing_to_compare(scores, worst):
    alone = Critic(asked(scores, NOTHING, 5, {"C": 2, "E0": 2}), frozenset(), math.nan)
    assert compared(worst, alone) is None


def kept(whole, keep, *, runs=None):
    """An experiment with some of its units, numbered anew; or with units of other runs."""
    units = [unit for place, unit in enumerate(whole.units) if keep(place)]
    numbers = {unit.key: number for number, unit in enumerate(units)}
    answers = [
        replace(answer, unit=numbers[key])
        for answer in whole.answers
        if (key := whole.units[answer.unit].key) in numbers
    ]
    return Experiment([msgspec.structs.replace(unit, **(runs or {})) for unit in units], answers)


def test_where_most_prompts_are_shared_only_those_count(worst, nothing):
    first = Critic(kept(worst.experiment, lambda place: place >= 6), worst.moving, 0.25)
    second = Critic(kept(nothing.experiment, lambda place: place < 108), nothing.moving, 0.25)
    found = compared(first, second)
    assert found.shared == (102, (114, 108), True, (12, 12), 12)
    both = [kept(each.experiment, lambda place: 6 <= place < 108) for each in (worst, nothing)]
    first, second = (followed(each, Redraws(1)).estimates for each in both)
    assert found.found.values == pytest.approx(second.values - first.values)
    without = second.without - first.without
    errors = np.sqrt(11 / 12 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    assert found.found.errors == pytest.approx(errors)


def test_where_fewer_prompts_are_shared_all_count_and_runs_are_paired(worst, nothing):
    first = Critic(kept(worst.experiment, lambda place: place >= 30), worst.moving, 0.25)
    second = Critic(kept(nothing.experiment, lambda place: place < 90), nothing.moving, 0.25)
    found = compared(first, second)
    assert found.shared == (60, (90, 90), False, (12, 12), 12)
    first, second = (followed(each.experiment, Redraws(1)).estimates for each in (first, second))
    without = second.without - np.roll(first.without, 6, axis=0)  # the first begins with the seventh run
    errors = np.sqrt(11 / 12 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    assert found.found.errors == pytest.approx(errors)


def test_other_prompts_are_not_paired_and_their_errors_are_added_in_quadrature(worst, nothing):
    second = Critic(kept(nothing.experiment, lambda _: True, runs={"condition": "other"}), nothing.moving, 0.25)
    found = compared(worst, second)
    assert found.shared == (0, (120, 120), False, (12, 12), 0)
    errors = [followed(each.experiment, Redraws(1)).estimates.errors for each in (worst, second)]
    assert found.found.errors == pytest.approx(np.hypot(*errors))


def test_a_prompt_that_was_changed_is_another_one_but_its_run_is_left_out_of_both(worst, nothing):
    second = Critic(kept(nothing.experiment, lambda _: True, runs={"prompt_sha256": "x"}), nothing.moving, 0.25)
    found = compared(worst, second)
    assert found.shared == (0, (120, 120), False, (12, 12), 12)
    assert found.found.errors == pytest.approx(compared(worst, nothing).found.errors)


def test_all_pairs_are_corrected_together(scores, worst, nothing):
    pairs = [compared(worst, other) for other in (nothing, critic(scores, BEST, 3))]
    rows = [row for each in differences(pairs, alpha=0.05, smallest=0.15) for row in each]
    assert [row.p_adjusted for row in rows] == pytest.approx(holm([row.p for row in rows]), nan_ok=True)
    assert sum(not math.isnan(row.p) for row in rows) == 2 * (len(FOLLOWED) + len(STIMULI))
    assert {row.name for row in rows} == {*SHARES, *STIMULI}


def test_unreadable_answers_leave_open_what_they_may_have_followed(worst, nothing):
    found = replace(compared(worst, nothing), unreadable=(0.1, 0.2))
    place = SHARES.index("called worst")
    first, second = (float(values[place]) for values in found.of)
    low, high = (float(ends[place]) for ends in found.found.interval(0.95))
    # At worst each follows all of it, 1, or follows another label alone, which is -1/2.
    all_of_second = 0.9 * first + 0.1 * -0.5, 0.8 * second + 0.2
    all_of_first = 0.9 * first + 0.1, 0.8 * second + 0.2 * -0.5
    reach = (high - low) / 2
    expected = all_of_first[1] - all_of_first[0] - reach, all_of_second[1] - all_of_second[0] + reach
    assert found.interval(place, 0.95) == pytest.approx(expected)


@pytest.mark.slow
def test_of_two_critics_that_are_the_same_one_in_twenty_differs():
    rejected, tests, families = 0, 0, 0
    for number in range(40):
        scores = Scores(60, 12, 0.5, seed=100 + number)
        pair = [critic(scores, WORST, seed, moving=EVERY) for seed in (2 * number, 2 * number + 1)]
        rows = judged(*pair)
        p = np.array([rows[name].p for name in FOLLOWED])
        rejected += np.count_nonzero(p <= 0.05)
        tests += len(p)
        families += any(row.verdict == DIFFERS for row in rows.values())
    # Tests of one data set go together: some 8 of 12 are as good as independent.
    assert rejected / tests == pytest.approx(0.05, abs=2.6 * math.sqrt(0.05 * 0.95 / (8 * 40)))
    assert families <= 6  # of 40: more than 6 have a probability of 0.3% where 5% is right
