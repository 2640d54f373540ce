"""Names that mean something to a shell or to DuckDB are names: of folders, archives and packs, given or found."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.cli import app
from tests.audit.samples import revision, write_run

FEW = ["~", "file:", "s3:x", "a?b", "{a,b}", "[x]", "*", "a=b", "\\input{*}"]
NAMES = [*FEW, "~root", "http:", "new\nline", "%41", "#x", " x ", "-", "x" * 200, "?", "**", "a\\b", "\\", "xab"]


@pytest.fixture(autouse=True)
def _home_of_its_own(tmp_path, monkeypatch):
    """Relative names, and a home folder that nothing may be written to."""
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    yield
    assert list(home.iterdir()) == []


def audit(*paths):
    """The revision of each run."""
    result = CliRunner().invoke(app, ["revisions", "--format", "json", "--", *map(str, paths)])
    assert (result.exit_code, result.stderr) == (0, "")
    return {row["run"]: row for row in json.loads(result.stdout)}


def pack(*arguments):
    result = CliRunner().invoke(app, ["pack", *map(str, arguments)])
    assert result.exit_code == 0, result.stderr


def write_runs(names):
    """A run for each name, in a folder of that name and in another one."""
    for run, name in enumerate(names, start=1):
        for folder in (Path("plain") / f"{run}", Path(name) / "run-01"):
            write_run(folder, [revision([1, 5, 9], [2, 2, 2], run=run)])


def test_odd_names_are_names():
    """Of folders and archives that are given, and of folders that are found."""
    write_runs(NAMES)
    expected = audit("plain")
    assert len(expected) == len(NAMES)
    assert audit(*NAMES) == expected
    for name in NAMES:
        with tarfile.open(Path(f"{name}.tar"), "w") as archive:
            archive.add(Path(name), name)
    assert audit(*(f"{name}.tar" for name in NAMES)) == expected
    below = Path("below")
    below.mkdir()
    for name in NAMES:
        Path(name).rename(below / name)
    assert audit(below) == expected


def test_packs_may_have_odd_names_as_well():
    write_runs(FEW)
    packs = [Path(f"{name}.pack.parquet") for name in FEW]
    for run, path in enumerate(packs, start=1):
        pack("--out", path, Path("plain") / f"{run}")
    assert audit(*packs) == audit("plain") != {}
    packs[0].unlink()
    pack("--", FEW[0])
    assert audit(packs[0]) == audit(FEW[0]) != {}


@pytest.mark.parametrize("name", ["~", "file:"])
def test_an_odd_name_within_the_folder_that_one_is_in(name):
    """The data set is `.`, so that the odd name is the first of the path."""
    write_run(Path(name) / "run-01", [revision([1, 5, 9], [2, 2, 2])], tail=b'{"torn')
    result = CliRunner().invoke(app, ["revisions", ".", "--format", "json"])
    assert len(json.loads(result.stdout)) == 1
    assert f"{name}/run-01/episodes.jsonl:2: torn" in result.stderr
