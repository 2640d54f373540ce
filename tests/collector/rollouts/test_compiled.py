"""Compiled rollouts: equal to Gymnasium's environments to the bit, and never in the way."""

import dataclasses
import inspect
import io
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product

import numba
import numpy as np
import pytest

from collector import seeding
from collector.policy import random_params
from collector.rollouts import plain_loop
from collector.rollouts.compiled import closed_loop, compiled_rollouts, mujoco_loop, preparing, rollouts
from collector.rollouts.compiled.generator import WORDS, seed_generator
from collector.rollouts.evaluate import evaluate, is_compiled, replay
from collector.tasks import TASKS, draws

POLICIES = 1000
STEPS = {"swimmer": 100, "inverteddoublependulum": 200, "invertedpendulum": 200}
"""MuJoCo takes its time: of all but a few policies, only so many steps."""
WHOLE = 10

GOOD = {
    # Near these, rollouts run long.
    "cartpole": [0.0, 0.3, 0.0, 1.0, 0.0, 6.0, 0.0, 6.0, 0.0, 0.0],
    "pong": [1, -1, 0, 0, 0, 0, -1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5],
    "invertedpendulum": [0.6, 6.0, 0.9, 1.3, 0.0],
    "inverteddoublependulum": [-0.2, -1.8, -5.6, 0.0, 0.0, -0.3, -0.9, -0.8, 0.0, 0.0],
}


def policies(task):
    """Random ones, every other near a good one where random ones fail at once; some far out of the range."""
    for number in range(POLICIES):
        rng = seeding.generator(3, "bits", task.id, number)
        params = random_params(task.space, rng)
        if task.id in GOOD and number % 2:
            params = [a + 0.02 * b for a, b in zip(GOOD[task.id], params, strict=True)]
        if number % 50 == 49 and hasattr(task.space, "low"):
            params = [1000.0 * value for value in params]
        cap = STEPS.get(task.id) if number >= WHOLE else None
        yield dataclasses.replace(task, step_cap=cap or task.step_cap), params, seeding.seeds(3, 1, "bits", number)[0]


UNCLIPPED = dataclasses.replace(TASKS["mountaincarcontinuous"], clip_actions=False)


@pytest.mark.slow
@pytest.mark.parametrize("task", [*TASKS.values(), UNCLIPPED], ids=[*TASKS, "mountaincarcontinuous, unclipped"])
def test_every_step_is_gymnasiums_to_the_bit(task):
    assert is_compiled(task)
    longest = 0
    for limited, params, seed in policies(task):
        steps = list(plain_loop.steps(limited, params, seed))
        trajectory = replay(limited, params, seed)
        observations = [step.observation for step in steps] + [steps[-1].next_observation]
        assert np.array_equal(bits(observations), bits(trajectory.observations)), (params, seed)
        assert [step.action for step in steps] == trajectory.actions
        assert bits([step.reward for step in steps]).tolist() == bits(trajectory.rewards).tolist()
        assert steps[-1].ended == trajectory.ended
        longest = max(longest, len(steps))
    assert longest > (task.step_cap or 3) / 2


def bits(numbers):
    """So that -0.0 differs from 0.0; every float32 is a float64 as well."""
    return np.array(numbers, dtype=np.float64).view(np.uint64)


def test_an_evaluation_is_its_rollouts_one_by_one():
    """Rollouts that advance together, or on several threads, do not disturb one another."""
    for task, number in product(TASKS.values(), range(2)):
        params = GOOD.get(task.id) or random_params(task.space, seeding.generator(4, task.id, number))
        seeds = seeding.seeds(4, 23, task.id, number)
        together = evaluate(dataclasses.replace(task, step_cap=50), params, seeds)
        for place, seed in enumerate(seeds):
            steps = list(plain_loop.steps(dataclasses.replace(task, step_cap=50), params, seed))
            total = 0.0
            for step in steps:
                total += step.reward
            found = together.returns[place], together.lengths[place], together.ended[place]
            assert found == (total, len(steps), steps[-1].ended)


def test_many_rollouts_are_shared_among_threads_and_come_out_the_same(monkeypatch):
    shared = []
    share_out = rollouts.share_out
    monkeypatch.setattr(rollouts, "share_out", lambda work, count: (shared.append(count), share_out(work, count)))
    monkeypatch.setattr(rollouts, "cores", lambda: 3)
    for task in (TASKS["cartpole"], TASKS["frozenlake"]):
        params = random_params(task.space, seeding.generator(6, task.id))
        seeds = seeding.seeds(6, rollouts.SHARED + 1, task.id)
        together = evaluate(task, params, seeds)
        assert shared.pop() == len(seeds)
        parts = [evaluate(task, params, seeds[start : start + 400]) for start in range(0, len(seeds), 400)]
        assert shared == []
        for name in ("returns", "lengths", "ended"):
            assert getattr(together, name) == [value for part in parts for value in getattr(part, name)]


def test_a_first_use_on_a_machine_is_told_on_the_screen(monkeypatch):
    """And nowhere else: not in a log, and not where the cache has the loops."""
    task = TASKS["frozenlake"]
    assert is_compiled(task)
    for terminal, cached in ((True, False), (False, False), (True, True)):
        screen = io.StringIO()
        screen.isatty = lambda terminal=terminal: terminal
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", screen)
            if cached:
                assert preparing._make(task).is_cached()
            else:
                patch.setattr(rollouts.ClosedLoopRollouts, "is_cached", lambda self: False)
            preparing.prepare(task)
        told = "compiling frozenlake, once on this machine: some seconds\n"
        assert screen.getvalue() == (told if (terminal, cached) == (True, False) else "")


def test_loops_assign_to_no_slice():
    """For one assignment to a slice Numba compiles the message about shapes that do not fit: half of all."""
    for module in (closed_loop, mujoco_loop):
        assert re.findall(r"\w\[[^\]=]*:[^\]=]*\] = .*", inspect.getsource(module.compile_loop)) == [], module


def test_threads_may_share_a_task_and_have_environments_of_their_own():
    plain = dataclasses.replace(TASKS["cartpole"], id="cartpole-plain", dynamics=None)
    shared = [dataclasses.replace(TASKS[name], id=f"{name}-shared") for name in ("cartpole", "invertedpendulum")]
    for task in (*shared, plain):  # which are not compiled yet
        policies = [random_params(task.space, seeding.generator(8, number)) for number in range(40)]
        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(lambda params, task=task: evaluate(task, params, [1, 2, 3]), policies))
        assert together == [evaluate(task, params, [1, 2, 3]) for params in policies]


def test_a_trajectory_has_the_types_of_the_plain_loop():
    for task in TASKS.values():
        params = random_params(task.space, seeding.generator(5, task.id))
        step, trajectory = next(plain_loop.steps(task, params, 7)), replay(task, params, 7)
        assert np.asarray(trajectory.observations[0]).dtype == np.asarray(step.observation).dtype
        assert (type(trajectory.actions[0]), type(trajectory.rewards[0])) == (type(step.action), float)


SEEDS = [0, 1, 2**32 - 1, 2**32, 2**63 + 11, 2**64 - 1, *seeding.seeds(0, 300, "generator")]


@cache
def drawing(function):
    """Twenty draws of the function, compiled."""

    @numba.njit
    def draw(seed, low, high):
        generator = np.empty(WORDS, np.uint64)
        seed_generator(generator, seed)
        return [function(generator, low, high) for _ in range(20)]

    return draw


def draws_of(function, low, high):
    return [drawing(function)(np.uint64(seed), low, high) for seed in SEEDS]


def test_draws_are_numpys():
    """The last range rejects almost half of all draws; halves of outputs left over are used next."""
    generators = [np.random.default_rng(seed) for seed in SEEDS]
    assert draws_of(draws.uniform, -0.6, -0.4) == [list(rng.uniform(-0.6, -0.4, 20)) for rng in generators]
    for count in (1, 2, 3, 7, 1000, 2**31 + 5):
        generators = [np.random.default_rng(seed) for seed in SEEDS]
        expected = [[int(rng.integers(1, 1 + count)) for _ in range(20)] for rng in generators]
        assert draws_of(draws.integer, 1, 1 + count) == expected


def test_what_does_not_fit_goes_through_the_plain_loop():
    """Seeds of more than 64 bits, and a task with another environment, which does not inherit the dynamics."""
    task = TASKS["nim"]
    params = random_params(task.space, seeding.generator(6))
    assert evaluate(task, params, [2**80]).seeds == [2**80]
    with pytest.raises(Exception, match="seed"):
        evaluate(task, params, [-1])
    frozen = dataclasses.replace(TASKS["frozenlake"], make_options={"map_name": "4x4", "is_slippery": False})
    assert compiled_rollouts(frozen) is None
    assert is_compiled(TASKS["frozenlake"])


# What can be wrong with compiling, each in a process of its own: the same results, and one line that gives the reason.
SCRIPT = """
import sys, warnings
warnings.formatwarning = lambda message, *_, **__: f"{message}\\n"
if "no numba" in sys.argv: sys.modules["numba"] = None
from collector.rollouts.evaluate import evaluate, is_compiled
from collector.tasks import TASKS
tasks = [TASKS[name] for name in ("cartpole", "nim", "cartpole")]
print([evaluate(task, [1.0] * task.space.size, [5, 6]).returns for task in tasks])
print(is_compiled(tasks[0]))
"""


def run(*arguments, **environment):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        env=variables | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    results, compiled = done.stdout.splitlines()
    return results, compiled == "True", done.stderr.splitlines()


@pytest.fixture(scope="module")
def as_usual():
    """What the script prints where nothing is wrong, as here."""
    tasks = [TASKS[name] for name in ("cartpole", "nim", "cartpole")]
    assert is_compiled(tasks[0])
    return str([evaluate(task, [1.0] * task.space.size, [5, 6]).returns for task in tasks])


ONLY_OURS = {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}

OBSTACLES = [
    ([], {"NUMBA_DISABLE_JIT": "1"}, r"Numba cannot be used (NUMBA_DISABLE_JIT is set)"),
    pytest.param(["no numba"], {}, "Numba cannot be used", marks=pytest.mark.slow),
    pytest.param(
        *([], ONLY_OURS | {"NUMBA_CACHE_DIR": "/dev/null/cache"}, "cannot be compiled (cannot cache"),
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize(("arguments", "environment", "reason"), OBSTACLES)
def test_without_compiling_the_results_are_the_same_and_the_reason_is_told(arguments, environment, reason, as_usual):
    results, compiled, warnings = run(*arguments, **environment)
    assert results == as_usual
    assert not compiled
    assert reason in warnings[0]
    assert len(warnings) == len(set(warnings)) <= 2  # each reason once: two tasks may have two


@pytest.mark.slow
def test_another_processor_compiles_anew(as_usual, tmp_path):
    for processor in (None, "generic"):
        environment = {} if processor is None else {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}
        results, compiled, warnings = run(**ONLY_OURS, NUMBA_CACHE_DIR=str(tmp_path), **environment)
        assert (results, compiled, warnings) == (as_usual, True, [])
    assert len(list(tmp_path.rglob("*.nbi"))) == 8  # two loops, two tasks, two processors


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_cache_is_replaced(kind, as_usual, tmp_path):
    environment = ONLY_OURS | {"NUMBA_CACHE_DIR": str(tmp_path)}
    run(**environment)
    for path in tmp_path.rglob(f"*.{kind}"):
        path.write_bytes(path.read_bytes()[:200])
    for _ in range(2):
        assert run(**environment) == (as_usual, True, [])
