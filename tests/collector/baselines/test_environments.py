"""What a baseline learns from and is evaluated in is what the other methods get."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from collector import policy, seeding
from collector.baselines.environments import make_environment
from collector.baselines.evaluation import evaluate
from collector.rollouts.evaluate import evaluate as roll_out
from collector.switches import switched
from collector.tasks import TASKS, get_task
from tests.collector.baselines.samples import DISCRETE
from tests.collector.helpers import shortened


@pytest.mark.parametrize("name", TASKS)
def test_an_evaluation_is_the_rollouts_that_the_other_methods_get(name):
    """The same policy on the same seeds: step cap, seeding, one-hot states and shifted actions must all agree."""
    task = shortened(get_task(name))
    space = make_environment(task).action_space
    for trial in range(3):
        params = policy.random_params(task.space, np.random.default_rng(trial))
        chosen = policy.make_policy(task.space, params)
        seeds = seeding.seeds(trial, 4, name)

        def act(observations, chosen=chosen):
            if name in {"nim", "maze", "frozenlake"}:
                assert np.all(observations.sum(axis=1) == 1)
                return [chosen(int(row.argmax())) - (name == "nim") for row in observations]
            taken = [chosen(row) for row in observations]
            return taken if name in DISCRETE else np.clip(np.asarray(taken, space.dtype), space.low, space.high)

        environments = [make_environment(task) for _ in seeds]
        assert evaluate(environments, seeds, act) == roll_out(task, params, seeds)
        # Nothing carries over from what happened before.
        assert evaluate(environments[::-1], seeds, act) == roll_out(task, params, seeds)


def test_states_are_one_hot_and_actions_count_from_0():
    for name, states, start in (("nim", 11, 10), ("maze", 9, 0), ("frozenlake", 16, 0)):
        environment = make_environment(get_task(name))
        assert environment.observation_space == spaces.Box(0, 1, (states,), np.float32)
        observation, _ = environment.reset(seed=0)
        assert environment.observation_space.contains(observation)
        assert observation.tolist() == np.eye(states)[start].tolist()
    for name in DISCRETE:
        space = make_environment(get_task(name)).action_space
        assert space == spaces.Discrete(int(space.n))
    # From nine sticks every reply loses, so the opponent takes any; from eight and seven it takes all but five.
    environment = make_environment(get_task("nim"))
    for action, left in enumerate(({8, 7, 6}, {5}, {5})):
        environment.reset(seed=0)
        observation, *_ = environment.step(np.int64(action))
        assert int(observation.argmax()) in left


def test_the_step_cap_is_that_of_the_switch():
    task = switched(get_task("mountaincar"), {"step_cap": 17})
    result = evaluate([make_environment(task)], [0], lambda observations: [1])
    assert (result.lengths, result.ended) == ([17], ["truncated"])
