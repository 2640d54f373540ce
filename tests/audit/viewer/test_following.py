"""Revisions that are added to records are counted, whatever writes them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import audit
from audit.options import Options, RevisionSelection, options_of
from audit.output.errors import AuditError, UsageError
from audit.viewer import following
from audit.viewer.following import Follower
from tests.audit.viewer.records import write_records

TOOLS = Path(__file__).parents[2] / "data" / "tools"


def follower(folder: Path, **options) -> Follower:
    return Follower(replace(options_of(folder, RevisionSelection, options), cache=False))


def counted(held: Follower) -> int:
    held.look()
    return held.revisions


@pytest.fixture
def run(tmp_path) -> tuple[Path, list[bytes]]:
    """The records of a run of eight iterations, of which the first three are there, and all lines."""
    whole = write_records(tmp_path / "whole", runs=1) / "one-cartpole-threetraj-1"
    target = tmp_path / "runs" / "one"
    target.mkdir(parents=True)
    shutil.copy(whole / "run.json", target)
    lines = (whole / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (target / "episodes.jsonl").write_bytes(b"".join(lines[:3]))
    return target / "episodes.jsonl", lines


def test_records_are_read_again_only_after_a_change(run, monkeypatch) -> None:
    file, lines = run
    held = follower(file.parent.parent)
    assert counted(held) == 3
    with monkeypatch.context() as patched:
        patched.setattr(Options, "suited", None)
        (file.parent / "calls.jsonl").write_text("{}\n")
        assert counted(held) == 3
    with file.open("ab") as stream:
        stream.write(lines[3] + lines[4][:40])
    assert counted(held) == 4
    with file.open("ab") as stream:
        stream.write(lines[4][40:])
    assert counted(held) == 5
    assert counted(follower(file.parent.parent, env=["cartpole"])) == 5


def test_a_folder_of_another_tool_is_followed(tmp_path) -> None:
    folder = tmp_path / "runs" / "openevolve"
    shutil.copytree(TOOLS / "openevolve", folder, ignore=shutil.ignore_patterns("checkpoints"))
    trace = folder / "evolution_trace.jsonl"
    lines = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(b"".join(lines[:3]))
    held = follower(folder.parent)
    before = counted(held)
    trace.write_bytes(b"".join(lines))
    assert 0 < before < counted(held)


def test_the_first_revision_is_waited_for(run, tmp_path, monkeypatch, capsys) -> None:
    file, _ = run
    late = tmp_path / "late"
    late.mkdir()
    held = follower(late)
    monkeypatch.setattr(following.time, "sleep", lambda _: shutil.copytree(file.parent, late / "one"))
    held.wait()
    assert held.revisions == 3
    assert capsys.readouterr().err == "audit: waiting for the first revision\n"


def test_only_folders_that_are_there(tmp_path) -> None:
    with pytest.raises(AuditError, match="no such folder"):
        audit.view(tmp_path / "none", follow=True)
    file = tmp_path / "file.tar"
    file.write_bytes(b"")
    with pytest.raises(UsageError, match="only a folder"):
        audit.view(file, follow=True)
    with pytest.raises(UsageError, match="detector"):
        follower(tmp_path, detector="some").wait()
