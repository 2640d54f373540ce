"""Which baselines are planned for which tasks, and under which condition."""

from __future__ import annotations

import pytest

from collector.baselines import planning
from collector.baselines.methods import BASELINES, ITERATIONS, fitting
from collector.cli import app
from collector.errors import CollectorError, UsageError
from collector.methods import METHODS
from collector.plan import left_out, plan
from collector.switches import Switches
from collector.tasks import TASKS, get_task
from tests.collector.baselines.samples import ANY, DISCRETE, ONLY_CONTINUOUS, ONLY_DISCRETE, baseline, request


def test_4000_episodes_are_190_iterations_of_one_training_episode_and_20_evaluations():
    assert ITERATIONS == 190
    assert ITERATIONS * (1 + 20) <= 4000 < (ITERATIONS + 1) * (1 + 20)
    assert all(run.iterations == 190 and run.rollouts == 20 for run in plan(request("sb3-all", envs=("all",), runs=1)))
    assert baseline(iterations=None, rollouts=20).episodes == 3990
    overridden = baseline(iterations=7, rollouts=5)
    assert (overridden.iterations, overridden.rollouts) == (7, 5)


def test_each_task_has_the_baselines_that_its_actions_allow():
    for task in TASKS:
        expected = ANY + (ONLY_DISCRETE if task in DISCRETE else ONLY_CONTINUOUS)
        assert [run.method.id for run in plan(request("sb3-all", envs=(task,), runs=1))] == expected
    misfits = {"sb3-dqn": "swimmer", "sb3-sac": "cartpole", "sb3-td3": "maze", "sb3-ddpg": "nim"}
    for variant, task in misfits.items():
        asked = request(variant, "sb3-all", envs=("all", task)) if task == "swimmer" else request(variant, envs=(task,))
        with pytest.raises(UsageError) as error:
            plan(asked)
        message = str(error.value)
        assert variant in message
        assert "\n" not in message
        first = next(name for name in TASKS if f"and {name} has" in message)
        fit = ", ".join(each.id for each in fitting(get_task(first)))
        assert message.split("that fit: ")[1] == f"{fit}, or sb3-all for all that fit"


def test_all_means_the_methods_of_a_language_model():
    assert [run.method.id for run in plan(request("all", runs=1))] == list(METHODS)
    assert not set(METHODS) & set(BASELINES)


def test_what_is_left_out_is_told():
    assert left_out(request("sb3-all", envs=("swimmer", "cartpole"))) == (
        "left out, as the actions do not fit: sb3-dqn on swimmer; sb3-sac, sb3-td3, sb3-ddpg on cartpole"
    )
    assert left_out(request("sb3-all", envs=("nim", "maze"))) == (
        "left out, as the actions do not fit: sb3-sac, sb3-td3, sb3-ddpg on nim, maze"
    )
    assert left_out(request("all", "sb3-ppo", envs=("all",))) is None


def test_an_unknown_method_is_told_the_baselines_too():
    with pytest.raises(
        UsageError, match=r"unknown method 'sb3-a3c'; choose from props, .*, r2po, sb3-a2c, .*, sb3-ddpg"
    ):
        plan(request("sb3-a3c"))


ELSEWHERE = Switches(optimum=1.0, paired_seeds=True, named_iterations=400, step_size=0.1)
CONDITIONS = [
    ({}, "sb3"),
    ({"iterations": 190}, "sb3"),
    ({"iterations": 5, "rollouts": 3}, "sb3+iterations-5+rollouts-3"),
    ({"switches": Switches(step_cap=100)}, "sb3+cap-100"),
    ({"switches": Switches(step_cap=500)}, "sb3"),
    ({"condition": "mine"}, "mine"),
    ({"warmup": 0, "tau_c": "off", "switches": ELSEWHERE}, "sb3"),
]


def test_the_condition_names_only_what_matters_to_a_baseline():
    for settings, condition in CONDITIONS:
        run = baseline(**({"iterations": None, "rollouts": 20} | settings))
        assert run.condition == condition
        assert set(run.switches) <= {"step_cap"}


def test_language_models_and_baselines_are_planned_together():
    runs = plan(request("R2PO", "PPO", runs=2))
    assert [(run.method.id, run.backend, run.run) for run in runs] == [
        ("r2po", "simulated", 1),
        ("sb3-ppo", "stable-baselines3", 1),
        ("r2po", "simulated", 2),
        ("sb3-ppo", "stable-baselines3", 2),
    ]


def test_without_the_extra_nothing_is_begun_and_the_way_to_install_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "find_spec", lambda module: None if module == "torch" else object())
    out = tmp_path / "runs"
    with pytest.raises(CollectorError) as error:
        app(["--env", "cartpole", "--variant", "sb3-ppo", "--out", str(out)], standalone_mode=False)
    message = str(error.value)
    assert message.startswith("baselines need torch, not installed here")
    assert message.index("first install PyTorch") < message.index("pip install '.[baselines]'")
    assert "\n" not in message
    assert not out.exists()
