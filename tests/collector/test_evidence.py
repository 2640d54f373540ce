"""Which rollouts are shown, and what their text contains."""

from __future__ import annotations

import re

import numpy as np
import pytest

from collector.evidence import SHOWN, compact, excerpt, gather, select, statistics, step_by_step, write
from collector.rollouts.evaluate import Trajectory, evaluate, replay
from collector.tasks import get_task
from tests.collector.helpers import GOOD as TABLE
from tests.collector.helpers import candidate_of

SELECTIONS = [
    # returns, worst, median, best, representative
    ([3.0, 1.0, 2.0], 1, 2, 0, 2),
    ([1.0, 1.0, 1.0], 0, 0, 0, 0),
    # The median of four is 2.5, from which 2 and 3 are equally far: the first one counts. The mean is 3.
    ([6.0, 3.0, 2.0, 1.0], 3, 1, 0, 1),
    # Median 2, mean 22: 22 lies closer to 2 than to 100.
    ([100.0, 2.0, 1.0, 2.0, 5.0], 2, 1, 0, 4),
    ([0.0, 1.0], 0, 0, 1, 0),
]


def test_selection():
    for returns, *selected in SELECTIONS:
        assert [select(returns, label) for label in ("worst", "median", "best", "representative")] == selected


def test_statistics_count_successes_at_the_success_return():
    found = statistics(get_task("cartpole").success_return, [500.0, 499.0, 20.0], [500, 499, 20])
    assert (found.successes, found.rollouts) == (1, 3)
    assert (found.returns.mean, found.returns.min, found.returns.max) == (pytest.approx(1019 / 3), 20.0, 500.0)


def trajectory(steps, ended="terminated"):
    return Trajectory(
        [np.array([step, -step / 7]) for step in range(steps + 1)],
        [step % 2 for step in range(steps)],
        [1.0] * steps,
        ended,
    )


GOOD = [-0.9, 0.5, -1.2, 0.5, -4.0, 3.7, -3.0, 3.3, -0.4, 0.1]


def test_compact_text_by_hand():
    text = compact(Trajectory([0, 4, 8], [1, 2], [0.0, 0.0], "truncated"))
    assert text == "0->1->4 | 4->2->8 | CUT OFF by the step cap after 2 steps"
    step = Trajectory([np.array([123.456, -0.00012345]), np.array([1.0, 2.0])], [0], [1.0], "terminated")
    assert compact(step).startswith("[123, -0.000123]->0->[1, 2]")
    # A long rollout keeps both ends and counts the rest; one that fits is shown whole.
    parts = compact(trajectory(120), keep=25).split(" | ")
    assert len(parts) == 25 + 1 + 25 + 1
    assert parts[25] == "(70 steps left out)"
    assert parts[24].startswith("[24,")
    assert parts[26].startswith("[95,")
    assert "left out" not in compact(trajectory(50), keep=25)
    assert "(1 steps left out)" in compact(trajectory(51), keep=25)
    # 500 steps are the cap; a fallen pole is a termination.
    task = get_task("cartpole")
    assert "CUT OFF by the step cap after 500 steps" in compact(replay(task, GOOD, 3))
    assert "TERMINATED after" in compact(replay(task, [0.0] * 10, 3))


def test_step_by_step_has_state_action_and_reward_of_every_step():
    lines = step_by_step(trajectory(3)).split("\n")
    assert len(lines) == 4
    assert lines[1] == "state [1, -0.143] action 1 reward 1"
    assert lines[-1] == "TERMINATED after 3 steps in state [3, -0.429]"


def test_what_each_kind_shows():
    task = get_task("frozenlake")
    evaluation = evaluate(task, TABLE, list(range(20)))
    for kind, labels in SHOWN.items():
        evidence = gather(task, evaluation, kind)
        assert tuple(shown.label for shown in evidence.shown) == labels
        assert (evidence.statistics is not None) == (kind == "median")
        for shown, written in zip(evidence.shown, write(task, TABLE, evaluation.seeds, evidence), strict=True):
            assert shown.return_ == evaluation.returns[shown.rollout]
            assert shown.length == evaluation.lengths[shown.rollout]
            assert f"after {shown.length} steps" in written.text


def test_an_excerpt_is_four_steps_from_either_end():
    task = get_task("cartpole")
    result = evaluate(task, GOOD, [1, 2, 3])
    candidate = candidate_of(result.returns, params=GOOD, seeds=result.seeds)
    assert len(re.findall(r"->[01]->", excerpt(task, candidate))) == 8
    assert "(492 steps left out)" in excerpt(task, candidate)
