"""The deep-RL baselines: what is planned and recorded needs no Stable-Baselines3; what trains is skipped without it."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from gymnasium import spaces

from audit.cli import main as audit
from audit.vocabulary import BASELINES as AUDITED
from collector import policy, seeding
from collector.baselines import planning, process
from collector.baselines.environments import make_environment
from collector.baselines.evaluation import evaluate
from collector.baselines.hyperparameters import OTHER, Preset, preset, presets
from collector.baselines.methods import BASELINES, ITERATIONS, fitting
from collector.baselines.planning import BaselineRun
from collector.baselines.running import run_baseline
from collector.cli import app
from collector.errors import CollectorError, UsageError
from collector.llm.simulated import SimulatedModel
from collector.methods import METHODS
from collector.plan import Request, left_out, plan
from collector.rollout import Evaluation
from collector.rollout import evaluate as roll_out
from collector.run_folder import RunFolder
from collector.sweep import collect_runs
from collector.switches import Switches, switched
from collector.tasks import TASKS, get_task
from tests.collector.helpers import lines, timeless

DISCRETE = {"nim", "pong", "mountaincar", "frozenlake", "cartpole", "maze"}
ANY, ONLY_DISCRETE = ["sb3-a2c", "sb3-ppo", "sb3-trpo"], ["sb3-dqn"]
ONLY_CONTINUOUS = ["sb3-sac", "sb3-td3", "sb3-ddpg"]
PAIRS = [(baseline.id, task.id) for task in TASKS.values() for baseline in fitting(task)]

needs_sb3 = pytest.mark.skipif(
    any(importlib.util.find_spec(module) is None for module in planning.PACKAGES.values()),
    reason="Stable-Baselines3 is not installed (extra: baselines)",
)


def request(*variants, envs=("cartpole",), **settings):
    model = SimulatedModel()
    return Request(
        envs=envs, variants=variants, backend=model.backend, model=model.name, options=model.options, **settings
    )


def baseline(variant="sb3-ppo", env="cartpole", **settings) -> BaselineRun:
    (run,) = plan(request(variant, envs=(env,), **{"runs": 1, "iterations": 3, "rollouts": 2} | settings))
    assert isinstance(run, BaselineRun)
    return run


# What is planned


def test_4000_episodes_are_190_iterations_of_one_training_episode_and_20_evaluations():
    assert ITERATIONS == 190
    assert ITERATIONS * (1 + 20) <= 4000 < (ITERATIONS + 1) * (1 + 20)
    assert all(run.iterations == 190 and run.rollouts == 20 for run in plan(request("sb3-all", envs=("all",), runs=1)))
    assert baseline(iterations=None, rollouts=20).episodes == 3990
    overridden = baseline(iterations=7, rollouts=5)
    assert (overridden.iterations, overridden.rollouts) == (7, 5)


@pytest.mark.parametrize("task", TASKS)
def test_each_task_has_the_baselines_that_its_actions_allow(task):
    expected = ANY + (ONLY_DISCRETE if task in DISCRETE else ONLY_CONTINUOUS)
    assert [run.method.id for run in plan(request("sb3-all", envs=(task,), runs=1))] == expected


@pytest.mark.parametrize(
    ("variant", "task"), [("sb3-dqn", "swimmer"), ("sb3-sac", "cartpole"), ("sb3-td3", "maze"), ("sb3-ddpg", "nim")]
)
def test_a_baseline_that_does_not_fit_is_a_usage_error_that_names_those_that_do(variant, task):
    with pytest.raises(UsageError) as error:
        plan(request(variant, "sb3-all", envs=("all", task)) if task == "swimmer" else request(variant, envs=(task,)))
    told = str(error.value)
    assert variant in told
    assert "\n" not in told
    fit = told.split("that fit: ")[1]
    first = next(name for name in TASKS if f"and {name} has" in told)
    assert fit == ", ".join(each.id for each in fitting(get_task(first))) + ", or sb3-all for all that fit"


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


@pytest.mark.parametrize(
    ("settings", "condition"),
    [
        ({"iterations": None, "rollouts": 20}, "sb3"),
        ({"iterations": 190, "rollouts": 20}, "sb3"),
        ({"iterations": 5, "rollouts": 3}, "sb3+iterations-5+rollouts-3"),
        ({"iterations": None, "rollouts": 20, "switches": Switches(step_cap=100)}, "sb3+cap-100"),
        ({"iterations": None, "rollouts": 20, "switches": Switches(step_cap=500)}, "sb3"),
        ({"iterations": None, "rollouts": 20, "condition": "mine"}, "mine"),
        (
            {
                "iterations": None,
                "rollouts": 20,
                "warmup": 0,
                "tau_c": "off",
                "switches": Switches(optimum=1.0, paired_seeds=True, named_iterations=400, step_size=0.1),
            },
            "sb3",
        ),
    ],
)
def test_the_condition_names_only_what_matters_to_a_baseline(settings, condition):
    run = baseline(**settings)
    assert run.condition == condition
    assert set(run.switches) <= {"step_cap"}


def test_language_models_and_baselines_are_planned_together():
    runs = plan(request("r2po", "sb3-ppo", runs=2))
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
    told = str(error.value)
    assert told.startswith("baselines need torch, not installed here")
    assert told.index("first install PyTorch") < told.index("pip install 'salience-audit[baselines]'")
    assert "\n" not in told
    assert not out.exists()


# Hyperparameters


def test_the_table_has_every_fitting_pair_and_no_other():
    assert {(method, task) for method, tasks in presets().items() for task in tasks if task != OTHER} == set(PAIRS)
    assert all(OTHER in presets()[method] for method in BASELINES), "for tasks that users add"
    assert len(PAIRS) == 10 * 3 + 6 + 4 * 3


@pytest.mark.parametrize(("method", "task"), PAIRS)
def test_every_entry_tells_its_origin(method, task):
    found = preset(method, task)
    assert (found.origin == "rl-zoo") == (found.entry is not None)
    if found.origin == "library defaults":
        assert found == Preset(origin="library defaults")
    # What would be taken over twice, or not at all.
    assert not {"n_envs", "n_timesteps", "normalize", "policy"} & set(found.hyperparameters)
    if "n_envs" in found.replaced and "n_steps" in found.replaced:
        assert found.hyperparameters["n_steps"] == found.replaced["n_envs"] * found.replaced["n_steps"]


# Facts of rl_zoo3 2.9.2, read off its files.
@pytest.mark.parametrize(
    ("method", "task", "entry", "some"),
    [
        ("sb3-ppo", "cartpole", "CartPole-v1", {"gae_lambda": 0.8, "gamma": 0.98, "learning_rate": "linear 0.001"}),
        ("sb3-ppo", "invertedpendulum", "InvertedPendulum-v2", {"vf_coef": 0.19816, "max_grad_norm": 0.3}),
        ("sb3-dqn", "mountaincar", "MountainCar-v0", {"learning_rate": 0.004, "target_update_interval": 600}),
        ("sb3-trpo", "swimmer", "Swimmer-v4", {"cg_max_steps": 25, "gamma": 0.9999}),
        ("sb3-sac", "swimmer", "Swimmer-v4", {"learning_starts": 10000, "gamma": 0.999}),
        ("sb3-td3", "invertedpendulum", "default", {"train_freq": 1}),
    ],
)
def test_presets_of_the_zoo(method, task, entry, some):
    found = preset(method, task)
    assert found.entry == entry
    assert some.items() <= found.hyperparameters.items()


# The environment


@pytest.mark.parametrize("name", TASKS)
def test_an_evaluation_is_the_rollouts_that_the_other_methods_get(name):
    """The same policy on the same seeds: step cap, seeding, one-hot states and shifted actions must all agree."""
    task = get_task(name)
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


@pytest.mark.parametrize(("name", "states"), [("nim", 11), ("maze", 9), ("frozenlake", 16)])
def test_numbered_states_are_one_hot(name, states):
    environment = make_environment(get_task(name))
    assert environment.observation_space == spaces.Box(0, 1, (states,), np.float32)
    observation, _ = environment.reset(seed=0)
    assert environment.observation_space.contains(observation)
    start = {"nim": 10, "maze": 0, "frozenlake": 0}[name]
    assert observation.tolist() == np.eye(states)[start].tolist()


@pytest.mark.parametrize("name", sorted(DISCRETE))
def test_discrete_actions_count_from_0(name):
    space = make_environment(get_task(name)).action_space
    assert space == spaces.Discrete(int(space.n))


@pytest.mark.parametrize(("action", "left"), [(0, {8, 7, 6}), (1, {5}), (2, {5})])
def test_the_first_action_of_nim_takes_one_stick(action, left):
    """From nine sticks every reply loses, so the opponent takes any; from eight and seven it takes all but five."""
    environment = make_environment(get_task("nim"))
    environment.reset(seed=0)
    observation, *_ = environment.step(np.int64(action))
    assert int(observation.argmax()) in left


def test_the_step_cap_is_that_of_the_switch():
    task = switched(get_task("mountaincar"), {"step_cap": 17})
    result = evaluate([make_environment(task)], [0], lambda observations: [1])
    assert (result.lengths, result.ended) == ([17], ["truncated"])


# What is recorded, with a training that only pretends


class Pretended:
    """Yields the same evaluations for the same run, as a training does; may stop early, or come out otherwise."""

    def __init__(self, *, dies_after=None, differs_at=None):
        self.dies_after, self.differs_at = dies_after, differs_at
        self.trained = 0

    async def __call__(self, run):
        for iteration in range(run.iterations):
            if iteration == self.dies_after:
                raise CollectorError("died")
            seeds = seeding.seeds(run.seed, run.rollouts, *run.purpose, iteration, "initial")
            lengths = [seed % 50 + 1 + (iteration == self.differs_at) for seed in seeds]
            self.trained += 1
            yield Evaluation(seeds, [float(length) for length in lengths], lengths, ["terminated"] * len(seeds)), 0.5


def record(run, out, train=None, report=lambda progress: None):
    async def complete():
        with RunFolder(out / run.folder) as folder:
            await run_baseline(run, folder, report, train or Pretended())

    asyncio.run(complete())
    return out / run.folder


def test_a_run_is_recorded_like_those_of_a_language_model(tmp_path):
    told = []
    run = baseline()
    folder = record(run, tmp_path, report=told.append)
    assert folder == tmp_path / "sb3+iterations-3+rollouts-2" / "cartpole" / "sb3-ppo" / "run-01"
    about = json.loads((folder / "run.json").read_text())
    assert (about["backend"], about["model"], about["variant"]) == ("stable-baselines3", "sb3-ppo", "sb3-ppo")
    assert (about["tau_c"], about["step_size"], about["warmup"], about["prompts"]) == (None, None, [], {})
    assert about["options"]["algorithm"] == "PPO"
    assert (about["options"]["origin"], about["options"]["entry"]) == ("rl-zoo", "CartPole-v1")
    assert about["options"]["hyperparameters"] == preset("sb3-ppo", "cartpole").hyperparameters
    assert {"stable-baselines3", "sb3-contrib", "torch", "gymnasium"} <= set(about["versions"])
    episodes = lines(folder / "episodes.jsonl")
    assert [episode["iteration"] for episode in episodes] == [0, 1, 2]
    for episode in episodes:
        candidate = episode["initial"]
        assert {key: episode[key] for key in ("revised", "revision_status", "selected", "evidence")} == {
            "revised": None,
            "revision_status": "none",
            "selected": "initial",
            "evidence": None,
        }
        assert (candidate["params"], candidate["source"], candidate["answer"]) == ([], "baseline", "")
        assert candidate["mean_return"] == sum(candidate["returns"]) / 2
        assert len(candidate["seeds"]) == len(candidate["lengths"]) == len(candidate["ended"]) == 2
    assert len({seed for episode in episodes for seed in episode["initial"]["seeds"]}) == 6
    assert [progress.finished for progress in told] == [0, 1, 2, 3]


def test_a_run_cut_off_anywhere_goes_on_to_the_same_records(tmp_path):
    run = baseline(iterations=5)
    whole = timeless(record(run, tmp_path / "whole"))
    for cut in range(5):
        out = tmp_path / f"cut-{cut}"
        with pytest.raises(CollectorError, match="died"):
            record(run, out, Pretended(dies_after=cut))
        assert len(lines(out / run.folder / "episodes.jsonl") if cut else []) == cut
        told = []
        assert timeless(record(run, out, report=told.append)) == whole
        assert [progress.finished for progress in told] == list(range(cut, 6)), "only what is new is reported"


def test_a_torn_last_line_is_trained_again(tmp_path):
    run = baseline(iterations=4)
    whole = timeless(record(run, tmp_path / "whole"))
    path = record(run, tmp_path / "torn") / "episodes.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    assert timeless(record(run, tmp_path / "torn")) == whole


def test_a_training_that_does_not_repeat_the_records_is_refused(tmp_path):
    run = baseline(iterations=4)
    with pytest.raises(CollectorError):
        record(run, tmp_path, Pretended(dies_after=3))
    before = timeless(tmp_path)
    with pytest.raises(CollectorError, match=r"training again from the start, iteration 2 comes out as .* is recorded"):
        record(run, tmp_path, Pretended(differs_at=2))
    assert timeless(tmp_path) == before


def test_other_versions_are_named_where_a_training_does_not_repeat_itself(tmp_path):
    run = baseline(iterations=2)
    with pytest.raises(CollectorError):
        record(run, tmp_path, Pretended(dies_after=1))
    path = tmp_path / run.folder / "run.json"
    about = json.loads(path.read_text())
    about["versions"]["torch"] = "0.1"
    path.write_text(json.dumps(about))
    with pytest.raises(CollectorError, match=r"torch 0\.1 is now "):
        record(run, tmp_path, Pretended(differs_at=0))
    record(run, tmp_path)  # other versions that repeat the records are welcome


def test_a_complete_run_is_not_trained_again(tmp_path):
    run = baseline()
    record(run, tmp_path)
    again = Pretended()
    record(run, tmp_path, again)
    assert again.trained == 0


def test_records_of_other_settings_are_refused(tmp_path):
    record(baseline(condition="mine"), tmp_path)
    with pytest.raises(CollectorError, match="seed is 0, not 1"):
        record(baseline(condition="mine", seed=1), tmp_path)


def test_the_audit_knows_the_baselines():
    assert set(BASELINES) == AUDITED


@pytest.mark.parametrize("command", ["runs", "summary"])
def test_the_audit_reads_the_records(command, tmp_path, capsys, monkeypatch):
    for variant in ("sb3-ppo", "sb3-dqn"):
        record(baseline(variant), tmp_path)
    monkeypatch.setattr(sys, "argv", ["audit", command, str(tmp_path), "--format", "json"])
    with pytest.raises(SystemExit) as ended:
        audit()
    told = capsys.readouterr()
    assert not ended.value.code, told.err
    assert told.err == ""
    assert [row["variant"] for row in json.loads(told.out)] == ["sb3-dqn", "sb3-ppo"]


# What trains


def trained(run):
    from collector.baselines.learner import learn

    found = []
    learn(run, lambda evaluation, seconds: found.append(evaluation))
    return found


@needs_sb3
@pytest.mark.parametrize(
    ("method", "task"),
    [
        *((method, task) for method in ANY for task in ("nim", "invertedpendulum")),
        ("sb3-dqn", "nim"),
        *((method, "invertedpendulum") for method in ONLY_CONTINUOUS),
    ],
)
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
@pytest.mark.slow
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
    told = command.communicate(timeout=60)[1]
    assert command.returncode == status
    assert "Traceback" not in told
    # Nobody goes on training for nobody.
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
@pytest.mark.slow
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


# The process that trains


def dies(run, task_modules, sender):
    os._exit(3)


def test_a_training_process_that_dies_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_train", dies)
    with pytest.raises(CollectorError, match=r"the process that trained .*sb3-ppo/run-01 died \(exit status 3\)"):
        record(baseline(), tmp_path, process.train)


TASK_OF_A_USER = """
import dataclasses
import gymnasium
from collector.tasks import get_task

class Lift(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (4,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.floor = 0
        return self.observation_space.sample() * 0, {}

    def step(self, action):
        self.floor += 1
        if self.floor == BREAKS:
            raise RuntimeError("stuck between floors")
        return self.observation_space.sample() * 0, 1.0, self.floor == 5, False, {}

gymnasium.register("Lift-v0", entry_point=Lift)
TASK = dataclasses.replace(get_task("cartpole"), id="lift", gym_id="Lift-v0")
"""


@needs_sb3
@pytest.mark.parametrize(
    ("breaks", "status", "told"), [(99, 0, "complete: "), (3, 1, "task lift: RuntimeError: stuck")]
)
def test_a_task_of_a_user_is_trained_on_and_its_failure_is_one_line(breaks, status, told, tmp_path):
    module = tmp_path / "lift.py"
    module.write_text(TASK_OF_A_USER.replace("BREAKS", str(breaks)))
    command = [sys.executable, "-m", "collector.cli", "--env", "lift", "--task-module", str(module), "--runs", "1"]
    command += ["--variant", "sb3-dqn", "--iterations", "3", "--rollouts", "2", "--out", str(tmp_path / "runs")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == status, result.stderr
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    recorded = [line for path in tmp_path.rglob("episodes.jsonl") for line in lines(path)]
    assert [line["initial"]["returns"] for line in recorded] == ([[5.0, 5.0]] * 3 if status == 0 else [])
