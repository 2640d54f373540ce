"""What is read of other tools' logs is kept as records are, and known again by its content."""

from __future__ import annotations

import pytest

from audit.cache_folder import VARIABLE
from audit.ingest import batches, columns, gathering
from audit.store import open_store
from tests.audit.sources.tool_folders import TOOLS, entry, write_gepa


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of the test's own that takes records of any size."""
    path = tmp_path / "cache"
    monkeypatch.setenv(VARIABLE, str(path))
    monkeypatch.setattr(gathering, "SMALLEST", 0)
    return path


@pytest.fixture
def made(monkeypatch):
    """What was read into columns, and which relations were made of it."""
    found = []
    write, make = columns._write, batches.Batches._made

    def written(batch, *given, **options):
        found.extend(file.source for file in batch)
        return write(batch, *given, **options)

    def relation(self, name, *given):
        found.append(name)
        return make(self, name, *given)

    monkeypatch.setattr(columns, "_write", written)
    monkeypatch.setattr(batches.Batches, "_made", relation)
    return found


def rows(folder, names=("revisions", "runs"), **options):
    with open_store([folder], **options) as store:
        return {name: store.rows(name) for name in names}, list(map(str, store.problems)), list(store.notes)


@pytest.mark.slow
def test_logs_of_every_tool_are_read_into_columns_and_compared_once(made):
    for folder in (TOOLS / "gepa", TOOLS / "openevolve", TOOLS / "shinka"):
        without = rows(folder, cache=False)
        made.clear()
        first = rows(folder)
        assert {"text_edits", "changes"} <= set(made), folder
        assert len(set(made)) == len(made), made
        made.clear()
        assert rows(folder) == first == without
        assert made == [], folder


def test_a_log_is_read_once_until_it_changes(tmp_path, made, cache):
    folder = tmp_path / "run-1"
    entries = [entry(place, after=(0, 0, place % 2)) for place in range(4)]
    write_gepa(folder, entries)
    first = rows(folder)
    assert {"gepa", "text_edits", "changes"} <= set(made)
    made.clear()
    assert rows(folder) == first
    assert made == []
    for change in (
        lambda: write_gepa(folder, [*entries, entry(4, after=(1, 1, 1))]),
        lambda: write_gepa(folder, [*entries, entry(4, after=(1, 1, 0))]),
        lambda: write_gepa(folder, [*entries, entry(4, after=(1, 1, 0))], ({"p": "root"}, {"p": "root and more"})),
    ):
        change()
        made.clear()
        assert rows(folder, ["episodes"]) == rows(folder, ["episodes"])
        assert made == ["gepa"]
    assert rows(folder) == rows(folder, cache=False) != first


def test_the_same_log_elsewhere_is_another_run(tmp_path):
    for name in ("a/run-1", "b/run-2"):
        write_gepa(tmp_path / name, [entry(place, after=(0, 0, place % 2)) for place in range(4)])
    for _ in range(2):
        found = [rows(tmp_path / name, ["runs"])[0]["runs"] for name in ("a", "b")]
        assert [[(row["env"], row["run"]) for row in each] for each in found] == [[("a", 1)], [("b", 2)]]
