"""Folders of packs: what they hold, and what is added to them."""

from __future__ import annotations

import shutil

import pytest
from typer.testing import CliRunner

import audit.packing.partitions
from audit.cli import app
from audit.engine.carried import CARRIED
from audit.output.errors import AuditError, UsageError
from audit.packing import pack
from tests.audit.packing.test_findings import found
from tests.audit.samples import episode, revision, write_run
from tests.shared import made

CELLS = (("one", "cartpole"), ("one", "pong"), ("t/w*o'é", "cartpole"))


RELATIONS = sorted({each.relation for each in CARRIED} | {"salience", "summary", "runs"})


FEW = ("changes", "references", "runs")


def _make(folder):
    """Runs of every cell, and a folder of packs of them."""
    for number, (condition, env) in enumerate(CELLS):
        for run in (1, 2):
            write(folder / "data" / f"{number}-{run}", condition, env, run, 4)
    pack(folder / "data", partition=True)


@pytest.fixture
def data(tmp_path):
    folder = made("partitions", _make, of=("audit", "collector", "stats", "tests/audit/samples.py"))
    return shutil.copytree(folder, tmp_path / "made") / "data"


@pytest.fixture
def packs(data):
    """A folder of packs, one for each condition and task."""
    return data.with_name("data.packs")


def write(folder, condition, env, run, iterations, **changes):
    identity = {"condition": condition, "env": env, "run": run}
    rows = [
        revision([1, 5 + place, 9], [2, place, run], answer="The worst rollout fell.", iteration=place, **identity)
        for place in range(iterations)
    ]
    shutil.rmtree(folder, ignore_errors=True)
    write_run(folder, [*rows, episode(iteration=iterations, **identity)], **identity, **changes)


def grow(folder, condition, env, run, iterations):
    """More lines behind those that are there."""
    before = (folder / "episodes.jsonl").read_bytes()
    write(folder, condition, env, run, iterations)
    lines = (folder / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "episodes.jsonl").write_bytes(before + b"".join(lines[before.count(b"\n") :]))


def state(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_pack_for_each_condition_and_task(data, packs):
    shutil.rmtree(packs)
    result = CliRunner().invoke(app, ["pack", str(data), "--partition", "--findings", "all"])
    assert result.exit_code == 0, result.stderr
    assert len(list(packs.iterdir())) == len(CELLS)
    for names, options in ((FEW, {}), (RELATIONS, {"detector": "resolved"})):
        assert found(packs, names, **options) == (found(data, names, **options)[0], [])


def test_runs_that_are_new_or_have_grown_are_added(data, packs):
    before = state(packs)
    write(data / "new", "one", "pong", 7, 2)
    grow(data / "0-1", *CELLS[0], 1, 9)
    assert pack(data, packs, append=True).packs == 2
    after = state(packs)
    assert before.items() <= after.items()
    assert found(packs, FEW) == (found(data, FEW)[0], [])
    assert pack(data, packs, append=True).packs == 0
    assert state(packs) == after
    grow(data / "0-1", *CELLS[0], 1, 12)
    assert pack(data, packs, append=True).runs == 1
    assert found(packs, RELATIONS) == (found(data, RELATIONS)[0], [])


def test_a_run_that_was_changed_is_named_and_left_out(data, packs):
    before = state(packs)
    write(data / "0-1", *CELLS[0], 1, 2)
    write(data / "1-1", *CELLS[1], 1, 4, seed=5)
    problems = pack(data, packs, append=True).problems
    assert [problem.message.partition(";")[0] for problem in problems] == [
        "is of a run that the packs describe differently",
        "is not what was packed with more lines behind it",
    ]
    assert state(packs) == before
    printed = CliRunner().invoke(app, ["pack", str(data), "--out", str(packs), "--append"])
    assert "2 problems in the records, packed as they are or left out:" in printed.stderr
    assert printed.stdout == f"{packs}: nothing new\n"


def test_nothing_half_is_left(data, packs, monkeypatch):
    before = state(packs)
    write(data / "new", "another", "pong", 7, 2)
    write(data / "newer", "other", "pong", 7, 2)
    written = audit.packing.partitions.write_pack

    def fails_later(path, *arguments, **options):
        if path.name.startswith("other"):
            raise KeyboardInterrupt
        return written(path, *arguments, **options)

    monkeypatch.setattr(audit.packing.partitions, "write_pack", fails_later)
    with pytest.raises(KeyboardInterrupt):
        pack(data, packs, append=True)
    assert state(packs) == before
    assert sorted(path.name for path in data.parent.iterdir()) == ["data", "data.packs"]


def test_folders_that_cannot_be(data, packs):
    for name, options, reason in (
        ("data.packs", {"partition": True}, "already exists"),
        ("nowhere", {"append": True}, "no folder"),
    ):
        with pytest.raises(UsageError, match=reason):
            pack(data, packs.with_name(name), **options)
    (packs / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="other files"):
        pack(data, packs, partition=True, force=True)


def test_nothing_is_added_beside_a_damaged_pack(data, packs):
    [first, *_] = packs.iterdir()
    first.write_bytes(first.read_bytes()[:-50])
    with pytest.raises(AuditError, match="cannot be read as a pack"):
        pack(data, packs, append=True)
