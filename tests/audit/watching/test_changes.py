"""New and changed files are found as a walk through all folders finds them."""

from __future__ import annotations

import math
import os
import random
import shutil
from pathlib import Path

import pytest

from audit.watching import changes
from audit.watching.changes import Changes

LONG_AGO = 1_700_000_000


def plainly(root: Path) -> dict[Path, tuple[int, int]]:
    """All files that records are read from, by a walk."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            if name == "episodes.jsonl" if "run.json" in names else name.endswith(changes.ENDINGS):
                status = Path(folder, name).stat()
                found[Path(folder, name)] = (status.st_size, status.st_mtime_ns)
    return found


def settle(root: Path) -> None:
    """Let all folders look as if nothing had happened in them for long, so that their times alone tell of changes."""
    for folder, _, _ in os.walk(root):
        os.utime(folder, (LONG_AGO, LONG_AGO))


def begin_run(root: Path, draw: random.Random) -> None:
    folder = root / draw.choice("ab") / f"run-{draw.randrange(10**6)}"
    folder.mkdir(parents=True)
    if draw.random() < 0.8:
        (folder / "run.json").write_text("{}")
    if draw.random() < 0.8:
        (folder / "episodes.jsonl").write_text("{}\n")


def finish_run(root: Path, draw: random.Random) -> None:
    """What a run lacks comes later."""
    for folder in sorted(root.glob("*/run-*")):
        (folder / draw.choice(["run.json", "episodes.jsonl", "calls.jsonl"])).touch()


def add_line(root: Path, draw: random.Random) -> None:
    if files := sorted(root.rglob("*.json*")):
        with draw.choice(files).open("a") as stream:
            stream.write("{}\n")


def replace_file(root: Path, draw: random.Random) -> None:
    if files := sorted(root.rglob("*.json*")):
        file = draw.choice(files)
        part = file.with_name("part")
        part.write_text(f"{draw.random()}\n" * draw.randrange(9))
        part.replace(file)


def write_elsewhere(root: Path, draw: random.Random) -> None:
    folder = root / draw.choice("cde") / draw.choice("fg")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{draw.randrange(3)}.{draw.choice(['json', 'txt', 'sqlite', 'png'])}").write_text("x")


def remove_something(root: Path, draw: random.Random) -> None:
    if found := sorted(root.rglob("*")):
        path = draw.choice(found)
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def rename_folder(root: Path, draw: random.Random) -> None:
    if folders := sorted(path for path in root.rglob("*") if path.is_dir()):
        path = draw.choice(folders)
        path.rename(path.with_name(f"run-{draw.randrange(10**6)}"))


STEPS = (
    begin_run,
    begin_run,
    finish_run,
    add_line,
    add_line,
    replace_file,
    write_elsewhere,
    remove_something,
    rename_folder,
)


@pytest.mark.parametrize("seed", range(20))
def test_each_change_is_found_once(tmp_path, seed) -> None:
    """Without another listing of all folders, which finds the files of a run that lost its description."""
    draw = random.Random(seed)
    held = Changes([tmp_path])
    assert held.look() == set()
    held._next_listing = math.inf
    for _ in range(40):
        settle(tmp_path)
        held._next_look = 0.0
        held.look()
        before = plainly(tmp_path)
        draw.choice(STEPS)(tmp_path, draw)
        expected = {path for path, stamp in plainly(tmp_path).items() if before.get(path) != stamp}
        held._next_look = 0.0
        found = held.look()
        # A run that loses its description is no longer one, and its other files count.
        assert {path for path in expected - found if path.with_name("episodes.jsonl").exists()} == expected - found
        assert found <= expected, found - expected
        held._next_look = 0.0
        assert held.look() == set()
    held._next_listing = held._next_look = 0.0
    held.look()
    assert plainly(tmp_path).items() <= {Path(path): stamp for path, stamp in held._stamps.items()}.items()


def test_files_that_changed_last_are_looked_at_every_time(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(changes, "RECENT", 2)
    files = [tmp_path / str(number) / "episodes.jsonl" for number in range(5)]
    for age, file in enumerate(files):
        file.parent.mkdir()
        (file.parent / "run.json").write_text("{}")
        file.write_text("{}\n")
        os.utime(file, (LONG_AGO - age, LONG_AGO - age))
    held = Changes([tmp_path])
    assert held.look() == set(files)
    held._next_listing = held._next_look = math.inf
    for file in files:
        file.write_text("{}\n{}\n")
    assert held.look() == set(files[:2])
    held._next_look = 0.0
    assert held.look() == set(files[2:])


def test_a_folder_that_changed_just_now_is_listed_again(tmp_path) -> None:
    """What comes in the same tick of the clock does not change its time."""
    held = Changes([tmp_path])
    held.look()
    held._next_listing = math.inf
    modified = tmp_path.stat().st_mtime_ns
    (tmp_path / "one.json").write_text("{}")
    os.utime(tmp_path, ns=(modified, modified))
    assert held.look() == {tmp_path / "one.json"}
