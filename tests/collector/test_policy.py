"""Policies by hand calculation, and the reading of answers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector import seeding
from collector.policy import UnreadableAnswer, from_text, make_policy, out_of_range, random_params, settle, to_text
from collector.tasks import TASKS, LinearSpace, TabularSpace

LINEAR = LinearSpace(observations=("x", "y"), actions=("left", "right"), discrete=True)
CONTINUOUS = LinearSpace(observations=("x", "y"), actions=("a", "b"), discrete=False)
TABLE = TabularSpace(states=3, actions=(0, 1, 2))


def test_policies_by_hand():
    """W = [[1, 2], [3, 4]], b = [5, 6]: (1, 10) gives (1 + 30 + 5, 2 + 40 + 6)."""
    assert make_policy(CONTINUOUS, [1, 2, 3, 4, 5, 6])(np.array([1.0, 10.0])) == [36.0, 48.0]
    assert make_policy(LINEAR, [1, 2, 3, 4, 5, 6])(np.array([1.0, 10.0])) == 1
    assert make_policy(LINEAR, [0, 0, 0, 0, 1, 1])(np.array([1.0, 1.0])) == 0  # the first of equal ones
    table = make_policy(TABLE, [2.0, 0.0, 1.0])
    assert [table(state) for state in range(3)] == [2, 0, 1]
    for space in (LINEAR, TABLE):
        with pytest.raises(ValueError, match="parameters given"):
            make_policy(space, [1.0])


@given(st.lists(st.integers(-60, 60).map(lambda tenths: tenths / 10), min_size=6, max_size=6))
def test_text_and_back(params):
    assert from_text(LINEAR, to_text(params)) == params


READABLE = {
    "plain": ("params[0]: 0, params[1]: 1, params[2]: 2", [0, 1, 2]),
    "any order, any line": ("params[2]: 2\nparams[1]: 1\nand params[0]: 0", [0, 1, 2]),
    "the first occurrence counts": ("params[0]: 0, params[1]: 1, params[2]: 2\nI moved params[1]: 0", [0, 1, 2]),
    "a whole number may have a point": ("params[0]: 0.0, params[1]: 1., params[2]: 2", [0, 1, 2]),
    "Markdown": ("**params[0]: 0, params[1]: 1, params[2]: 2**", [0, 1, 2]),
    "end of sentence": ("params[0]: 0, params[1]: 1, params[2]: 2.", [0, 1, 2]),
}


def test_readable_answers():
    for case, (answer, params) in READABLE.items():
        assert from_text(TABLE, answer) == params, case


UNREADABLE = {
    "no values": ("I would not change a thing.", "3 of 3 parameters missing, the first is params[0]"),
    "one missing": ("params[0]: 0, params[2]: 1", "1 of 3 parameters missing, the first is params[1]"),
    "one too many": ("params[0]: 0, params[1]: 1, params[2]: 2, params[3]: 0", "only 3 parameters"),
    "a word": ("params[0]: zero, params[1]: 1, params[2]: 2", "params[0] is not a number: 'zero'"),
    "the first occurrence is a placeholder": ("params[0]: v\nparams[0]: 0, params[1]: 1, params[2]: 2", "params[0]"),
    "no such action": ("params[0]: 0, params[1]: 3, params[2]: 2", "params[1] is not an allowed action: 3"),
    "between two actions": ("params[0]: 0, params[1]: 0.5, params[2]: 2", "params[1] is not an allowed action"),
    "infinite": ("params[0]: 1e999, params[1]: 1, params[2]: 2", "params[0] is not a number"),
    "nan": ("params[0]: nan, params[1]: 1, params[2]: 2", "params[0] is not a number"),
    "full-width digits": ("params[0]: １, params[1]: 1, params[2]: 2", "params[0] is not a number"),
    "full-width index": ("params[０]: 1, params[1]: 1, params[2]: 2", "params[0]"),
    "empty value": ("params[0]: , params[1]: 1, params[2]: 2", "params[0] is not a number: ''"),
    "empty": ("", "3 of 3 parameters missing"),
}


def test_unreadable_answers_say_why():
    for answer, reason in UNREADABLE.values():
        with pytest.raises(UnreadableAnswer) as error:
            from_text(TABLE, answer)
        assert reason in str(error.value)


def test_values_out_of_range_are_kept_and_flagged():
    params = from_text(LINEAR, "params[0]: 7.5, params[1]: -80, params[2]: 1, params[3]: 1, params[4]: 1, params[5]: 1")
    assert params[:2] == [7.5, -80.0]
    assert out_of_range(LINEAR, params)
    assert not out_of_range(LINEAR, [6.0, -6.0, 0, 0, 0, 0])


def test_random_vectors_are_allowed_ones():
    for task, number in product(TASKS.values(), range(50)):
        params = random_params(task.space, seeding.generator(0, number))
        assert len(params) == task.space.size
        assert not out_of_range(task.space, params)
        assert all(round(value, 1) == value for value in params)


def test_warm_up_spread_is_three():
    """Of normal(0, 3) clipped at ±6, 4.55% lie on the borders, and the middle half within 0.6745 * 3."""
    space = TASKS["cartpole"].space
    values = np.concatenate([random_params(space, seeding.generator(1, number)) for number in range(2000)])
    assert abs((np.abs(values) == 6.0).mean() - 0.0455) < 0.01
    assert abs((np.abs(values) <= 2.02).mean() - 0.5) < 0.03


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_settled_numbers_lie_in_the_range_with_one_decimal(value):
    settled = settle(value, -6.0, 6.0, 1)
    assert -6.0 <= settled <= 6.0
    assert f"{settled:.1f}" == str(settled)
    assert str(settled) != "-0.0"
