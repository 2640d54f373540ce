"""How units are drawn, and what makes a prompt one."""

from __future__ import annotations

import random
from collections import Counter
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.interventions.units import Unit, draw, number_readable


def unit(run, iteration, env="cartpole"):
    return Unit(
        condition="hand",
        env=env,
        variant="threetraj",
        run=run,
        iteration=iteration,
        prompt_sha256=f"{run} {iteration}",
        params=[1.0],
        rollouts=[0, 1, 2],
        returns=[1.0, 2.0, 3.0],
        number_readable=True,
    )


SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=8)


def pool(sizes):
    return [unit(run, iteration) for run, size in enumerate(sizes, start=1) for iteration in range(size)]


@given(SIZES, st.integers(1, 60), st.integers(0, 3))
def test_no_run_gives_more_than_its_share_and_one(sizes, number, seed):
    drawn = draw(pool(sizes), number, seed)
    per_run = Counter(each.run for each in drawn)
    most = ceil(number / len(sizes)) + 1
    assert len({each.key for each in drawn}) == len(drawn)
    assert max(per_run.values()) <= most
    assert len(drawn) == min(number, sum(min(size, most) for size in sizes))


@given(SIZES, st.integers(1, 30), st.integers(1, 30), st.integers(0, 3))
def test_a_larger_draw_contains_a_smaller_one(sizes, number, more, seed):
    units = pool(sizes)
    few, many = draw(units, number, seed), draw(units, number + more, seed)
    assert {each.key for each in few} <= {each.key for each in many}


@given(SIZES, st.integers(1, 30), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(sizes, number, order):
    units = pool(sizes)
    shuffled = list(units)
    order.shuffle(shuffled)
    assert draw(units, number, 1) == draw(shuffled, number, 1)


def test_runs_take_turns_and_tasks_get_alike():
    units = [unit(run, iteration, env) for env in ("cartpole", "pong") for run in range(1, 4) for iteration in range(9)]
    drawn = draw(units, 12, 0)
    assert set(Counter((each.env, each.run) for each in drawn).values()) == {2}
    assert {(each.env, each.run) for each in drawn[:6]} == {(each.env, each.run) for each in drawn[6:]}


def test_seeds_draw_differently_and_iterations_are_not_favoured():
    units = pool([40])
    assert draw(units, 10, 1) != draw(units, 10, 2)
    first = Counter(draw(units, 1, seed)[0].iteration for seed in range(400))
    assert len(first) > 35
    assert max(first.values()) < 30  # ten are expected of each
    assert draw([], 5, 0) == []


@pytest.mark.parametrize(
    ("returns", "lengths", "readable"),
    [
        ([8, 9, 10], [8, 9, 10], True),
        ([-8, -9, -10], [8, 9, 10], True),
        ([0, 1, 1, 0], [5, 9, 7, 6], True),
        ([3, 3, 3], [1, 2, 3], True),
        ([1, 2, 3], [9, 9, 9], False),
        ([1, 2, 3], [5, 4, 6], False),
        ([1, 2, 2, 3], [5, 6, 7, 8], False),
        ([1, 2, 2, 3], [5, 6, 6, 8], True),
        ([1, 2, 3], [], True),
        ([1, 2, 3], [1, 2], True),
    ],
)
def test_whether_returns_can_be_read_off_the_steps(returns, lengths, readable):
    assert number_readable(returns, lengths) is readable
    both = list(zip(returns, lengths, strict=False))
    random.Random(0).shuffle(both)
    if len(lengths) == len(returns):
        assert number_readable(*map(list, zip(*both, strict=True))) is readable
