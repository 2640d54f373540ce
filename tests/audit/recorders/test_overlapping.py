"""Iterations that overlap, in threads and tasks; reflections that fail; scores beyond their range."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import multiprocessing
import sys
import threading

import pytest

import audit
from audit.recorders import Recorder, RecorderError
from collector.records import LONGEST_LINE
from tests.tools.running import calls, episodes, troubles

ROWS = 24


def record(data, **options):
    return Recorder(data, env="tickets", condition="mine", **options)


def check_rows(data, number=ROWS):
    """Each row has the texts, the scores, the answer, the prompt and the items of one iteration alone."""
    rows, asked = episodes(data), {each.iteration: each for each in calls(data)}
    names = []
    for row in rows:
        name = row.initial.text["text"].removeprefix("before ")
        call = asked.pop(row.iteration)
        shown = [item.text for item in row.evidence.shown]
        assert (row.revised.text, row.revised.answer) == ({"text": f"after {name}"}, f"answer {name}")
        assert (call.prompt, call.completion, shown) == (f"prompt {name}", f"answer {name}", [f"item {name}"])
        assert (row.initial.returns, row.revised.returns) == ([float(name)], [float(name) + 0.5])
        names.append(int(name))
    assert sorted(names) == sorted({row.iteration for row in rows}) == list(range(number))
    assert asked == {}
    assert troubles(data) == []


def steps(it, name):
    """The three calls of an iteration, one after another."""
    yield it.shown(f"before {name}", [float(name)], items=[f"item {name}"], prompt=f"prompt {name}")
    yield it.answered(f"answer {name}", f"after {name}")
    yield it.scored([name + 0.5])


def test_threads_with_handles(tmp_path):
    # All threads have taken a step before any takes the next one.
    barrier = threading.Barrier(3)

    def work(recorder, names):
        for name in names:
            with recorder.iteration() as it:
                for _ in steps(it, name):
                    barrier.wait(10)

    with record(tmp_path) as recorder:
        threads = [threading.Thread(target=work, args=(recorder, range(first, ROWS, 3))) for first in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    check_rows(tmp_path)


@pytest.mark.parametrize("by_handle", [True, False])
def test_tasks_with_handles(tmp_path, by_handle):
    async def work(recorder, name):
        with recorder.iteration() as it:
            # Within its block, calls of the recorder are those of the task's own handle, also from a thread.
            for place, _ in enumerate(steps(it if by_handle else recorder, name)):
                await asyncio.sleep(0.001 * ((name * 7 + place) % 5))
                if place == 0 and not by_handle:
                    await asyncio.to_thread(recorder.answered, f"answer {name}", f"after {name}")
                    recorder.scored([name + 0.5])
                    break

    async def all_of_them(recorder):
        await asyncio.gather(*(work(recorder, name) for name in range(ROWS)))

    with record(tmp_path) as recorder:
        asyncio.run(all_of_them(recorder))
    check_rows(tmp_path)


def test_without_handles_a_second_open_iteration_is_refused(tmp_path, capsys):
    """Whoever came first is recorded, also where the others swallow the error and go on."""
    first, second = threading.Event(), threading.Event()
    raised = []

    def late(recorder):
        first.wait(10)
        for call in (
            functools.partial(recorder.shown, "before 7", [7.0]),
            functools.partial(recorder.answered, "answer 7", "after 7"),
            functools.partial(recorder.scored, [7.5]),
        ):
            try:
                call()
            except RecorderError as error:
                raised.append(str(error))
        second.set()

    with record(tmp_path) as recorder:
        thread = threading.Thread(target=late, args=(recorder,))
        thread.start()
        for _ in steps(recorder, 0):
            first.set()
            second.wait(10)
        thread.join()
    [row] = episodes(tmp_path)
    assert (row.initial.text, row.revised.text) == ({"text": "before 0"}, {"text": "after 0"})
    assert len(raised) == 3
    assert "with recorder.iteration() as it:" in raised[0]
    assert len(troubles(tmp_path)) == 1
    capsys.readouterr()


def test_tasks_without_handles_are_refused(tmp_path, capsys):
    async def work(recorder, name):
        for _ in steps(recorder, name):
            await asyncio.sleep(0)

    async def all_of_them(recorder):
        return await asyncio.gather(*(work(recorder, name) for name in range(3)), return_exceptions=True)

    with record(tmp_path) as recorder:
        found = asyncio.run(all_of_them(recorder))
    assert [type(each) for each in found] == [type(None), RecorderError, RecorderError]
    assert [row.revised.text for row in episodes(tmp_path)] == [{"text": "after 0"}]
    capsys.readouterr()


def test_one_loop_may_use_threads_and_tasks_one_after_another(tmp_path):
    async def iterate(recorder, name):
        for _ in steps(recorder, name):
            await asyncio.sleep(0)

    with record(tmp_path) as recorder:
        asyncio.run(iterate(recorder, 0))
        asyncio.run(iterate(recorder, 1))
        recorder.shown("before 2", [2.0], items=["item 2"], prompt="prompt 2")
        for call in (functools.partial(recorder.answered, "answer 2", "after 2"), lambda: recorder.scored([2.5])):
            thread = threading.Thread(target=call)
            thread.start()
            thread.join()
    check_rows(tmp_path, 3)


def test_a_failed_reflection_keeps_its_error_and_check_counts_it(tmp_path, capsys):
    def reflect():
        raise TimeoutError("no answer in 60 s")

    with record(tmp_path / "runs", score_range=(0, 1)) as recorder:
        with contextlib.suppress(TimeoutError), recorder.iteration() as it:
            it.shown("one", [0.0, 1.0], prompt="p")
            reflect()
        recorder.shown("one", [0.0, 1.0])
        recorder.failed(ConnectionError("gone"))
        recorder.passed("one", [0.0, 1.0], error="the proposer is broken")
        recorder.shown("one", [0.0, 1.0])
        recorder.answered("Example 1 failed.", "two")
        recorder.scored([1.0, 1.0])
        with contextlib.suppress(ZeroDivisionError), recorder.iteration() as it:
            it.shown("one", [0.0, 1.0])
            it.answered("Example 1 failed.", "two")
            it.scored([1 / 0])
    found = {each.iteration: (each.revision_status, each.error or None) for each in episodes(tmp_path)}
    assert found == {
        0: ("unreadable", "TimeoutError: no answer in 60 s"),
        1: ("unreadable", "ConnectionError: gone"),
        2: ("none", "the proposer is broken"),
        3: ("ok", None),
    }
    assert [(each.iteration, each.completion, each.error) for each in calls(tmp_path)] == [
        (0, "", "TimeoutError: no answer in 60 s")
    ]
    assert troubles(tmp_path) == ["iteration 4 was never scored (ZeroDivisionError: division by zero); it is left out"]
    pack = tmp_path / "runs.pack.parquet"
    audit.pack(tmp_path / "runs", out=pack)
    for data in (tmp_path / "runs", pack):
        [row] = audit.check(data, facts=True)
        assert (row["iterations"], row["revisions"], row["failed"]) == (4, 1, 3)
        notes = " ".join(audit.check(data).notes)
        assert "the reflection failed in 3 of 4 iterations, first with: TimeoutError: no answer in 60 s" in notes
    capsys.readouterr()


def test_a_score_beyond_its_range_leaves_the_iteration_out(tmp_path, capsys):
    with record(tmp_path, score_range=(0, 1)) as recorder:
        recorder.passed("one", [0.0, 1.0 + 1e-12])
        recorder.passed("one", [0.0, 1.5])
        recorder.shown("one", -0.5)
        recorder.answered("…", "two")
        recorder.scored(0.0)
        recorder.shown("one", 0.5)
        recorder.answered("…", "two")
        recorder.scored([float("inf")])
    assert [each.iteration for each in episodes(tmp_path)] == [0]
    assert troubles(tmp_path) == [
        f"ValueError: the score {score} is beyond score_range, 0 to 1" for score in ("1.5", "-0.5", "inf")
    ]
    for wrong in ((1, 0), (0, 0), (0, float("nan"))):
        with pytest.raises(RecorderError, match="score_range is"):
            record(tmp_path / "other", score_range=wrong)
    capsys.readouterr()


def record_one(recorder, number):
    recorder.shown(f"text {number}", [1.0])
    recorder.answered("an answer", "another")
    recorder.scored([0.5])


@pytest.mark.skipif(sys.platform == "win32", reason="no process is forked there")
def test_a_fork_records_nothing_under_numbers_that_are_taken(tmp_path):
    with record(tmp_path) as recorder:
        record_one(recorder, 0)
        forked = multiprocessing.get_context("fork").Process(target=record_one, args=(recorder, 1))
        forked.start()
        forked.join()
        record_one(recorder, 2)
    assert [episode.initial.text["text"] for episode in episodes(tmp_path)] == ["text 0", "text 2"]
    [trouble] = troubles(tmp_path)
    assert "belongs to the process that opened it" in trouble


def test_what_no_reader_would_take_is_not_written(tmp_path):
    with record(tmp_path) as recorder:
        recorder.shown("x" * LONGEST_LINE, [1.0])
        recorder.answered("an answer", "another")
        recorder.scored([0.5])
        record_one(recorder, 1)
    assert [episode.initial.text["text"] for episode in episodes(tmp_path)] == ["text 1"]
    assert "longer than 16 MiB" in troubles(tmp_path)[0]
