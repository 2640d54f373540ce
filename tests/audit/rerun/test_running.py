"""Many policies at once: the same results wherever they are run, in batches, and errors in one line."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.output.errors import AuditError
from audit.rerun import running
from audit.rerun.rollouts import load_tasks
from audit.rerun.running import run_each
from collector.rollouts import workers as pools
from collector.system.cores import cores
from collector.tasks import TASKS, get_task
from tests.collector.helpers import ScriptedModel, answer, collect, spec

EXAMPLE = Path(__file__).resolve().parents[3] / "docs/examples/acrobot.py"
SWINGS = (
    *(2.6, 3.6, -1.7, 0.6, 0.9, -1.3, -0.2, 1.6, -0.3, 1.1, -2.5),
    *(6.0, 4.2, -5.4, 0.3, -3.3, -0.6, -2.5, 2.9, -1.9, 2.9),
)
"""Parameters with which the acrobot swings up, after more or fewer steps."""
BALANCES = (
    *((-2.7, 5.4, 6.0, 5.4, -2.5), (-1.7, 4.9, 6.0, 5.1, -2.5)),
    *((-0.6, 0.3, -1.5, 1.9, -0.3), (-1.3, -0.5, -1.5, 0.9, -0.8)),
)
"""Parameters with which the pendulum stays up for some time, which depends on the seed."""
COMMANDS = {
    "rescore": ("--rollouts", 7, "--each", "--no-cache"),
    "verify": ("--all",),
}


@pytest.fixture(scope="module")
def own_task():
    """A task of the user's own, which only Gymnasium runs."""
    known = dict(TASKS)
    load_tasks([EXAMPLE])
    yield get_task("acrobot")
    TASKS.clear()
    TASKS.update(known)


@pytest.fixture(scope="module")
def data(tmp_path_factory, own_task):
    """Runs on a compiled task, one of MuJoCo's, and one of the user's own."""
    folder = tmp_path_factory.mktemp("data")
    collect(spec("cartpole", "threetraj", iterations=3, rollouts=8), folder)
    swings = [[*SWINGS[:7], bias, *SWINGS[8:]] for bias in (1.6, 1.9, 1.9, -0.2)]
    for env, policies in {"invertedpendulum": BALANCES, own_task.id: swings}.items():
        model = ScriptedModel(*map(answer, policies))
        collect(spec(env, "threetraj", model=model, iterations=2, warmup=1), folder, model)
    return folder


@pytest.fixture
def in_processes(monkeypatch):
    """Rollouts that are not compiled are run in other processes from the first on."""
    monkeypatch.setattr(running, "START_SECONDS", -1.0)


def outcome(data, name, *options):
    result = CliRunner().invoke(app, [name, str(data), *map(str, COMMANDS[name]), *options, "--format", "json"])
    return result.exit_code, json.loads(result.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("in_processes")
def test_results_do_not_depend_on_the_workers(data, name):
    [expected, *others] = [outcome(data, name, *options) for options in ([], ["--workers", "1"], ["--workers", "2"])]
    assert expected[0] == 0
    assert {row["env"] for row in expected[1]} == (
        set() if name == "verify" else {"cartpole", "invertedpendulum", "acrobot"}
    )
    assert others == [expected] * 2


def test_workers_are_no_part_of_what_is_cached(data, tmp_path, monkeypatch):
    monkeypatch.setenv("SALIENCE_AUDIT_CACHE", str(tmp_path))
    options = ["rescore", str(data), "--rollouts", "5", "--env", "cartpole"]
    first = CliRunner().invoke(app, [*options, "--workers", "2"])
    second = CliRunner().invoke(app, options)
    assert first.stdout == second.stdout
    assert ("5 rollouts each" in first.stderr, "5 rollouts each" in second.stderr) == (True, False)


def test_a_wrong_number_of_workers_is_refused_before_anything_is_read(tmp_path):
    for workers in ("many", "0", "-1", "99999", "local", ""):
        result = CliRunner().invoke(app, ["rescore", str(tmp_path / "absent"), f"--workers={workers}"])
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1), workers
        assert "--workers" in result.stderr


def number(_, item):
    return item


def wait(_, seconds):
    time.sleep(seconds)
    return os.getpid(), threading.get_ident(), cores()


def die(_, item):
    if item == 3:
        os._exit(1)
    return item


def fail(_, item):
    raise ZeroDivisionError(item)


def each(function, items, *, env="frozenlake", workers=2):
    task = get_task(env)
    return run_each(function, ((task, item) for item in items), workers=workers, tasks=[task])


@pytest.mark.parametrize("env", ["frozenlake", pytest.param("acrobot", marks=pytest.mark.slow)])
@pytest.mark.usefixtures("own_task", "in_processes")
def test_results_come_in_the_order_of_the_work(env):
    assert list(each(number, range(2000), env=env)) == list(range(2000))


def test_work_of_several_tasks_keeps_its_order(own_task):
    tasks = [get_task("frozenlake"), own_task]
    work = [(tasks[place // 3 % 2], place) for place in range(100)]
    assert list(run_each(number, work, workers=2, tasks=[task for task, _ in work])) == list(range(100))


def test_work_is_taken_as_it_is_needed(monkeypatch):
    taken = itertools.count()
    results = each(number, taken)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    results.close()
    assert next(taken) < 100
    monkeypatch.setattr(pools, "Workers", None)
    assert list(each(number, [])) == []


def test_batches_grow_until_they_take_long_enough():
    batches = running._Batches(number, ((get_task("frozenlake"), place) for place in range(10_000)))
    sizes = []
    for seconds_each in [0.001] * 5 + [1.0] * 2 + [0.0] * 9:
        batch = batches.take()
        sizes.append(len(batch.items))
        batches.measured(batch, seconds_each * sizes[-1])
    assert sizes[:7] == [1, 4, 16, 64, 100, 100, 1]
    assert max(sizes) == running.LARGEST


@pytest.mark.usefixtures("own_task", "in_processes")
def test_compiled_tasks_run_in_threads_others_in_processes_and_as_many_as_asked_for():
    threads = list(each(wait, [0.05] * 12, workers=2))
    assert {pid for pid, _, _ in threads} == {os.getpid()}
    assert len({thread for _, thread, _ in threads}) == 2
    assert {limit for _, _, limit in threads} == {min(2, cores())}
    before = cores()  # MuJoCo's threads are bounded as well, and only as long
    assert {limit for _, _, limit in each(wait, [0.0], workers=1)} == {1}
    assert cores() == before
    processes = {pid for pid, _, _ in each(wait, [0.05] * 40, env="acrobot", workers=2)}
    assert len(processes) == 2
    assert os.getpid() not in processes
    assert {pid for pid, _, _ in each(wait, [0.0] * 9, env="acrobot", workers=1)} == {os.getpid()}


@pytest.mark.slow
@pytest.mark.usefixtures("own_task", "in_processes")
def test_a_process_that_dies_is_an_error_in_one_line():
    with pytest.raises(AuditError, match="a worker process was killed"):
        list(each(die, range(9), env="acrobot"))


@pytest.mark.parametrize("env", ["frozenlake", "acrobot"])
@pytest.mark.usefixtures("own_task", "in_processes")
def test_what_the_function_raises_is_raised(env):
    with pytest.raises(ZeroDivisionError):
        list(each(fail, range(9), env=env))
