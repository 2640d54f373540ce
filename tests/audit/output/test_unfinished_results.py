"""A result takes its place as a whole or not at all; what killed processes have left goes."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.output.errors import AuditError
from audit.output.unfinished_results import folder_for, put_in_place
from tests.audit.samples import revision, write_run

COMPLETE = {
    "import": ("import", "--map", "map.toml", "log.jsonl", "--out", "result"),
    "pack": ("pack", "data", "--out", "result.pack.parquet"),
    "export": ("export", "parquet", "data", "--out", "result"),
    "view --export": ("view", "data", "--export", "result"),
}


def test_remains_of_killed_processes_go_after_a_day_and_nothing_else(tmp_path):
    target = tmp_path / "new" / "result"
    target.parent.mkdir()
    remains = target.with_name(".result.1.part")
    other = [
        target.with_name(name) for name in (".result.part", ".result.mine.part", ".result.x.2.part", ".result.1.party")
    ]
    living = target.with_name(".result.2.part")
    for path in (remains, living, *other):
        path.mkdir()
        (path / "half").write_text("half")
    for path in (remains, *other):
        os.utime(path, (0, 0))
    target.with_name(".result.3.part").symlink_to(other[0])
    (target.parent / f".result.{os.getpid()}.part").mkdir()  # of another process, which had the same id
    with folder_for(target) as folder:
        left = {path.name for path in target.parent.iterdir()}
        assert left == {path.name for path in (folder, living, *other)} | {".result.3.part"}
        assert list(folder.iterdir()) == []
    assert not folder.exists()


def test_what_was_to_be_replaced_stays_where_that_fails(tmp_path, monkeypatch):
    target = tmp_path / "result"
    target.mkdir()
    (target / "record").write_text("the only copy")

    def fail(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Path, "replace", fail)
    with folder_for(target) as folder:
        (folder / "new").mkdir()
        with pytest.raises(OSError, match="Input"):
            put_in_place(folder / "new", target)
    assert [path.name for path in tmp_path.iterdir()] == ["result"]
    assert (target / "record").read_text() == "the only copy"


def test_the_disk_has_all_of_a_result_before_it_takes_its_place(tmp_path, monkeypatch):
    synced, replaced = set(), []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.add(os.fstat(descriptor).st_ino))
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda path, to: (replaced.append(set(synced)), replace(path, to))[1])
    with folder_for(tmp_path / "result") as folder:
        (folder / "new" / "deep").mkdir(parents=True)
        (folder / "new" / "deep" / "file").write_text("whole")
        put_in_place(folder / "new", tmp_path / "result")
    assert (tmp_path / "result" / "deep" / "file").stat().st_ino in replaced[0]


@pytest.mark.parametrize("command", COMPLETE)
def test_a_read_only_disk_is_one_sentence(command, tmp_path, monkeypatch):
    from tests.audit.importing.foreign import MAPPING, lines, row

    def mkdir(path, *arguments, **options):
        if path.name.endswith(".part"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return made(path, *arguments, **options)

    made = Path.mkdir
    (tmp_path / "map.toml").write_text(MAPPING)
    (tmp_path / "log.jsonl").write_bytes(lines(row()))
    write_run(tmp_path / "data" / "run-01", [revision([1, 2, 3], [1, 1, 1])])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "mkdir", mkdir)
    *arguments, name = COMPLETE[command]
    result = CliRunner().invoke(app, [*arguments, str(tmp_path / name)])
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == f"audit: cannot write {tmp_path / name}: Read-only file system"
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), shutil.Error([("", "", "No space left on device")])]
)
def test_a_disk_that_fills_up_is_the_same_sentence(error, tmp_path):
    told = r"^cannot write .*result: No space left on device$"
    with pytest.raises(AuditError, match=told), folder_for(tmp_path / "result"):
        raise error
    assert list(tmp_path.iterdir()) == []
