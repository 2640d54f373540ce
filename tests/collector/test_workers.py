"""Worker processes: what ends them, and how a command ends when they are ended."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from collector.cores import cores
from collector.errors import TaskError, WorkerError
from collector.processes import Process
from collector.workers import Workers
from tests.collector.helpers import lines, timeless

proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")

COLLECT = [sys.executable, "-m", "collector.cli", "--variant", "r2po", "--runs", "4", "--iterations", "3", "--quiet"]
VERIFY = [sys.executable, "-c", "from audit.cli import main; main()", "verify", "--all"]

TASK = """
import multiprocessing, os, pathlib, signal
from dataclasses import replace
import gymnasium
from collector.tasks.maze import TASK as MAZE, MazeEnv

class Env(MazeEnv):
    def step(self, action):
        BODY
        return super().step(action)

gymnasium.register("testing/workers-v0", entry_point=Env)
TASK = replace(MAZE, id="workers", gym_id="testing/workers-v0", dynamics=None)
"""
KILLED = "if multiprocessing.parent_process(): os.kill(os.getpid(), signal.SIGKILL)"


def raise_exit():
    raise SystemExit("enough")


async def all_of(workers, *jobs):
    return await asyncio.gather(*(workers(*job) for job in jobs))


def test_results_come_from_as_many_processes_as_there_may_be():
    with Workers(2) as workers:
        found = asyncio.run(all_of(workers, *[(time.sleep, 0.5), (time.sleep, 0.5)], *[(os.getpid,)] * 20))[2:]
    assert len(set(found) - {os.getpid()}) in {1, 2}
    assert os.getpid() not in found


def test_a_killed_process_ends_the_wait_of_everybody():
    with Workers(2) as workers:
        pid = asyncio.run(workers(os.getpid))
        with pytest.raises(WorkerError, match="a worker process was killed"):
            asyncio.run(all_of(workers, (os.kill, pid, signal.SIGKILL), *[(time.sleep, 3600)] * 8))


def test_what_is_no_ordinary_error_ends_neither_process():
    with Workers(1) as workers:
        pid = asyncio.run(workers(os.getpid))
        with pytest.raises(TaskError, match="SystemExit: enough"):
            asyncio.run(workers(raise_exit))
        assert asyncio.run(workers(os.getpid)) == pid


@proc
def test_ctrl_c_never_reaches_a_child():
    child = Process(target=time.sleep, args=(3600,), daemon=True)
    child.start()
    try:
        status = dict(line.split(":\t") for line in Path(f"/proc/{child.pid}/status").read_text().splitlines())
    finally:
        child.kill()
        child.join()
    assert int(status["SigBlk"], 16) & 1 << signal.SIGINT - 1
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.fixture
def module(tmp_path):
    def write(body):
        path = tmp_path / "task.py"
        path.write_text(TASK.replace("BODY", body))
        return path

    return write


def test_a_killed_worker_stops_a_collection_in_one_line_and_the_same_command_goes_on(module, tmp_path):
    def collect(body, out):
        command = [*COLLECT, "--env", "workers", "--task-module", module(body), "--rollouts", "2", "--out", out]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    late = f"if os.path.exists({str(tmp_path / 'killed' / 'simulated-salient')!r}): {KILLED[3:]}"
    stopped = collect(KILLED, tmp_path / "killed")
    assert late
    assert stopped.returncode == 1
    [told] = [line for line in stopped.stderr.splitlines() if "loop is run" not in line]
    assert told.startswith("collect: a worker process was killed")
    assert collect("pass", tmp_path / "killed").returncode == collect("pass", tmp_path / "whole").returncode == 0
    assert timeless(tmp_path / "killed") == timeless(tmp_path / "whole")
