"""ShinkaEvolve's database: read beside a live writer, without a trace of it in the folder."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
import sqlite3
import tarfile

import pytest

from audit.output.errors import AuditError
from audit.records.lines import open_records
from audit.sources import sqlite_copies
from audit.sources.prompts import prompts_of
from tests.audit.sources.tool_folders import TOOLS, listing, read

FOLDER = TOOLS / "shinka"


def programs():
    with contextlib.closing(
        sqlite3.connect(f"file:{FOLDER}/programs.sqlite?mode=ro&immutable=1", uri=True)
    ) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute("select * from programs order by generation, timestamp")]


@pytest.fixture
def copy(tmp_path):
    folder = tmp_path / "shinka"
    folder.mkdir()
    shutil.copyfile(FOLDER / "programs.sqlite", folder / "programs.sqlite")
    return folder


def change(folder, *statements):
    with contextlib.closing(sqlite3.connect(folder / "programs.sqlite")) as database:
        for statement in statements:
            database.execute(*statement)
        database.commit()


def test_a_program_with_a_parent_is_an_iteration():
    before = listing(FOLDER)
    rows, problems, _ = read(FOLDER)
    assert (problems, listing(FOLDER)) == ([], before)
    known = {each["id"]: each for each in programs()}
    children = [each for each in known.values() if each["parent_id"]]
    assert [row["iteration"] for row in rows] == [each["generation"] for each in children]
    for row, child in zip(rows, children, strict=True):
        parent, call = known[child["parent_id"]], json.loads(child["metadata"])["llm_result"]
        assert row["initial"]["text"] == {"program": parent["code"]}
        assert row["revised"]["text"] == {"program": child["code"]}
        assert row["revised"]["answer"] == call["content"]
        assert row["revised"]["thinking"] == (call["thought"] or None)
        assert (row["initial"]["mean_return"], row["revised"]["mean_return"]) == (
            parent["combined_score"],
            child["combined_score"],
        )
        ids = [*json.loads(child["archive_inspiration_ids"]), *json.loads(child["top_k_inspiration_ids"])]
        assert sorted(each["return"] for each in row["shown"] or []) == sorted(
            known[each]["combined_score"] for each in ids
        )
        places = [call["msg"].find(each["text"].strip()) for each in row["shown"] or []]
        assert places == sorted(places)
        assert -1 not in places


def test_programs_that_do_not_run_are_counted(copy):
    change(copy, ("update programs set correct = 0 where generation in (1, 2)",))
    _, _, notes = read(copy)
    assert any("2 of 5 programs did not run correctly" in note for note in notes)


def insert(folder, like, **changed):
    """A row like another one but for some columns."""
    row = next(each for each in programs() if each["generation"] == like)
    row |= changed | {"metadata": json.dumps(json.loads(row["metadata"]) | changed["metadata"])}
    change(folder, (f"insert into programs values ({', '.join('?' * len(row))})", list(row.values())))


def test_copies_of_a_new_island_are_neither_revisions_nor_parents(copy):
    known = {each["generation"]: each["id"] for each in programs()}
    spawned = {"_spawned_island": True, "_spawned_from_program_id": known[1]}
    insert(copy, 1, id="root", parent_id=None, metadata=spawned)
    insert(copy, 4, id="child", parent_id="root", metadata=spawned | {"_spawned_from_program_id": known[4]})
    change(copy, ("update programs set parent_id = 'child' where generation = 5",))
    rows, problems, notes = read(copy)
    before = read(FOLDER)[0]
    assert [row["iteration"] for row in rows] == [row["iteration"] for row in before]
    assert (rows[-1]["initial"]["text"], problems) == ({"program": programs()[-2]["code"]}, [])
    assert any("left out: 3 copies that ShinkaEvolve made" in note for note in notes)


@pytest.mark.parametrize(
    "mark",
    [
        {"failure_stage": "proposal"},
        {"failure_stage": "evaluation_submit", "failure_persisted": True},
        {"results_missing": True},
        {"error_attempt": "Max attempts reached"},
    ],
)
def test_a_generation_that_never_ran_is_an_unreadable_answer(mark, copy):
    insert(copy, 5, id="failed", generation=6, combined_score=0.0, correct=0, code="", metadata=mark)
    insert(copy, 5, id="wrong", generation=7, combined_score=0.0, correct=0, metadata={"results_missing": False})
    rows, problems, notes = read(copy)
    assert problems == []
    assert [(row["revised"] or {}).get("mean_return") for row in rows][-2:] == [None, 0.0]
    assert any("1 generation never ran" in note for note in notes)


def test_a_live_writer_is_read_up_to_its_last_commit_and_not_disturbed(copy):
    with contextlib.closing(sqlite3.connect(copy / "programs.sqlite")) as writer:
        writer.execute("pragma journal_mode = wal")
        writer.execute("pragma wal_autocheckpoint = 0")
        writer.execute("update programs set combined_score = 0.75 where generation = 3")
        writer.commit()
        writer.execute("update programs set combined_score = 9 where generation = 3")
        before = listing(copy)
        assert copy / "programs.sqlite-wal" in before
        rows, problems, _ = read(copy)
        assert listing(copy) == before
        writer.rollback()
    assert problems == []
    assert [row["revised"]["mean_return"] for row in rows if row["iteration"] == 3] == [0.75]


def test_the_journal_of_a_writer_that_is_gone_is_used_and_left_as_it_is(copy, tmp_path):
    left = tmp_path / "left"
    left.mkdir()
    with contextlib.closing(sqlite3.connect(copy / "programs.sqlite")) as writer:
        writer.execute("pragma journal_mode = wal")
        writer.execute("pragma wal_autocheckpoint = 0")
        writer.execute("update programs set combined_score = 0.75 where generation = 3")
        writer.commit()
        for name in ("programs.sqlite", "programs.sqlite-wal"):
            shutil.copyfile(copy / name, left / name)
    with tarfile.open(tmp_path / "left.tar", "w") as archive:
        archive.add(left, "left")
    before = listing(left)
    for path in (left, tmp_path / "left.tar"):
        rows, problems, _ = read(path)
        assert problems == []
        assert [row["revised"]["mean_return"] for row in rows if row["iteration"] == 3] == [0.75]
    assert listing(left) == before


def test_a_row_that_cannot_be_used_is_named(tmp_path):
    cases = [
        ("metadata = '[torn'", "metadata is not JSON: '[torn'"),
        ("metadata = 'null'", "metadata is not an object: null"),
        ("archive_inspiration_ids = '7'", "archive_inspiration_ids is not a list: 7"),
        ("top_k_inspiration_ids = '[\"x\"]'", "a program that its prompt shows is not in the database: 'x'"),
        ("code = ''", "code is empty"),
        ("code = x'ff'", "code is not a text"),
        ("timestamp = 'x'", "timestamp is not a number: 'x'"),
        ("parent_id = null", "it has no parent"),
        ("parent_id = id", "its parent is not an earlier program: '"),
        ("combined_score = null", "a score is not a finite number"),
        ("combined_score = 'high'", "a score is not a finite number"),
        ("parent_id = 'gone'", "its parent is not in the database, or cannot be used: 'gone'"),
        ("generation = -1", "generation is not a number from 0"),
    ]
    for number, (changed, _) in enumerate(cases):
        folder = tmp_path / f"run-{number}"
        folder.mkdir()
        shutil.copyfile(FOLDER / "programs.sqlite", folder / "programs.sqlite")
        change(folder, (f"update programs set {changed} where generation = 2",))
        # Scores of its own, so that none is a copy of another.
        change(folder, (f"update programs set combined_score = combined_score + {number} where generation <> 2",))
    rows, problems, _ = read(*(tmp_path / f"run-{number}" for number in range(len(cases))))
    for number, (changed, message) in enumerate(cases):
        iterations = {row["iteration"] for row in rows if f"/run-{number}/" in row["file"]}
        assert (1 in iterations, 2 in iterations) == (True, False), changed
        assert message in next(each for each in problems if f"/run-{number}/" in each)


def test_a_first_program_with_a_parent_is_not_left_out(copy):
    whole = [row["iteration"] for row in read(copy)[0]]
    last = "(select id from programs order by generation desc limit 1)"
    change(copy, (f"update programs set parent_id = {last} where generation = 0 and parent_id is null",))
    rows, problems, _ = read(copy)
    assert [row["iteration"] for row in rows] == whole
    assert [each.rpartition("; ")[2] for each in problems] == ["taken for the first program"]


@pytest.mark.parametrize("content", [b"", b"no database" * 500, None])
def test_what_is_no_such_database_is_one_line(content, copy):
    path = copy / "programs.sqlite"
    if content is None:
        change(copy, ("drop table programs",), ("create view programs as select 1 as id",))
    else:
        path.write_bytes(content)
    with pytest.raises(AuditError, match=r"programs\.sqlite: cannot be read") as error:
        read(copy)
    assert str(error.value).count("\n") == 1


def test_prompts_are_found_where_those_of_native_runs_are():
    with open_records([FOLDER]) as records:
        (run,) = records.runs
        found = list(prompts_of(run.files, list(records.iterations(run))))
    calls = [json.loads(each["metadata"])["llm_result"] for each in programs() if each["parent_id"]]
    assert found == [f"{call['system_msg']}\n\n{call['msg']}" for call in calls]


def test_a_database_that_never_rests_is_one_line(copy, monkeypatch):
    states = itertools.count()
    monkeypatch.setattr(sqlite_copies, "_state", lambda _: next(states))
    monkeypatch.setattr(sqlite_copies, "_PAUSE", 0)
    with pytest.raises(AuditError, match="changes faster than it can be copied"):
        read(copy)
