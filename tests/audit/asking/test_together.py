"""Answers of many calls at once: on the disk before the next call, synced together, away from the event loop."""

from __future__ import annotations

import asyncio
import errno
import os
import threading

import msgspec
import pytest

from audit.asking.answer_file import AnswerFile
from audit.asking.together import ask_all
from audit.output.errors import AuditError
from audit.sources.answer_lines import AnswerLine, AnswerLines
from collector.system.appending import append_line, append_lines


class Line(AnswerLine, frozen=True, kw_only=True):
    schema: int = 1
    text: str


LINES = AnswerLines(Line, "a line", 1, "text")


class Ready:
    """A model that is not asked."""

    async def check(self):
        pass

    async def aclose(self):
        pass


def asked(path, ask, *, pieces, concurrency):
    with AnswerFile(path, LINES) as file:
        ask_all(range(pieces), Ready(), file, lambda piece: ask(piece, file), concurrency=concurrency, verb="asked")
        return [answer.text for answer in file.answers]


def test_an_answer_is_synced_before_the_next_call_and_away_from_the_loop(tmp_path, monkeypatch):
    path, synced, threads, seen = tmp_path / "answers.jsonl", [], set(), []
    fsync = os.fsync

    def sync(descriptor):
        fsync(descriptor)
        threads.add(threading.current_thread())
        synced.append(path.read_bytes().count(b"\n"))

    monkeypatch.setattr(os, "fsync", sync)

    async def ask(piece, file):
        await asyncio.sleep(0)
        # Of sixteen in flight, all others may be unwritten; those of earlier rounds are not.
        seen.append((piece, synced[-1] if synced else 0))
        return Line(text=str(piece))

    found = asked(path, ask, pieces=160, concurrency=16)
    assert sorted(map(int, found)) == list(range(160))
    assert [msgspec.json.decode(line)["text"] for line in path.read_bytes().splitlines()] == found
    assert all(written >= piece - 15 for piece, written in seen)
    assert synced[-1] == 160
    assert len(synced) < 160  # one sync for what came meanwhile
    assert threading.current_thread() not in threads


def test_a_disk_that_is_full_keeps_what_it_had_room_for(tmp_path, monkeypatch):
    """Each answer in flight is either in the file or its call is open; none is in it by half."""
    path = tmp_path / "answers.jsonl"
    room, written = 300, os.write

    def write(file, line):
        if path.stat().st_size + len(line) > room:
            written(file.fileno(), line[:10])
            raise OSError(errno.ENOSPC, "No space left on device")
        file.write(line)

    monkeypatch.setattr("collector.system.appending._write", write)

    async def ask(piece, file):
        await asyncio.sleep(0)
        return Line(text=f"{piece:05}")

    with pytest.raises(AuditError, match=r"No space left on device.*; (\d+) of 50 are asked"):
        asked(path, ask, pieces=50, concurrency=8)
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == room // len(lines[0])
    assert all(line.endswith(b"}\n") for line in lines)


def test_an_interrupt_finds_every_answer_that_has_come_in_the_file(tmp_path, monkeypatch):
    """Those that wait for the thread, too, which is busy with the first."""
    path, begun, go_on = tmp_path / "answers.jsonl", threading.Event(), threading.Event()
    fsync = os.fsync

    def slow(descriptor):
        begun.set()
        go_on.wait(10)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)

    async def ask(piece, file):
        if piece == 3:
            await asyncio.to_thread(begun.wait, 10)
            await asyncio.sleep(0.05)
            go_on.set()
            raise KeyboardInterrupt
        while piece and not begun.is_set():
            await asyncio.sleep(0.001)
        return Line(text=str(piece))

    with pytest.raises(KeyboardInterrupt, match="3 of 4 are asked"):
        asked(path, ask, pieces=4, concurrency=4)
    assert sorted(msgspec.json.decode(line)["text"] for line in path.read_bytes().splitlines()) == ["0", "1", "2"]


def test_lines_are_appended_up_to_the_first_that_fails(tmp_path, monkeypatch):
    path = tmp_path / "lines"
    with path.open("ab", buffering=0) as file:
        append_line(file, b"one\n")
        assert append_lines(file, [b"two\n", b"three\n"]) == (2, None)

        def failing(descriptor):
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "fsync", failing)
        count, error = append_lines(file, [b"four\n"])
        assert (count, error.errno) == (0, errno.EIO)
        with pytest.raises(OSError, match="Input/output"):
            append_line(file, b"five\n")
    assert path.read_bytes() == b"one\ntwo\nthree\n"
