"""Worker processes: what ends them, and how a command ends when they are ended."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from collector.errors import TaskError, WorkerError
from collector.rollouts.workers import Workers
from collector.system.processes import Process

proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")


def raise_exit():
    raise SystemExit("enough")


def lives(pid):
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())  # empty for a zombie
    except OSError:
        return False


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
def test_a_child_ends_with_its_parent_whatever_it_does():
    code = (
        "import os, time; from collector.system.processes import Process; "
        "child = Process(target=time.sleep, args=(3600,), daemon=True); child.start(); print(child.pid, flush=True); "
        "os.kill(os.getpid(), 9)"
    )
    child = int(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=False).stdout)
    deadline = time.monotonic() + 60
    while lives(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not lives(child)


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
