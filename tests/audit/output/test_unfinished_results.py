"""What a killed process has left goes with the next command of the kind; what a live one writes stays."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.output.errors import AuditError
from audit.output.unfinished_results import folder_for
from tests.audit.samples import revision, write_run

WRITER = """
import sys, pathlib, time
from audit.output.unfinished_results import folder_for
with folder_for(pathlib.Path(sys.argv[1])) as folder:
    (folder / "half").write_text("half")
    print(folder, flush=True)
    time.sleep(3600)
"""


@pytest.fixture
def writer():
    """Starts processes that write a result and never finish it, and tells where they write."""
    started = []

    def start(target):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_remains_of_killed_processes_go_and_nothing_else(writer, tmp_path):
    target = tmp_path / "new" / "result"
    killed, remains = writer(target)
    _, living = writer(target)
    _, other = writer(target.with_name("result.x"))
    kill(killed)
    kept = [
        target.with_name(name) for name in (".result.part", ".result.mine.part", "result.1.part", ".result.1.party")
    ]
    for path in kept:
        path.write_text("a user's own")
    (target.parent / ".result.1.part").write_text("of a version before, which wrote a file")
    os.mkfifo(target.parent / ".result.2.part")
    (target.parent / ".result.3.part").symlink_to(target.parent / ".result.mine.part")
    assert Path(remains).exists()
    with folder_for(target) as folder:
        left = {str(path) for path in target.parent.iterdir()}
        assert left == {str(folder), living, other, *map(str, kept), str(target.parent / ".result.3.part")}
    assert not folder.exists()
    (tmp_path / f".own.{os.getpid()}.part").mkdir()  # of another process, which had the same id
    with folder_for(tmp_path / "own") as folder:
        assert list(folder.iterdir()) == []
    assert not folder.exists()


def test_what_was_to_be_replaced_comes_back(tmp_path):
    (tmp_path / ".result.1.part" / "replaced").mkdir(parents=True)
    (tmp_path / ".result.1.part" / "replaced" / "record").write_text("the only copy")
    with folder_for(tmp_path / "result"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["result"]
    assert (tmp_path / "result" / "record").read_text() == "the only copy"


def test_packing_clears_what_a_killed_process_left(writer, tmp_path):
    write_run(tmp_path / "data" / "run-01", [revision([1, 2, 3], [1, 1, 1])])
    process, _ = writer(tmp_path / "data.pack.parquet")
    kill(process)
    result = CliRunner().invoke(app, ["pack", str(tmp_path / "data")])
    assert result.exit_code == 0, result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"data", "data.pack.parquet"}


def test_importing_clears_what_a_killed_process_left(writer, tmp_path):
    from tests.audit.importing.foreign import MAPPING, lines, row

    (tmp_path / "map.toml").write_text(MAPPING)
    (tmp_path / "log.jsonl").write_bytes(lines(row()))
    process, _ = writer(tmp_path / "out")
    kill(process)
    arguments = ["import", "--map", tmp_path / "map.toml", tmp_path / "log.jsonl", "--out", tmp_path / "out"]
    for more in ([], ["--force"]):
        result = CliRunner().invoke(app, [*map(str, arguments), *more])
        assert result.exit_code == 0, result.stderr
        assert {path.name for path in tmp_path.iterdir()} == {"map.toml", "log.jsonl", "out"}


KILLED = """
import os, pathlib, sys
from audit.output import unfinished_results
sync = unfinished_results._to_disk
def killed(path):
    if path == pathlib.Path(sys.argv[1]):  # the result is in its place, and the folder beside it is not removed yet
        os._exit(9)
    sync(path)
unfinished_results._to_disk = killed
from audit.cli import app
app(sys.argv[2:])
"""
COMPLETE = {
    "import": ("import", "--map", "map.toml", "log.jsonl", "--out", "result"),
    "pack": ("pack", "data", "--out", "result.pack.parquet"),
    "export": ("export", "parquet", "data", "--out", "result"),
    "view --export": ("view", "data", "--export", "result"),
}


@pytest.mark.parametrize("command", COMPLETE)
def test_what_a_process_killed_at_its_end_left_goes_even_where_the_next_one_refuses(command, tmp_path, monkeypatch):
    from tests.audit.importing.foreign import MAPPING, lines, row

    monkeypatch.chdir(tmp_path)
    out = Path("out").resolve()
    out.mkdir()
    Path("map.toml").write_text(MAPPING)
    Path("log.jsonl").write_bytes(lines(row()))
    write_run(tmp_path / "data" / "run-01", [revision([1, 2, 3], [1, 1, 1])])
    *arguments, name = COMPLETE[command]
    arguments.append(str(out / name))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = [sys.executable, "-c", KILLED, str(out), *arguments]
    killed = subprocess.run(process, env=environment, capture_output=True, check=False)
    assert killed.returncode == 9, killed.stderr
    assert {path.name.endswith(".part") for path in out.iterdir()} == {True, False}
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == (0 if command == "view --export" else 2), result.stderr
    assert [path.name for path in out.iterdir()] == [name]


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
    with (
        pytest.raises(AuditError, match=r"^cannot write .*result: No space left on device$"),
        folder_for(tmp_path / "result"),
    ):
        raise error
    assert list(tmp_path.iterdir()) == []


def test_the_disk_has_all_of_an_import_before_it_takes_its_place(tmp_path, monkeypatch):
    from tests.audit.importing.foreign import MAPPING, lines, row

    synced, fsync, replace = [], os.fsync, Path.replace

    def look(descriptor):
        synced.append((os.fstat(descriptor).st_ino, os.fstat(descriptor).st_size))
        fsync(descriptor)

    def check(path, target):
        if target == tmp_path / "out":
            made = [path, *path.rglob("*")]
            missing = [each.name for each in made if (each.stat().st_ino, each.stat().st_size) not in synced]
            assert (len(made) > 3, missing) == (True, [])
            synced.clear()
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", look)
    monkeypatch.setattr(Path, "replace", check)
    (tmp_path / "map.toml").write_text(MAPPING)
    (tmp_path / "log.jsonl").write_bytes(lines(row()))
    arguments = ["import", "--map", tmp_path / "map.toml", tmp_path / "log.jsonl", "--out", tmp_path / "out"]
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 0, result.stderr
    assert [inode for inode, _ in synced] == [tmp_path.stat().st_ino]
