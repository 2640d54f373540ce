"""The evolvers run, and what is on the disk afterwards has the form of the folders in `tests/data/tools`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import msgspec
import pytest

from tests.tools.running import DATA, REPOSITORY, episodes, run_tool


def forms(trace):
    """The keys of each line, and those of its parts that are not the user's own."""
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    return {key for line in lines for key in line} | {f"prompt.{key}" for line in lines for key in line["prompt"]}


def columns(database):
    with closing(sqlite3.connect(f"file:{database}?mode=ro&immutable=1", uri=True)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        return {name: connection.execute(f"PRAGMA table_info({name})").fetchall() for (name,) in tables}


def test_openevolve(tmp_path):
    run_tool("openevolve", "run_openevolve.py", tmp_path, "--iterations", "12")
    assert forms(tmp_path / "evolution_trace.jsonl") == forms(DATA / "openevolve" / "evolution_trace.jsonl")
    ours, theirs = (
        folder / "checkpoints" / "checkpoint_10" / "metadata.json" for folder in (tmp_path, DATA / "openevolve")
    )
    assert json.loads(ours.read_text()).keys() == json.loads(theirs.read_text()).keys()


def test_the_planted_runs_of_gepa_are_those_that_are_stored(tmp_path):
    options = ["--planted", "0.5", "--iterations", "40", "--seed", "1", "--run", "1"]
    run_tool("gepa", "run_gepa_local.py", tmp_path / "gepa", "--record", tmp_path / "records", *options)
    stored = REPOSITORY / "data" / "gepa-planted" / "planted-0.5" / "topics" / "gepa" / "run-01"
    again, before = (
        [{**msgspec.structs.asdict(each), "seconds": None} for each in episodes(data)]
        for data in (tmp_path / "records", stored)
    )
    assert again == before
    assert (tmp_path / "gepa" / "drivers.jsonl").read_text() == (stored / "drivers.jsonl").read_text()


@pytest.mark.slow
def test_shinka(tmp_path):
    run_tool("shinka", "run_shinka.py", tmp_path, "--iterations", "3", "--live", tmp_path / "live")
    assert columns(tmp_path / "programs.sqlite") == columns(DATA / "shinka" / "programs.sqlite")
    assert (tmp_path / "live" / "programs.sqlite-wal").stat().st_size > 0


def test_the_folders_hold_no_pickles():
    assert [path for path in DATA.rglob("*") if path.suffix in {".bin", ".pkl", ".pickle"}] == []
