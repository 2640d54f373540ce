"""The cache: it makes audits quick, and changes nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.records import cache as cache_module
from audit.records import reading
from audit.records.cache import DAY, IN_USE, UNUSED, VARIABLE
from audit.store import open_store
from tests.audit.samples import candidate, episode, revision, write_run

RELATIONS = ("salience", "revisions", "runs", "episodes", "run_records", "summary", "run_facts", "holdings")
LONG_AGO = 1_700_000_000
STORED = ("records", "run_records", "skipped", "logged_returns")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of the test's own that takes records of any age."""
    path = tmp_path / "cache"
    monkeypatch.setenv(VARIABLE, str(path))
    monkeypatch.setattr(cache_module, "SETTLED", 0)
    return path


@pytest.fixture
def scans(monkeypatch):
    """Each time that records were read."""
    found, read = [], reading.read_records

    def counted(paths, *arguments, **options):
        found.append(paths)
        return read(paths, *arguments, **options)

    monkeypatch.setattr(reading, "read_records", counted)
    return found


@pytest.fixture
def data(tmp_path):
    root = tmp_path / "data"
    for run in (1, 2):
        rows = [
            revision([1, 5, 9], [2, 2, run], after=(1, 2.5, 3), answer="The worst rollout fell.", iteration=0, run=run),
            revision([1, 5, 9], [6, 6, 6], answer="ünï\u2028code \x1b[31m", iteration=1, run=run),
            episode(candidate([7, 7, 7]), None, iteration=2, run=run),
        ]
        # One line of every run is torn, another no record.
        write_run(root / f"run-{run}", rows, tail=b'{"no": "record"}\n{"torn', seed=2**64 - run)
    return root


def audited(*paths, names=RELATIONS, **options):
    with open_store(paths, **options) as store:
        rows = {name: (store.relation(name).types, sorted(map(repr, store.rows(name)))) for name in names}
        return rows, list(store.problems), list(store.notes)


def files(folder, name="*"):
    return sorted(folder.glob(f"data/*/*/{name}"))


def test_with_and_without_the_cache_everything_is_the_same(data, folder, scans):
    """Whole numbers of 128 bits too, which Parquet has not, and types: sums have 128 bits."""
    without = audited(data, cache=False)
    done = CliRunner().invoke(app, ["runs", str(data), "--no-cache", "--format", "json"])
    assert len(json.loads(done.stdout)) == 2
    assert not folder.exists()
    scans.clear()
    assert len(without[1]) == 4
    assert str(2**64 - 1) in without[0]["run_records"][1][0]
    assert [audited(data) for _ in range(3)] == [without] * 3
    assert len(scans) == 1
    assert {path.name for path in files(folder)} >= {"about.json", *(f"{name}.parquet" for name in STORED)}


def touch(path):
    os.utime(path, (LONG_AGO, LONG_AGO))


def grow(path):
    with path.open("ab") as file:
        file.write(b'"}\n' + json.dumps(revision([1, 5, 9], [9, 9, 9], iteration=3)).encode() + b"\n")


def replace_alike(path):
    """By a file of the same size and time."""
    content = path.read_bytes().replace(b"[1.0, 5.0, 9.0]", b"[2.0, 4.0, 9.0]")
    before = path.stat()
    path.with_suffix(".new").write_bytes(content)
    os.utime(path.with_suffix(".new"), ns=(before.st_atime_ns, before.st_mtime_ns))
    path.with_suffix(".new").replace(path)


CHANGES = {
    "a line more": lambda run: grow(run / "episodes.jsonl"),
    "another file of the same size and time": lambda run: replace_alike(run / "episodes.jsonl"),
    "another K": lambda run: (run / "run.json").write_text(
        (run / "run.json").read_text().replace('"rollouts": 3', '"rollouts": 4')
    ),
    "a run less": shutil.rmtree,
    "a run more": lambda run: write_run(run / "within", [revision([1, 5, 9], [2, 2, 3], run=3)]),
    "another name": lambda run: run.rename(run.with_name("another")),
    "skipped iterations": lambda run: (run / "skipped.jsonl").write_text("garbage\n"),
    "a folder named like a file": lambda run: (run / "within" / "episodes.jsonl").mkdir(parents=True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen(data, change, scans):
    before = audited(data)
    CHANGES[change](data / "run-1")
    after = audited(data)
    assert len(scans) == 2
    assert after == audited(data, cache=False) != before


def test_what_no_relation_depends_on_may_change(data, scans):
    audited(data)
    for name in cache_module.NOT_READ:
        (data / "run-1" / name).write_text("anything")
    audited(data)
    assert len(scans) == 1


def test_relations_are_cached_for_each_choice_of_options(data, folder, scans):
    """What does not depend on an option is there once."""
    choices = [{}, {"detector": "resolved"}, {"overrides": {"cartpole": {"high": 3.0}}}]
    names = (*RELATIONS, "thresholds")
    expected = [audited(data, names=names, cache=False, **options) for options in choices]
    assert len({repr(each) for each in expected}) == len(choices)
    for _ in range(2):
        assert [audited(data, names=names, **options) for options in choices] == expected
    assert len(scans) == len(choices) + 1
    cached = [path.name.rpartition("-")[0] for path in files(folder, "*-*.parquet")]
    assert [cached.count(name) for name in ("evidence", "changes", "references")] == [1, 2, 2]


DAMAGE = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-30]),
    "gone": lambda path: path.unlink(),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_made_again(data, folder, damage):
    expected = audited(data)
    for path in files(folder):
        DAMAGE[damage](path)
    assert [audited(data) for _ in range(2)] == [expected] * 2
    assert damage == "a folder" or min(path.stat().st_size for path in files(folder)) > 0


@pytest.mark.parametrize("is_cached", [True, False])
def test_the_folder_may_vanish_while_a_store_is_open(data, folder, is_cached):
    expected = audited(data, cache=False)[0]
    if is_cached:
        audited(data, names=("changes",))
    with open_store([data]) as store:
        for name in RELATIONS:
            shutil.rmtree(folder, ignore_errors=True)
            assert (store.relation(name).types, sorted(map(repr, store.rows(name)))) == expected[name]
    assert audited(data)[0] == expected


def test_a_cache_that_may_only_be_read_is_read(data, scans, monkeypatch):
    expected = audited(data)

    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    for function in ("utime", "link"):
        monkeypatch.setattr(os, function, refuse)
    monkeypatch.setattr(shutil, "copyfile", refuse)
    assert audited(data) == expected
    assert len(scans) == 1


@pytest.mark.parametrize("function", ["link", "replace", "mkdir"])
def test_a_full_disk_changes_nothing(data, folder, monkeypatch, function):
    expected = audited(data, cache=False)

    owner = os if function == "link" else Path
    really = getattr(owner, function)

    def full(path, *arguments, **options):
        if folder in (path, *Path(path).parents, *Path(*arguments[:1]).parents):
            raise OSError(28, "No space left on device")
        return really(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(owner, function, full)
        patch.setattr(shutil, "copyfile", full)
        assert audited(data) == expected
    assert not files(folder, "*.part")
    assert audited(data) == expected
    (folder.parent / "file").touch()
    monkeypatch.setenv(VARIABLE, str(folder.parent / "file" / "below"))
    assert audited(data) == expected


@pytest.mark.parametrize("is_dated_back", [False, True])
def test_files_that_may_still_change_are_not_cached(data, folder, monkeypatch, is_dated_back):
    """They may be changed again without looking different, whatever time they state."""
    monkeypatch.setattr(cache_module, "SETTLED", 3600)
    if is_dated_back:
        for path in data.rglob("*.json*"):
            touch(path)
    assert audited(data) == audited(data, cache=False)
    assert not folder.exists()


def test_files_that_change_while_they_are_read_are_not_cached(data, folder, monkeypatch):
    read = reading.read_records

    def changing(*arguments, **options):
        found = read(*arguments, **options)
        grow(data / "run-1" / "episodes.jsonl")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(reading, "read_records", changing)
        audited(data)
    assert not files(folder)
    assert audited(data) == audited(data, cache=False)


def test_each_data_set_has_its_own(data, tmp_path, monkeypatch):
    """Also the same path from another folder, and other words for a path: problems name files as they were given."""
    other = shutil.copytree(data, tmp_path / "elsewhere" / "data")
    replace_alike(other / "run-1" / "episodes.jsonl")
    for place in (tmp_path, tmp_path / "elsewhere"):
        monkeypatch.chdir(place)
        for paths in (["data"], ["./data"], [place / "data"], ["data/run-2"], ["data/run-2", "data"]):
            found, expected = (audited(*paths, names=("evidence",), cache=cache) for cache in (True, False))
            assert found == audited(*paths, names=("evidence",)) == expected


def aged(folder, days):
    os.utime(folder, (time.time() - days * DAY,) * 2)


def test_what_is_old_or_too_much_is_removed(data, folder, monkeypatch):
    audited(data)
    [state] = {path.parent for path in files(folder)}
    grow(data / "run-1" / "episodes.jsonl")
    audited(data)
    assert state.exists()  # another audit may read it
    aged(state, 2 * IN_USE / DAY)
    grow(data / "run-2" / "episodes.jsonl")
    audited(data)
    assert not state.exists()
    aged(folder / "data" / "tidied", 2)
    for days, limit, is_left in ((1, 10**9, True), (1, 0, False), (UNUSED + 1, 10**9, False)):
        others = folder / "data" / "others" / "state"
        others.mkdir(parents=True)
        (others / "records.parquet").write_bytes(bytes(1000))
        aged(others, days)
        aged(folder / "data" / "tidied", 2)
        monkeypatch.setattr(cache_module, "LIMIT", limit)
        grow(data / "run-1" / "episodes.jsonl")
        audited(data)
        assert others.exists() is is_left
        assert files(folder, "records.parquet")
        shutil.rmtree(others, ignore_errors=True)


def test_audits_at_the_same_time_do_not_harm_one_another(data):
    script = (
        "import sys; from audit.records import cache; cache.SETTLED = 0\n"
        "from audit.store import open_store\n"
        "with open_store([sys.argv[1]]) as store: print(store.rows('runs'), len(store.problems))"
    )
    command = [sys.executable, "-c", script, str(data)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    results = {each.communicate() for each in started}
    with open_store([data]) as store:
        assert results == {(f"{store.rows('runs')} {len(store.problems)}\n", "")}
