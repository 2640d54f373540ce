"""Baselines that are trained in earnest; skipped without Stable-Baselines3."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from collector import seeding
from collector.baselines.hyperparameters import preset
from collector.baselines.methods import BASELINES
from collector.llm.simulated import SimulatedModel
from collector.plan import plan
from collector.sweep import collect_runs
from collector.switches import Switches
from tests.collector.baselines.samples import ANY, ONLY_CONTINUOUS, PAIRS, baseline, needs_sb3, request
from tests.collector.helpers import timeless


def trained(run):
    from collector.baselines.learner import learn

    found = []
    learn(run, lambda evaluation, seconds: found.append(evaluation))
    return found


TRAINED = [
    *((method, task) for method in ANY for task in ("nim", "invertedpendulum")),
    ("sb3-dqn", "nim"),
    *((method, "invertedpendulum") for method in ONLY_CONTINUOUS),
]


@needs_sb3
@pytest.mark.parametrize(("method", "task"), TRAINED)
def test_every_algorithm_trains_and_repeats_itself(method, task):
    run = baseline(method, task, switches=Switches(step_cap=20))
    once = trained(run)
    assert len(once) == 3
    assert all(len(evaluation.returns) == 2 for evaluation in once)
    assert [evaluation.seeds for evaluation in once] == [
        seeding.seeds(0, 2, task, method, 1, iteration, "initial") for iteration in range(3)
    ]
    assert trained(run) == once


@needs_sb3
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("method", "task"), PAIRS)
def test_every_preset_is_accepted_without_a_warning(method, task):
    from collector.baselines import learner

    run, settings = baseline(method, task), preset(method, task)
    model = learner._model(run, settings, learner._vectorised(run, settings), remaining=lambda: 1.0)
    assert type(model).__name__ == BASELINES[method].algorithm
    assert model.device.type == "cpu"
    assert (model.get_vec_normalize_env() is not None) == settings.normalize
    for name, value in settings.hyperparameters.items():
        if name not in {"learning_rate", "clip_range", "train_freq", "policy_kwargs"}:
            assert getattr(model, name) == value, name


@needs_sb3
def test_the_policy_improves_with_training():
    """A2C does learn CartPole; the first iterations of this seed hold up the pole for less than half as long."""
    returns = [evaluation.mean_return for evaluation in trained(baseline("sb3-a2c", iterations=130, rollouts=2))]
    assert np.mean(returns[-20:]) > 2 * np.mean(returns[:20])


@needs_sb3
def test_returns_are_the_environments_own_where_training_rescales_them():
    for evaluation in trained(baseline("sb3-ppo", "mountaincar", iterations=2)):
        assert evaluation.returns == [-float(length) for length in evaluation.lengths]


@needs_sb3
def test_schedules_run_over_the_episodes_of_the_run():
    from collector.baselines import learner

    def model(method, remaining):
        run, settings = baseline(method), preset(method, "cartpole")
        return learner._model(run, settings, learner._vectorised(run, settings), remaining=lambda: remaining)

    assert model("sb3-ppo", 1.0).lr_schedule(0.9) == 0.001
    assert model("sb3-ppo", 0.25).lr_schedule(0.9) == 0.00025
    assert model("sb3-ppo", 0.5).clip_range(0.9) == 0.1
    # Exploration falls from 1 to 0.04 over the first 16% of the run.
    assert model("sb3-dqn", 1.0).exploration_schedule(0.5) == 1.0
    assert model("sb3-dqn", 0.92).exploration_schedule(0.5) == pytest.approx(0.52)
    assert model("sb3-dqn", 0.5).exploration_schedule(1.0) == 0.04


COMMAND = [sys.executable, "-m", "collector.cli", "--env", "cartpole", "--variant", "sb3-a2c", "--runs", "1"]


def collect(out, *more, **options):
    command = [*COMMAND, "--iterations", "60", "--rollouts", "4", "--out", str(out), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    command = collect(out)
    assert "complete: " in command.communicate(timeout=120)[1]
    assert command.returncode == 0
    return timeless(out)


@needs_sb3
@pytest.mark.parametrize(("kind", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_a_stopped_command_goes_on_to_the_same_records(kind, status, whole, tmp_path):
    command = collect(tmp_path, start_new_session=True)
    path = tmp_path / "sb3+iterations-60+rollouts-4" / "cartpole" / "sb3-a2c" / "run-01" / "episodes.jsonl"
    deadline = time.monotonic() + 60
    while not (path.exists() and path.read_bytes().count(b"\n") >= 10) and time.monotonic() < deadline:
        time.sleep(0.02)
    if kind == signal.SIGINT:
        os.killpg(command.pid, kind)  # as a terminal does: to the training process as well
    else:
        command.send_signal(kind)
    message = command.communicate(timeout=60)[1]
    assert command.returncode == status
    assert "Traceback" not in message
    # No process continues training without its parent.
    deadline = time.monotonic() + 20
    while _group_lives(command.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _group_lives(command.pid)
    finished = path.read_bytes().count(b"\n")
    assert 10 <= finished < 60
    again = collect(tmp_path)
    again.communicate(timeout=120)
    assert again.returncode == 0
    assert timeless(tmp_path) == whole


def _group_lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@needs_sb3
def test_many_runs_at_once_are_the_runs_one_by_one(tmp_path):
    class Silent:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def __getattr__(self, name):
            return lambda *_: None

    runs = plan(request("sb3-a2c", "r2po", runs=2, iterations=3, rollouts=2))
    assert not collect_runs(runs, tmp_path / "many", SimulatedModel(), display=Silent()).failures
    for run in runs:
        assert not collect_runs([run], tmp_path / "one", SimulatedModel(), display=Silent(), concurrency=1).failures
    assert timeless(tmp_path / "many") == timeless(tmp_path / "one")
