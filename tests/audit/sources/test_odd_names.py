"""Names that mean something to a shell or to DuckDB are names: of folders, archives and packs, given or found."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.cli import app
from tests.audit.samples import revision, write_run

NAMES = [
    "~",
    "~root",
    "file:",
    "s3:x",
    "http:",
    "new\nline",
    "%41",
    "#x",
    "a?b",
    " x ",
    "-",
    "x" * 200,
    "{a,b}",
    "a=b",
    "a\\b",
    "\\input{*}",
]


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


def audit(command, *paths):
    result = CliRunner().invoke(app, [command, "--format", "json", "--", *map(str, paths)])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def pack(*arguments):
    result = CliRunner().invoke(app, ["pack", *map(str, arguments)])
    assert result.exit_code == 0, result.stderr


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The revisions, which are the same whatever the folder is called."""
    return audit("revisions", write_run(tmp_path_factory.mktemp("plain"), [revision([1, 5, 9], [2, 2, 2])]))


@pytest.mark.parametrize("name", NAMES)
def test_odd_names_are_names(name, expected):
    write_run(Path("plain") / "run-01", [revision([1, 5, 9], [2, 2, 2])])
    write_run(Path(name) / "run-01", [revision([1, 5, 9], [2, 2, 2])])
    with tarfile.open(Path(f"{name}.tar"), "w") as archive:
        archive.add(Path(name), name)
    pack("--", name)
    for each in (name, f"{name}.tar", f"{name}.pack.parquet"):
        assert audit("revisions", each) == expected
    pack("--out", Path(name) / "y.pack.parquet", "plain")
    assert audit("revisions", Path(name) / "y.pack.parquet") == expected
    Path("below").mkdir()
    Path(name).rename(Path("below") / name)
    (Path("below") / name / "y.pack.parquet").unlink()
    assert audit("revisions", "below") == expected


@pytest.mark.parametrize("name", ["~", "file:"])
def test_an_odd_name_within_the_folder_that_one_is_in(name):
    """The data set is `.`, so that the odd name is the first of the path."""
    write_run(Path(name) / "run-01", [revision([1, 5, 9], [2, 2, 2])], tail=b'{"torn')
    result = CliRunner().invoke(app, ["revisions", ".", "--format", "json"])
    assert len(json.loads(result.stdout)) == 1
    assert f"{name}/run-01/episodes.jsonl:2: torn" in result.stderr
