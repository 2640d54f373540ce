"""Answers are read by several processes, with the results of one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audit.output.errors import AuditError
from audit.python_models import batches, noise, workers
from audit.python_models.answers import mentions
from audit.python_models.workers import Workers
from audit.store import open_store
from tests.audit.python_models.test_mentions import ANSWERS, SHOWN, data

__all__ = ["data"]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Processes are started for whatever there is to do."""
    monkeypatch.setattr(workers, "ALONE", 0.0)


def doubled(rows):
    return b"".join(b"%d\n" % (2 * row["number"]) for row in rows)


def ended(rows):
    if rows[0]["number"] == 13:
        os.kill(os.getpid(), signal.SIGKILL)
    return b""


def refused(rows):
    raise ValueError(f"no {rows[0]['number']}")


def slow(rows):
    time.sleep(600)


def numbered(count):
    return [[{"number": number}] for number in range(count)]


def answers(count):
    texts = list(ANSWERS)
    return [
        [
            {
                "condition": "c", "env": "cartpole", "variant": "threetraj", "run": run, "iteration": iteration,
                "answer": f"{text} I raise params[{run}] because of it.", "thinking": text, "changed": [run],
                "shown": SHOWN, "returns": [1.0, 5.0, 9.0], "lengths": [10, 10, 10], "statistics": None,
                "rounding": 0.0,
            }
            for iteration, text in enumerate(texts)
        ]
        for run in range(count)
    ]  # fmt: skip


def test_several_processes_read_what_one_does():
    rows = answers(3 * workers.FEW)
    expected = b"".join(map(mentions, rows))
    with Workers(2) as pool:
        assert b"".join(pool.map(mentions, rows)) == expected
        assert b"".join(pool.map(mentions, rows)) == expected, "the pool is used again"
    assert expected.count(b"\n") >= len(rows) * len(ANSWERS)


def test_relations_are_the_same_however_many_processes_there_are(data, monkeypatch):
    found = []
    for few, size in ((10**6, 1), (1, 3)):
        monkeypatch.setattr(workers, "FEW", few)
        monkeypatch.setattr(workers, "cores", lambda size=size: size)
        monkeypatch.setattr(batches, "ANSWERS", 2)
        monkeypatch.setattr(noise, "AT_ONCE", 2)
        with open_store([data], cache=False) as store:
            found.append([store.rows(name) for name in ("mentions", "noise")])
    assert found[0] == found[1]
    assert all(found[0])


def test_order_is_kept_and_few_batches_are_taken_ahead():
    taken = []

    def watched():
        for batch in numbered(60):
            taken.append(batch)
            yield batch

    with Workers(2) as pool:
        results = pool.map(doubled, watched())
        assert next(results) == b"0\n"
        assert len(taken) < 30
        assert b"".join(results) == b"".join(map(doubled, numbered(60)[1:]))


@pytest.mark.parametrize(("size", "count"), [(2, workers.FEW - 1), (1, 50)])
def test_no_process_is_started_for_few_answers_or_on_one_core(size, count, monkeypatch):
    monkeypatch.setattr(workers.subprocess, "Popen", pytest.fail)
    with Workers(size) as pool:
        assert list(pool.map(doubled, numbered(count))) == list(map(doubled, numbered(count)))


def test_no_process_is_started_for_what_is_read_as_fast_as_one_starts(monkeypatch):
    monkeypatch.setattr(workers, "ALONE", 60.0)
    monkeypatch.setattr(workers.subprocess, "Popen", pytest.fail)
    with Workers(2) as pool:
        assert list(pool.map(doubled, numbered(500))) == list(map(doubled, numbered(500)))


def test_where_the_system_refuses_a_process_one_reads_all(monkeypatch):
    def refuse(*_, **__):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(workers.subprocess, "Popen", refuse)
    with Workers(2) as pool:
        assert list(pool.map(doubled, numbered(50))) == list(map(doubled, numbered(50)))


def threads(rows):
    return os.environ["OPENBLAS_NUM_THREADS"].encode()


def test_a_process_multiplies_on_its_own_core():
    with Workers(2) as pool:
        assert set(pool.map(threads, numbered(50))) == {b"1"}


def test_a_killed_process_is_one_line():
    with Workers(2) as pool, pytest.raises(AuditError, match="a process that reads answers was killed") as error:
        list(pool.map(ended, numbered(50)))
    assert "\n" not in str(error.value)


def test_requests_that_a_killed_process_never_read_are_no_error_of_their_own():
    with Workers(2) as pool:
        assert pool._start()
        for process in pool._processes:
            process.kill()
            process.wait()
        with pytest.raises(AuditError, match="a process that reads answers was killed"):
            list(pool.map(doubled, numbered(50)))


def test_an_exception_is_that_of_one_process():
    with Workers(2) as pool, pytest.raises(ValueError, match="no 0"):
        list(pool.map(refused, numbered(50)))


@pytest.mark.slow
def test_a_script_on_standard_input_needs_no_guard(data):
    script = f"""
from audit.python_models import batches, workers
workers.FEW, batches.ANSWERS, workers.cores = 1, 1, lambda: 2
import audit
with audit.open([{str(data)!r}], cache=False) as store:
    print(len(store.rows("mentions")))
"""
    ran = subprocess.run(
        [sys.executable, "-"], input=script, capture_output=True, text=True, env=environment(), check=False
    )
    assert ran.stderr == ""
    assert int(ran.stdout.split()[0]) == sum(len(found) for found, _ in ANSWERS.values())


SLOW = """
import os, sys
from audit.python_models.workers import Workers
from tests.audit.python_models.test_workers import numbered, slow
with Workers(2) as pool:
    pool._start()
    print(*(process.pid for process in pool._processes), flush=True)
    list(pool.map(slow, numbered(50)))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_processes_end_with_their_parent(number):
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True,
    )  # fmt: skip
    pids = [int(pid) for pid in process.stdout.readline().split()]
    assert len(pids) == 2
    if number == signal.SIGINT:  # as a terminal sends it, to all
        os.killpg(process.pid, number)
    else:
        process.kill()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -number
    assert errors.count("Traceback") == (number == signal.SIGINT), errors
    for _ in range(600):
        if not any(runs(pid) for pid in pids):
            break
        time.sleep(0.1)
    assert not any(runs(pid) for pid in pids)


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def environment():
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
