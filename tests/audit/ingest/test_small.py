"""Small data sets are read into tables at once, larger ones of which nothing is kept into one of their records, and the
largest through columns in files: with the same results.
"""

from __future__ import annotations

import shutil

import pytest

from audit.engine import database as database_module
from audit.engine.catalog import public
from audit.ingest import gathering as gathering_module
from audit.store import open_store
from tests.audit.samples import REAL, candidate, episode, revision, write_run


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two runs, lines that are no records, an iteration twice, and a copied file that holds one once more."""
    root = tmp_path_factory.mktemp("small")
    for run in (1, 2):
        rows = [
            revision([1, 5, 9], [2, 2, run], after=(1, 2.5, 3), answer="The worst rollout fell.", iteration=0, run=run),
            revision([1, 5, 9], [6, 6, 6], answer="ünï\u2028code \x1b[31m", iteration=1, run=run),
            episode(candidate([7, 7, 7]), None, iteration=2, run=run),
        ]
        write_run(root / f"run-{run}", [*rows, rows[0]], tail=b'{"no": "record"}\n{"torn')
    shutil.copytree(root / "run-1", root / "copy of 1")
    return root


def audited(path, way, detector="word", names=None):
    """What is read in one of three ways: all in tables, the records in one, or columns in files."""
    with pytest.MonkeyPatch.context() as patch:
        if way != "tables":
            patch.setattr(gathering_module, "SMALLEST", 0)
        if way == "files":
            patch.setattr(gathering_module, "HELD", 0)
        with open_store([path], cache=False, detector=detector) as store:
            database = store._database
            assert (database.is_small, database.has_segments) == (way == "tables", way != "files")
            relations = {name: sorted(map(repr, store.rows(name))) for name in names or public()}
            types = {name: (store.relation(name).columns, store.relation(name).types) for name in names or public()}
            return relations, types, store.problems, store.notes


def test_every_relation_has_the_same_rows_in_each_way(data):
    small, held, large = (audited(data, way) for way in ("tables", "records", "files"))
    for one, other, another in zip(small, held, large, strict=True):
        assert one == other == another
    assert len(small[0]["revisions"]) == 4
    # Of each of three files a line twice, one of another form and a torn one; and the three iterations of the copy.
    assert len(small[2]) == 3 * 3 + 3


def test_so_it_has_by_a_detector_in_python(data):
    small, held, large = (
        audited(data, way, "resolved", ("references", "mentions")) for way in ("tables", "records", "files")
    )
    assert small == held == large
    assert small[0]["references"]


@pytest.mark.slow
def test_so_has_every_other_by_that_detector(data):
    assert audited(data, "tables", "resolved") == audited(data, "records", "resolved")
    assert audited(data, "tables", "resolved") == audited(data, "files", "resolved")


@pytest.mark.slow
def test_so_has_the_data_set_of_a_large_model():
    assert audited(REAL, "tables") == audited(REAL, "records") == audited(REAL, "files")


def test_what_is_not_kept_becomes_no_file_where_it_fits_into_the_memory(data, monkeypatch):
    monkeypatch.setattr(gathering_module, "SMALLEST", 0)
    size = sum(file.stat().st_size for file in data.rglob("episodes.jsonl"))
    written, write = [], database_module.Database.write
    monkeypatch.setattr(
        database_module.Database, "write", lambda self, name, path: written.append(name) or write(self, name, path)
    )
    for room, expected in ((4 * size, []), (4 * size - 1, ["judged"])):
        monkeypatch.setattr(gathering_module, "room", lambda room=room: room)
        written.clear()
        with open_store([data], cache=False) as store:
            assert store.rows("salience")
        assert sorted(set(written)) == expected


def test_what_is_suspect_is_found_in_the_table_and_not_by_judging_all_lines_again(data):
    with open_store([data / "run-1"], cache=False) as store:
        assert store._database.is_small
        assert "from segments" in store._database._text("written")


def test_a_table_is_made_anew_after_a_variable_that_it_reads_was_set(tmp_path):
    database = database_module.Database(tmp_path)
    database.hold()
    for name, runs in (("one", 1), ("two", 2)):
        file = tmp_path / f"{name}.jsonl"
        file.write_text("".join(f'{{"condition": "{name}", "run": {run}}}\n' for run in range(runs)))
        database.set("run_file", file)
        database.set("override_file", file)
        assert database.relation("run_records").select("condition, run").order("run").fetchall() == [
            (name, run) for run in range(runs)
        ]
    database.close()


def test_appended_rows_stay_when_variables_are_set(tmp_path):
    database = database_module.Database(tmp_path)
    database.hold()
    for name in ("one", "two"):
        file = tmp_path / f"{name}.jsonl"
        file.write_text(f'{{"condition": "{name}"}}\n')
        database.set("skipped_file", file)
        database.append("segments", "skipped", segment=name)
    database.set("segments", [])
    assert database.relation("segments").select("condition, segment").fetchall() == [("one", "one"), ("two", "two")]
    database.close()
