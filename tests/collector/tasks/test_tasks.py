"""The environments are as `docs/collector.md` describes them, by hand calculation and by Gymnasium's own checker."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import gymnasium
import msgspec
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from collector import seeding
from collector.errors import UsageError
from collector.policy import random_params
from collector.rollouts.evaluate import evaluate, replay
from collector.tasks import TASKS, LinearSpace, get_task, pong
from collector.tasks.maze import MazeEnv
from collector.tasks.nim import NimEnv
from collector.tasks.pong import DOWN, STAY, UP, PongEnv
from tests.collector.helpers import shortened

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared"


FACTS = {
    # size, optimum, tau_c, half of it, step cap
    "nim": (11, 1, 0.95, -0.025, None),
    "pong": (18, 3, 2.8, 1.4, 1000),
    "swimmer": (18, 250, 230, 115, 1000),
    "mountaincarcontinuous": (3, 100, 97, 48.5, 999),
    "mountaincar": (9, -120, -120, -160, 200),
    "inverteddoublependulum": (10, 10000, 450, 225, 1000),
    "invertedpendulum": (5, 1000, 950, 475, 1000),
    "frozenlake": (16, 1, 0.85, 0.425, 100),
    "cartpole": (10, 500, 480, 240, 500),
    "maze": (9, 0.97, 0.9, -0.105, 100),
}


@pytest.mark.filterwarnings("ignore:.*A Box observation space:UserWarning")  # velocities are unbounded
@pytest.mark.filterwarnings("ignore:.*For Box action spaces:UserWarning")  # InvertedPendulum's force goes to 3
def test_tasks_have_the_published_facts_and_fit_their_environments():
    assert set(TASKS) == set(FACTS)
    for task in TASKS.values():
        environment, space = gymnasium.make(task.gym_id, **task.make_options), task.space
        check_env(environment.unwrapped, skip_render_check=True)
        size, optimum, tau_c, half, cap = FACTS[task.id]
        assert (space.size, task.optimum, task.tau_c, task.step_cap) == (size, optimum, tau_c, cap)
        assert task.tau_c_half == pytest.approx(half)
        observed, actions = environment.observation_space, environment.action_space
        if isinstance(space, LinearSpace):
            assert observed.shape == (len(space.observations),)
            assert (actions.n if space.discrete else actions.shape[0]) == len(space.actions)
        else:
            assert observed.n == space.states
            assert tuple(range(int(actions.start), int(actions.start + actions.n))) == space.actions
        assert environment.spec.max_episode_steps == cap
        environment.close()


def test_thresholds_agree_with_those_for_foreign_logs():
    """The same numbers are in the task's module and in the audit's presets, so that both read alike."""
    presets = tomllib.loads((ROOT / "audit" / "vocabulary" / "presets.toml").read_text())
    for task in TASKS.values():
        preset, ours = presets.get("tasks", presets)[task.id], msgspec.to_builtins(task.thresholds)
        shared = ours.keys() & preset.keys()
        assert {key: ours[key] for key in shared} == {key: preset[key] for key in shared}, task.id
        assert {"partial", "high", "near_zero", "meaningful"} <= set(preset)


def test_unknown_task_is_named_with_the_known_ones():
    with pytest.raises(UsageError, match=r"unknown task 'chess'; choose from nim, pong, .*, maze$"):
        get_task("chess")


def test_cartpole_transition_by_hand():
    """From rest, pushed right: 10 N on 1.1 kg accelerates the cart by 9.0909 before the pole pulls on it.

    theta'' = -9.0909 / (0.5 (4/3 - 0.1/1.1)) = -14.6341; x'' = 9.0909 + 0.05 * 14.6341 / 1.1 = 9.7561; in 0.02 s the
    velocities become 0.195122 and -0.292683, and the positions, moved by the old velocities, stay.
    """
    environment = gymnasium.make("CartPole-v1").unwrapped
    environment.reset(seed=0)
    environment.state = np.zeros(4)
    observation, reward, terminated, _, _ = environment.step(1)
    assert observation == pytest.approx([0.0, 0.195122, 0.0, -0.292683], abs=1e-6)
    assert (reward, terminated) == (1.0, False)


def test_frozenlake_slips_to_either_side():
    """From 14, right leads right to the goal, up to 10 or, against the border, stays; each with probability 1/3."""
    environment = gymnasium.make("FrozenLake-v1", map_name="4x4", is_slippery=True).unwrapped
    outcomes = sorted((state, round(chance, 9), reward) for chance, state, reward, _ in environment.P[14][2])
    assert outcomes == [(10, 0.333333333, 0), (14, 0.333333333, 0), (15, 0.333333333, 1)]


def test_frozenlake_return_agrees_with_dynamic_programming():
    """A good policy reaches the goal within 100 steps with a probability that is computed here exactly."""
    policy = [0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0]
    table = gymnasium.make("FrozenLake-v1", map_name="4x4", is_slippery=True).unwrapped.P
    value = np.zeros(16)
    for _ in range(100):
        value = np.array(
            [sum(p * (r + (not end) * value[s]) for p, s, r, end in table[state][policy[state]]) for state in range(16)]
        )
    assert 0.7 < value[0] < 0.745
    result = evaluate(get_task("frozenlake"), policy, seeding.seeds(0, 3000, "dynamic programming"))
    standard_error = (value[0] * (1 - value[0]) / 3000) ** 0.5
    assert abs(result.mean_return - value[0]) < 4 * standard_error


def serve(ball_x, ball_y, ball_vx, ball_vy, paddle=260.0, opponent=260.0, hits=0):
    return paddle, opponent, float(ball_x), float(ball_y), float(ball_vx), float(ball_vy), hits


PONG_STEPS = {
    # name: (set-up, action, observation after, reward, terminated)
    "paddle up, ball flies on": ((400, 300, -5, 2), UP, [295, 395, 302, -5, 2], 0, False),
    "paddle down": ((400, 300, 5, -2), DOWN, [305, 405, 298, 5, -2], 0, False),
    "paddle stays in the field above": ((400, 300, 5, 0, 0.0), UP, [40, 405, 300, 5, 0], 0, False),
    "paddle stays in the field below": ((400, 300, 5, 0, 520.0), DOWN, [560, 405, 300, 5, 0], 0, False),
    "bounce off the upper border": ((400, 2, 5, -3), STAY, [300, 405, -1, 5, 3], 0, False),
    "bounce off the lower border": ((400, 588, 5, 2), STAY, [300, 405, 590, 5, -2], 0, False),
    # 5 (2 (300 - 260) / 80 - 1) = 0: the middle sends it straight.
    "hit with the middle": ((15, 300, -5, 0), STAY, [300, 10, 300, 5, 0], 1, False),
    # 5 (2 (330 - 260) / 80 - 1) = 3.75
    "hit low on the paddle": ((15, 328, -5, 2), STAY, [300, 10, 330, 5, 3.75], 1, False),
    # The paddle moves first: its top goes from 301 to 296, which covers 300; 5 (2 * 4 / 80 - 1) = -4.5.
    "hit only because the paddle moved first": ((15, 300, -5, 0, 301.0), UP, [336, 10, 300, 5, -4.5], 1, False),
    "past the paddle but not out": ((10, 100, -5, 0), STAY, [300, 5, 100, -5, 0], 0, False),
    "on the line is not out": ((5, 100, -5, 0), STAY, [300, 0, 100, -5, 0], 0, False),
    "out on the left": ((0, 100, -5, 0), STAY, [300, -5, 100, -5, 0], 0, True),
    "out on the right": ((790, 100, 5, 0), STAY, [300, 795, 100, 5, 0], 0, True),
    # The opponent's centre, 300, is not above the ball at 300, so it moves up to 255: 5 (2 * 45 / 80 - 1) = 0.625.
    "opponent returns, without reward": ((775, 300, 5, 0), STAY, [300, 780, 300, -5, 0.625], 0, False),
}


def test_pong_step_by_hand():
    for case, (setup, action, after, reward, terminated) in PONG_STEPS.items():
        state, *result = pong.step(serve(*setup), action, None)
        assert pong.observe(state) == pytest.approx(after), case
        assert result == [reward, terminated], case
    # The ball passes from 300 to 305; the opponent, centred on 300, is not above 300 and therefore goes up.
    (_, opponent, *_), _, _ = pong.step(serve(400, 300, 5, 5), STAY, None)
    assert opponent == 255.0
    # The third hit ends it.
    assert pong.step(serve(15, 300, -5, 0, hits=2), STAY, None)[1:] == (1.0, True)


def test_pong_serves_to_both_sides_at_slopes_within_five():
    serves = np.array([PongEnv().reset(seed=seed)[0] for seed in range(400)])
    assert (serves[:, :3] == [300, 400, 300]).all()
    left = (serves[:, 3] == -5).mean()
    assert set(serves[:, 3]) == {-5.0, 5.0}
    assert abs(left - 0.5) < 4 * 0.025
    assert np.abs(serves[:, 4]).max() < 5
    assert abs(serves[:, 4].mean()) < 4 * (10 / 12**0.5) / 400**0.5


def test_pong_agrees_with_traces_of_the_released_code():
    """Replaying printed actions from a printed first state gives the printed states, to the digits printed."""
    path = SHARED / "critic_texts" / "records" / "pong" / "threetraj" / "run-01" / "calls.jsonl"
    if not path.exists():
        pytest.skip("the reference material (critic_texts) is not here")
    compared = 0
    for line in path.read_text().splitlines():
        prompt = json.loads(line)["prompt"]
        for trace in re.findall(r"rollout \(rollout \d+, reward=[^)]*\):\n(.*)", prompt):
            first_part = trace.split(" | ...")[0].split(" | ")
            steps = [re.fullmatch(r"\[(.*)\]->\[(.*)\]->\[(.*)\]", part).groups() for part in first_part]
            _, ball_x, ball_y, ball_vx, ball_vy = (float(number) for number in steps[0][0].split(","))
            state = serve(ball_x, ball_y, ball_vx, ball_vy)
            for step, (_, action, following) in enumerate(steps[:-1]):
                state, _, _ = pong.step(state, int(action), None)
                observation = np.array(pong.observe(state))
                # The first slope is known to 3 digits only, so the ball's height drifts by up to 0.005 a step.
                tolerance = [0.5, 0.5, 0.5 + 0.005 * (step + 1), 0.01, 0.01]
                expected = [float(number) for number in following.split(",")]
                assert (np.abs(observation - expected) <= tolerance).all(), (step, observation, expected)
                compared += 1
    assert compared > 400


def play_nim(moves, seed=0):
    """Sticks seen after each move of the agent, and the rewards."""
    environment = NimEnv()
    environment.reset(seed=seed)
    results = [environment.step(move)[:3] for move in moves]
    return [int(sticks) for sticks, _, _ in results], [reward for _, reward, _ in results], results[-1][2]


def test_nim_by_hand():
    # 10 - 2 = 8, from which the opponent takes 3 to leave 5; 5 - 1 = 4, from which it takes 3; the last one loses.
    assert play_nim([2, 1, 1]) == ([5, 1, 0], [0, 0, -1], True)
    # 10 - 3 = 7, it takes 2, leaving 5; 5 - 2 = 3, it takes 2, leaving 1; 2 is more than there are.
    assert play_nim([3, 2, 2]) == ([5, 1, 0], [0, 0, -1], True)
    # From n sticks the right move is (n - 1) mod 4; whatever the opponent answers, the agent wins.
    policy = [float((sticks - 1) % 4 or 1) for sticks in range(11)]
    assert evaluate(get_task("nim"), policy, list(range(50))).returns == [1.0] * 50


def test_nim_opponent_picks_evenly_where_every_move_loses():
    """After 10 - 1 = 9 it takes one, two or three with equal chance, which leaves 8, 7 or 6."""
    left = [play_nim([1], seed)[0][0] for seed in range(900)]
    assert set(left) == {6, 7, 8}
    assert all(abs(left.count(sticks) - 300) < 4 * (900 * 2 / 9) ** 0.5 for sticks in (6, 7, 8))


MAZE_WALKS = {
    # 0-3-6-7-8: three steps at -0.1/9, and the goal.
    "the shortest way": ([1, 1, 2, 2], [3, 6, 7, 8], 1 - 3 * 0.1 / 9, True),
    "into the border": ([0, 3], [0, 0], -2 * 0.1 / 9, False),
    # 1-4 and 3-4 are walled off; 4 is reached from 5 alone.
    "into walls": ([2, 1, 3, 1, 2], [1, 1, 0, 3, 3], -5 * 0.1 / 9, False),
    "the dead end": ([2, 2, 1, 3, 1, 0], [1, 2, 5, 4, 4, 4], -6 * 0.1 / 9, False),
    # 5-8 is a wall.
    "no short cut": ([2, 2, 1, 1], [1, 2, 5, 5], -4 * 0.1 / 9, False),
}


def test_maze_by_hand():
    for case, (moves, cells, total, arrived) in MAZE_WALKS.items():
        environment = MazeEnv()
        environment.reset(seed=0)
        results = [environment.step(move) for move in moves]
        assert [int(cell) for cell, *_ in results] == cells, case
        assert sum(reward for _, reward, *_ in results) == pytest.approx(total)
        assert results[-1][2] == arrived
    task = get_task("maze")
    assert evaluate(task, [1, 0, 0, 1, 0, 0, 2, 2, 0], [1]).returns == [pytest.approx(0.9667, abs=1e-4)]
    never = evaluate(task, [0] * 9, [1])
    assert (never.returns, never.lengths, never.ended) == ([pytest.approx(-100 / 90)], [100], ["truncated"])


POLICIES_OF_LONG_TASKS = {"swimmer": (1, 2), "mountaincarcontinuous": (3, 2), "mountaincar": (5, 2)}
"""Of tasks whose rollouts go on to the time limit: policies, and rollouts of each."""


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.id)
def test_rollouts_equal_gymnasiums_own_loop(task):
    """Returns, lengths and ends are those of a plain loop over `gymnasium.make`, time limit included."""
    environment = gymnasium.make(task.gym_id, **task.make_options)
    policies, rollouts = POLICIES_OF_LONG_TASKS.get(task.id, (15, 5))
    for number in range(policies):
        params = random_params(task.space, seeding.generator(1, "plain loop", task.id, number))
        seeds = seeding.seeds(1, rollouts, "plain loop", task.id, number)
        ours = evaluate(task, params, seeds)
        for seed, returned, length, ended in zip(seeds, ours.returns, ours.lengths, ours.ended, strict=True):
            assert (returned, length, ended) == plain_rollout(environment, task, params, seed)
    environment.close()


def plain_rollout(environment, task, params, seed):
    observation, _ = environment.reset(seed=seed)
    total, length = 0.0, 0
    while True:
        if isinstance(task.space, LinearSpace):
            outputs = linear_outputs(params, len(task.space.actions), observation.astype(float))
            if task.space.discrete:
                action = int(np.argmax(outputs))
            else:
                space = environment.action_space
                action = np.clip(np.array(outputs, dtype=space.dtype), space.low, space.high)
        else:
            action = int(params[observation])
        observation, reward, terminated, truncated, _ = environment.step(action)
        total, length = total + float(reward), length + 1
        if terminated or truncated:
            return total, length, "terminated" if terminated else "truncated"


def linear_outputs(params, width, observation):
    """`observation @ W + b`, added from left to right: in chaotic dynamics the last digit matters."""
    weights, bias = np.reshape(params[:-width], (-1, width)), params[-width:]
    outputs = []
    for action in range(width):
        total = np.float64(0.0)
        for value, weight in zip(observation, weights[:, action], strict=True):
            total = total + value * weight
        outputs.append(float(total + bias[action]))
    return outputs


def test_a_replay_is_the_rollout_that_was_evaluated():
    for task in map(shortened, TASKS.values()):
        params, seeds = random_params(task.space, seeding.generator(2, task.id)), seeding.seeds(2, 4, task.id)
        result = evaluate(task, params, seeds)
        for seed, returned, length, ended in zip(seeds, result.returns, result.lengths, result.ended, strict=True):
            trajectory = replay(task, params, seed)
            assert (sum(trajectory.rewards), trajectory.length, trajectory.ended) == (returned, length, ended)
            assert len(trajectory.observations) == length + 1
