"""Ray workers: the same records as local ones, whatever dies; and nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from collector.baselines import process
from collector.errors import CollectorError, TaskError, UsageError, WorkerError
from collector.rollouts import canary
from collector.rollouts.evaluate import evaluate
from collector.rollouts.executors import check_workers, executor
from collector.rollouts.workers import Workers
from collector.system.sessions import end_session, members
from collector.tasks import TASKS
from collector.tasks.plugins import load_tasks
from tests.collector.baselines.samples import baseline, record
from tests.collector.helpers import lines, timeless
from tests.collector.rollouts import ray_functions as functions

ROOT = Path(__file__).parents[3]
COLLECT = [sys.executable, "-m", "collector.cli"]
OWN_TASK = """
from collector.tasks import LinearSpace, Task
from collector.tasks.task import thresholds
import gymnasium

class Steps(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-9, 9, (1,))
    action_space = gymnasium.spaces.Discrete(2)
    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at = self.np_random.normal()
        return self._seen(), {}
    def step(self, action):
        self.at += action - 0.4
        return self._seen(), float(self.at), abs(self.at) > 5, False, {}
    def _seen(self):
        import numpy
        return numpy.array([self.at], dtype=numpy.float32)

gymnasium.register("OwnSteps-v0", Steps)
TASK = Task(
    id="ownsteps", gym_id="OwnSteps-v0", space=LinearSpace(("x",), ("stay", "go"), discrete=True), optimum=9.0,
    tau_c=5.0, floor=-100.0, success_return=5.0, step_cap=30, description="Walk.",
    thresholds=thresholds(partial=0.0, high=5.0, near_zero=1.0, floor=-100.0),
)
"""

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")


def call(workers, function, *args):
    return asyncio.run(workers(function, *args))


def run_tests_of_ray():
    """What the tests' processes need to find these modules, and a Ray on the loopback."""
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    }


@contextlib.contextmanager
def cluster(*arguments, serves=()):
    folder = subprocess.run(
        ["mktemp", "-d", "/tmp/rc-XXXXXX"], capture_output=True, text=True, check=True
    ).stdout.strip()
    process = subprocess.Popen(
        [sys.executable, ROOT / "tests/collector/rollouts/ray_cluster.py", folder, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=run_tests_of_ray() | {"SERVES": json.dumps(serves)},
        cwd=ROOT,
    )
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.stdin.close()
        end_session(process.pid)
        process.kill()
        process.wait()
        process.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def joins(monkeypatch):
    """`ray` then means the cluster at an address, as it does in a Ray job."""

    def join(addresses):
        monkeypatch.setenv("RAY_ADDRESS", addresses["address"])
        monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        monkeypatch.setenv("RAY_AUTH_MODE", "disabled")

    return join


@pytest.fixture(scope="module")
def local():
    with executor("ray", tasks=[TASKS["cartpole"]]) as workers:
        yield workers


def collect(out, *options, workers="2", seconds=300.0, tasks=("invertedpendulum", "swimmer"), check=True):
    """Collect a small grid in a process of its own."""
    line = [*COLLECT, *(word for task in tasks for word in ("--env", task)), "--variant", "r2po", "--runs", "1"]
    line += ["--iterations", "3", "--rollouts", "4", "--warmup", "2", "--workers", workers, "--out", str(out), *options]
    return subprocess.run(
        line, capture_output=True, text=True, timeout=seconds, check=check, env=run_tests_of_ray(), cwd=ROOT
    )


def processes_in(folder):
    """Living processes that were started in a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z" and (entry / "cwd").resolve() == folder.resolve():
                found.append(int(entry.name))
    return found


def all_gone(folder, seconds=30.0):
    until = time.monotonic() + seconds
    while (left := processes_in(folder)) and time.monotonic() < until:
        time.sleep(0.1)
    return not left


def test_what_a_value_of_workers_means(monkeypatch):
    for wrong in ("rray", "0", "-1", "ray://", "ray://host", "ray://host:x", "1e3", "ray:host:1", ""):
        with pytest.raises(UsageError, match="is not local, a number"):
            check_workers(wrong)
    for workers, size in (("3", 3), ("1", 1)):
        with executor(workers) as found:
            assert isinstance(found, Workers)
            assert found.size == size
    monkeypatch.setattr("collector.rollouts.executors.find_spec", lambda module: None)
    for workers in ("ray", "ray://host:10001"):
        with pytest.raises(UsageError, match=r'needs Ray, not installed here: pip install "salience-audit\[ray\]"'):
            executor(workers)


def test_a_proof_names_what_differs(monkeypatch):
    tasks = [TASKS["nim"], TASKS["cartpole"]]
    ours = canary.prove(tasks)
    assert canary.difference(canary.prove(tasks), ours) == ""
    assert canary.difference(ours | {"mujoco": "9.9"}, ours) == f"it has mujoco 9.9, not {ours['mujoco']}"
    other = ours | {"rollouts of cartpole": ours["rollouts of cartpole"] + "0"}
    assert canary.difference(other, ours) == "its rollouts of cartpole differ in their numbers"
    assert canary.difference({}, ours).startswith("it has python none")


@needs_ray
@pytest.mark.slow
def test_results_and_errors_are_those_of_this_process(local, tmp_path):
    pid, cores, threads = call(local, functions.pid_and_cores)
    assert pid != os.getpid()
    assert (cores, threads) == (1, "1")
    with pytest.raises(ValueError, match="what a task raises") as error:
        call(local, functions.fail, ValueError)
    assert type(error.value) is ValueError
    assert error.value.__notes__[0] == "a note"
    assert "ray_functions.py" in error.value.__notes__[1]
    with pytest.raises(TaskError, match="the task's own words") as error:
        call(local, functions.fail_as_task)
    assert type(error.value) is TaskError
    with pytest.raises(TaskError, match="OddError: 1"):
        call(local, functions.fail_oddly)
    with pytest.raises(TaskError, match="SystemExit: enough"):
        call(local, functions.exit_now)
    with pytest.raises(TaskError, match="cannot pickle"):
        call(local, functions.unreturnable)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        call(local, lambda: None)
    assert call(local, functions.doubled_in_place, np.arange(50_000.0))[-1] == 2 * 49_999.0
    big = call(local, functions.zeros, 1_000_000)
    big += 1.0  # what comes back can be written into
    with pytest.raises(ValueError, match="calls"):
        call(local, functions.count_calls, tmp_path / "calls")
    assert (tmp_path / "calls").read_text() == "x", "an error of the function is not tried again"


@needs_ray
@pytest.mark.slow
def test_a_dead_worker_is_replaced_and_its_call_made_again_a_few_times(local, tmp_path):
    assert call(local, functions.die_once, tmp_path / "mark") == "survived"
    with pytest.raises(WorkerError, match="3 Ray workers died of the same call"):
        call(local, functions.die)

    async def many():
        return await asyncio.gather(*(local(abs, -number) for number in range(500)))

    assert asyncio.run(many()) == list(range(500))


@needs_ray
@pytest.mark.slow
def test_a_baseline_trains_in_a_process_of_its_own_in_one_call(local, tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_train", functions.sends)
    here = record(baseline(), tmp_path / "here", process.train)
    monkeypatch.setattr(process, "trained", functions.pretended)
    there = record(baseline(), tmp_path / "there", partial(process.train_elsewhere, offload=local))
    assert len(lines(there / "episodes.jsonl")) == 3
    assert timeless(there) == timeless(here)


@needs_ray
@pytest.mark.slow
def test_calls_that_are_given_up_harm_no_others(local):
    async def give_up():
        slow = [asyncio.create_task(local(time.sleep, 0.3)) for _ in range(6)]
        await asyncio.sleep(0.05)
        for task in slow:
            task.cancel()
        return await local(abs, -1)

    assert asyncio.run(give_up()) == 1


@needs_ray
@pytest.mark.slow
def test_records_are_the_same_on_all_tasks_from_two_nodes(tmp_path, joins):
    collect(tmp_path / "here", tasks=TASKS)
    with cluster(2) as addresses:
        joins(addresses)
        ended = collect(tmp_path / "there", workers="ray", tasks=TASKS)
    assert "refused" not in ended.stderr
    there = timeless(tmp_path / "there")
    assert len([name for name in there if name.endswith("run.json")]) == len(TASKS)
    assert there == timeless(tmp_path / "here")


@needs_ray
@pytest.mark.slow
def test_a_node_with_another_mujoco_is_refused_by_name(tmp_path, joins):
    fake = tmp_path / "site" / "mujoco-1.2.3.dist-info"
    fake.mkdir(parents=True)
    (fake / "METADATA").write_text("Metadata-Version: 2.1\nName: mujoco\nVersion: 1.2.3\n")
    task = TASKS["cartpole"]
    ours = canary.prove([task])["mujoco"]
    refused = rf"^1 Ray worker on \S+ \(127\.0\.0\.1\) refused: it has mujoco 1\.2\.3, not {ours}$"
    notes = []
    with cluster(2, fake.parent) as addresses:
        joins(addresses)
        with executor("ray", tasks=[task], note=notes.append) as workers:
            assert workers.size == 1
            assert call(workers, evaluate, task, [0.1] * task.space.size, [1, 2]) == evaluate(
                task, [0.1] * task.space.size, [1, 2]
            )
    assert len(notes) == 2
    assert re.match(refused, notes[0])
    assert notes[1] == "going on with 1 of 2 Ray workers"
    with cluster(1, fake.parent) as addresses:
        joins(addresses)
        ended = collect(tmp_path / "out", "--quiet", workers="ray", tasks=["cartpole"], check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == "collect: no Ray worker can be used"
    assert "it has mujoco 1.2.3, not" in ended.stderr


@needs_ray
@pytest.mark.slow
def test_a_users_task_reaches_workers_by_its_content(tmp_path, joins):
    module = tmp_path / "own_task.py"
    module.write_text(OWN_TASK)
    load_tasks([module])
    task = TASKS["ownsteps"]
    try:
        with cluster(1) as addresses:
            joins(addresses)
            workers = executor("ray", [module], [task])
            # As on another machine, where there is no such file.
            workers._task_modules = (Gone(module),)
            with workers:
                found = call(workers, evaluate, task, [0.5, 0.1, -0.2, 0.3], [1, 2, 3])
    finally:
        del TASKS["ownsteps"]
    assert found == evaluate(task, [0.5, 0.1, -0.2, 0.3], [1, 2, 3])


class Gone(type(Path())):
    """A file that has another name where it is looked for."""

    def resolve(self, strict=False):
        return Path("/nowhere") / self.name


@needs_ray
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_stopped_leaves_no_process_and_goes_on_as_if_nothing_had_been(tmp_path, number):
    options = ("--rollouts", "20", "--iterations", "6", "--step-cap", "300")
    collect(tmp_path / "whole", *options)
    place = tmp_path / "place"
    place.mkdir()
    tasks = ("--env", "invertedpendulum", "--env", "swimmer", "--variant", "r2po", "--runs", "1", "--warmup", "2")
    process = subprocess.Popen(
        [*COLLECT, *tasks, *options, "--workers", "ray", "--out", str(tmp_path / "out")],
        cwd=place,
        env=run_tests_of_ray(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    until = time.monotonic() + 240
    while not list(tmp_path.glob("out/*/*/*/*/episodes.jsonl")) and time.monotonic() < until:
        time.sleep(0.05)
    assert len(processes_in(place)) > 3
    os.killpg(process.pid, number)
    err = process.communicate(timeout=60)[1]
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    if number == signal.SIGINT:
        assert err.splitlines()[-1] == "collect: stopped; nothing is lost, the same command goes on from here"
        assert "Traceback" not in err
    assert all_gone(place)
    assert not list(Path("/tmp").glob(f"salience-ray-{process.pid}-*"))
    collect(tmp_path / "out", *options, workers="ray")
    assert timeless(tmp_path / "out") == timeless(tmp_path / "whole")


@needs_ray
@pytest.mark.slow
def test_a_ray_whose_driver_dies_is_one_error_and_is_ended():
    with executor("ray") as workers:
        pid = workers._driver.pid
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(WorkerError, match="Ray is gone"):
            call(workers, time.sleep, 60)
    assert not members(pid)


def test_why_a_driver_has_ended_is_reported_however_late(monkeypatch):
    pytest.importorskip("grpc")
    workers = executor("ray://127.0.0.1:9")
    monkeypatch.setattr("collector.rollouts.ray_workers.prove", lambda *_: workers._driver.join())
    with pytest.raises(CollectorError, match="no Ray cluster answers"):
        workers.__enter__()


def test_nobody_at_an_address_is_one_line(monkeypatch):
    pytest.importorskip("grpc")
    with (
        pytest.raises(CollectorError, match=r"no Ray cluster answers at ray://127.0.0.1:9: "),
        executor("ray://127.0.0.1:9"),
    ):
        pass


@needs_ray
@pytest.mark.slow
def test_a_cluster_is_joined_as_a_client():
    pytest.importorskip("grpc")
    task = TASKS["swimmer"]
    params = [0.1] * task.space.size
    with contextlib.ExitStack() as resources:
        addresses = resources.enter_context(cluster(1, serves=["grpc"]))
        try:
            workers = resources.enter_context(executor(addresses["client"], tasks=[task]))
        except CollectorError as error:
            # Ray's proxy forks while gRPC's threads run, and the process that it starts may hang or die.
            if not any(text in str(error) for text in ("Starting Ray client server failed", "psutil.ZombieProcess")):
                raise
            pytest.skip("Ray did not start a server for its client")
        assert call(workers, evaluate, task, params, [1, 2]) == evaluate(task, params, [1, 2])
        with pytest.raises(ValueError, match="what a task raises") as error:
            call(workers, functions.fail, ValueError)
    assert type(error.value) is ValueError
