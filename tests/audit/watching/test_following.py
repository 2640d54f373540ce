"""Revisions are found once each, by reading what was added."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from audit.arguments import RevisionSelection, request_of
from audit.output.errors import AuditError, UsageError
from audit.watching import following
from audit.watching.following import Follower
from audit.watching.watch import watch
from tests.audit.viewer.records import write_records

TOOLS = Path(__file__).parents[2] / "data" / "tools"


@pytest.fixture
def run(tmp_path) -> tuple[Path, list[bytes]]:
    """A folder with the first three lines of a run of eight, and all its lines."""
    whole = write_records(tmp_path / "whole", runs=1) / "one-cartpole-threetraj-1"
    target = tmp_path / "runs" / "one"
    target.mkdir(parents=True)
    shutil.copy(whole / "run.json", target)
    lines = (whole / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (target / "episodes.jsonl").write_bytes(b"".join(lines[:3]))
    return target / "episodes.jsonl", lines


def follower(file: Path) -> Follower:
    return Follower(replace(request_of(file.parent.parent, RevisionSelection, {}), cache=False))


def add(file: Path, data: bytes) -> None:
    with file.open("ab") as stream:
        stream.write(data)


def iterations(rows) -> list[int]:
    return [row["iteration"] for row in rows]


def test_lines_are_read_once(run, monkeypatch) -> None:
    file, lines = run
    found = follower(file)
    assert iterations(found.begin()) == [0, 1, 2]
    assert found.poll() == []
    # From here on only the lines that were added are opened.
    opened = []
    true = following.open_store

    def counted(paths, reading):
        opened.append((Path(paths[0]) / "0" / "episodes.jsonl").read_bytes())
        return true(paths, reading)

    monkeypatch.setattr(following, "open_store", counted)
    (file.parent / "calls.jsonl").write_text("{}\n")
    found._changes._next_listing = found._changes._next_look = 0.0
    assert found.poll() == []
    add(file, lines[3])
    assert iterations(found.poll()) == [3]
    add(file, lines[4] + lines[5][:40])
    assert iterations(found.poll()) == [4]
    add(file, lines[5][40:])
    assert iterations(found.poll()) == [5]
    assert found.poll() == []
    assert opened == [lines[3], lines[4], lines[5]]


def test_rows_are_those_of_the_whole(run) -> None:
    """What is read of a line alone is what is read of it among all."""
    file, lines = run
    step = follower(file)
    rows = step.begin()
    for line in lines[3:]:
        add(file, line)
        rows += step.poll()
    assert rows == follower(file).begin()
    assert len(rows) == 8


def test_a_run_that_begins_later_is_found(run, tmp_path) -> None:
    file, lines = run
    held = follower(file)
    held.begin()
    other = file.parent.parent / "two"
    other.mkdir()
    described = json.loads((file.parent / "run.json").read_text())
    (other / "run.json").write_text(json.dumps({**described, "run": 2}))
    row = json.loads(lines[0])
    (other / "episodes.jsonl").write_text(json.dumps({**row, "run": 2}) + "\n")
    assert [(row["run"], row["iteration"]) for row in held.poll()] == [(2, 0)]


def first_entries(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text())[:3]))


def first_lines(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))


def first_programs(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("delete from programs where generation > 3")


@pytest.mark.parametrize(
    ("tool", "name", "shorten"),
    [
        ("gepa", "run_log.json", first_entries),
        ("openevolve", "evolution_trace.jsonl", first_lines),
        ("shinka", "programs.sqlite", first_programs),
    ],
)
def test_folders_of_other_tools_are_followed(tmp_path, tool, name, shorten) -> None:
    """What a tool has written after a few iterations, and then all."""
    folder = tmp_path / "runs" / tool
    shutil.copytree(TOOLS / tool, folder, ignore=shutil.ignore_patterns("checkpoints"))
    shorten(folder / name)
    held = Follower(replace(request_of(folder.parent, RevisionSelection, {}), cache=False))
    before = held.begin()
    assert held.poll() == []
    shutil.copy(TOOLS / tool / name, folder / name)
    added = held.poll()
    assert held.poll() == []
    assert before
    assert added
    whole = Follower(replace(request_of(folder.parent, RevisionSelection, {}), cache=False)).begin()
    assert sorted(iterations(before) + iterations(added)) == sorted(iterations(whole))


def test_an_empty_folder_is_waited_for(run, tmp_path) -> None:
    file, _ = run
    late = tmp_path / "late"
    late.mkdir()
    held = Follower(replace(request_of(late, RevisionSelection, {}), cache=False))
    assert held.begin() == []
    assert held.take_notes() == ["waiting for the first revision"]
    shutil.copytree(file.parent, late / "one")
    assert iterations(held.poll()) == [0, 1, 2]


def test_a_file_that_was_written_anew_is_read_anew(run) -> None:
    file, lines = run
    held = follower(file)
    held.begin()
    file.write_bytes(lines[6])
    assert iterations(held.poll()) == [6]


NOTHING, HALF, EMPTY = None, 0.5, 0.0


@pytest.mark.parametrize("before", [NOTHING, HALF, EMPTY])
@pytest.mark.parametrize("is_alone", [True, False])
def test_records_that_are_there_before_their_description_are_not_lost(run, tmp_path, before, is_alone) -> None:
    file, lines = run
    target = tmp_path / "followed" / "one"
    target.mkdir(parents=True)
    if not is_alone:
        described = json.loads((file.parent / "run.json").read_text())
        other = target.parent / "two"
        other.mkdir()
        (other / "run.json").write_text(json.dumps({**described, "run": 2}))
        (other / "episodes.jsonl").write_text(json.dumps({**json.loads(lines[0]), "run": 2}) + "\n")
    held = follower(target / "episodes.jsonl")
    rows = held.begin()
    (target / "episodes.jsonl").write_bytes(b"".join(lines[:3]))
    description = (file.parent / "run.json").read_bytes()
    if before is not NOTHING:
        (target / "run.json").write_bytes(description[: int(len(description) * before)])
    rows += held.poll()
    add(target / "episodes.jsonl", lines[3])
    rows += held.poll()
    assert [row for row in rows if row["run"] == 1] == []
    (target / "run.json").write_bytes(description)
    rows += held.poll()
    add(target / "episodes.jsonl", lines[4])
    rows += held.poll()
    assert iterations(row for row in rows if row["run"] == 1) == [0, 1, 2, 3, 4]
    assert held.poll() == []


def test_a_run_without_a_line_costs_nothing_after_its_description_changed(run, monkeypatch) -> None:
    file, _ = run
    empty = file.parent.parent / "two" / "episodes.jsonl"
    empty.parent.mkdir()
    empty.touch()
    described = json.loads((file.parent / "run.json").read_text()) | {"run": 2}
    (empty.parent / "run.json").write_text(json.dumps(described))
    held = follower(file)
    held.begin()
    (empty.parent / "run.json").write_text(json.dumps(described) + "\n")
    assert held.poll() == []
    calls = []
    for name in ("_all", "_added"):
        monkeypatch.setattr(held, name, lambda paths, name=name: calls.append(name) or [])
    assert held.poll() == []
    assert calls == []


def test_a_run_whose_records_vanish_as_its_description_comes_is_passed_over(run) -> None:
    file, lines = run
    early = file.parent.parent / "two" / "episodes.jsonl"
    early.parent.mkdir()
    early.write_bytes(lines[0])
    held = follower(file)
    held.begin()
    early.unlink()
    shutil.copy(file.parent / "run.json", early.parent)
    assert held.poll() == []
    assert held.poll() == []


def test_what_cannot_be_read_is_reported_once(run) -> None:
    file, lines = run
    held = follower(file)
    held.begin()
    assert held.take_notes() == []
    add(file, b"no record\n" + lines[3])
    assert iterations(held.poll()) == [3]
    [first, second] = held.take_notes()
    assert first == "1 problem in the records, left out:"
    assert str(file) in second
    add(file, lines[4])
    assert iterations(held.poll()) == [4]
    assert held.take_notes() == []


def test_strictly_problems_are_an_error_whenever_they_come(run) -> None:
    file, _ = run
    held = Follower(replace(request_of(file.parent.parent, RevisionSelection, {}), cache=False, strict=True))
    assert len(held.begin()) == 3
    add(file, b"no record\n")
    with pytest.raises(AuditError, match="--strict"):
        held.poll()
    another = Follower(held.request)
    with pytest.raises(AuditError, match="--strict"):
        another.begin()


def test_once_says_what_other_commands_say_where_there_is_nothing(run, tmp_path) -> None:
    file, _ = run
    with pytest.raises(AuditError, match="no env nope in the records; they hold cartpole"):
        next(watch(file.parent.parent, once=True, env=["nope"], cache=False))
    (tmp_path / "empty").mkdir()
    with pytest.raises(AuditError):
        next(watch(tmp_path / "empty", once=True))


def test_only_folders_that_are_there(tmp_path) -> None:
    with pytest.raises(AuditError, match="no such folder"):
        next(watch(tmp_path / "none"))
    file = tmp_path / "file.tar"
    file.write_bytes(b"")
    with pytest.raises(UsageError, match="only a folder"):
        next(watch(file))


def test_the_stop_file_is_made_when_an_alarm_is_raised(run, tmp_path) -> None:
    """Eight revisions against a chance of 1%: two regressions or more raise it."""
    file, lines = run
    file.write_bytes(b"".join(lines))
    stop = tmp_path / "stop"
    step = next(watch(file.parent.parent, p0=0.01, stop_file=stop, once=True, cache=False))
    assert sum(row["direction"] == "regression" for row in step.revisions) >= 2
    assert [alarm.name for alarm in step.raised] == ["regressions"]
    assert stop.read_text().startswith("alarm after ")
    [alarm, _] = step.alarms
    assert f"wealth {alarm.curve[alarm.raised - 1]:.3g}," in stop.read_text()
    with pytest.raises(UsageError, match="is there already"):
        next(watch(file.parent.parent, stop_file=stop))


def test_an_alarm_is_seen_where_the_stop_file_cannot_be_written(run, tmp_path, monkeypatch) -> None:
    file, lines = run
    file.write_bytes(b"".join(lines))

    def refused(self, target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refused)
    steps = watch(file.parent.parent, p0=0.01, stop_file=tmp_path / "stop", once=True, cache=False)
    assert next(steps).raised
    with pytest.raises(AuditError, match=r"cannot write .*stop: Permission denied"):
        next(steps)
    assert [path for path in tmp_path.iterdir() if "stop" in path.name] == []


def test_a_stop_file_without_a_folder_is_refused_at_the_start(run, tmp_path) -> None:
    file, _ = run
    with pytest.raises(UsageError, match="--stop-file"):
        next(watch(file.parent.parent, stop_file=tmp_path / "none" / "stop"))
