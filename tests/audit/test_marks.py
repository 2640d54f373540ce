"""Stars, tags and notes: merged in any order, damaged lines left out, and read by `audit revisions`."""

from __future__ import annotations

import itertools
import json
import os
import shutil

import msgspec
import pytest

import audit
from audit.marks.marks import NAME, Marks, marks_for
from audit.output.errors import AuditError, UsageError
from audit.records.cache import state_of
from audit.vocabulary.keys import RevisionKey
from tests.audit.sources.tool_folders import TOOLS
from tests.audit.viewer.records import write_records

KEY = RevisionKey("one", "cartpole", "threetraj", 1, 2)
OTHER = RevisionKey("two", "pong", "threetraj", 1, 3)


def line(number: int, **change) -> bytes:
    at = f"2026-01-01T00:00:{number:02}Z"
    return msgspec.json.encode({"id": f"{number}", "at": at, "revision": list(KEY), **change}) + b"\n"


def test_what_was_written_is_read(tmp_path) -> None:
    marks = Marks(tmp_path / NAME)
    assert marks.all() == {}
    marks.add(KEY, star=True)
    marks.add(KEY, tag="odd one")
    marks.add(OTHER, tag="late")
    marks.add(OTHER, note="a line\nand another")
    for read in (marks, Marks(tmp_path / NAME)):
        assert read.chosen(starred=True) == [KEY]
        assert read.chosen(tags=["late", "odd one"]) == [KEY, OTHER]
        assert read.all()[OTHER].note == "a line\nand another"
    marks.add(KEY, tag="odd one", removed=True)
    marks.add(KEY, star=False)
    assert KEY not in marks.all()


def test_the_order_of_lines_and_repetitions_do_not_matter(tmp_path) -> None:
    lines = [line(1, tag="a"), line(2, tag="a", removed=True), line(3, tag="b"), line(4, star=True)]
    for order in itertools.permutations(lines):
        (tmp_path / NAME).write_bytes(b"".join([*order, order[0]]))
        mark = Marks(tmp_path / NAME).all()[KEY]
        assert (mark.star, mark.tags) == (True, {"b"})


@pytest.mark.parametrize("tag", ["", " a", "a ", "a\nb", "\x1b[31m", "a" * 65, "a\u202eb", "a\u2028b", "\x00"])
def test_what_is_no_tag_is_refused(tmp_path, tag) -> None:
    with pytest.raises(UsageError, match="a tag has"):
        Marks(tmp_path / NAME).add(KEY, tag=tag)
    assert not (tmp_path / NAME).exists()


def test_the_files_of_two_people_are_one_in_either_order(tmp_path) -> None:
    files = []
    for author in ("ann", "ben"):
        marks = Marks(tmp_path / f"{author}.jsonl", author)
        marks.add(KEY, OTHER, tag=f"{author}'s")
        marks.add(KEY, note=f"by {author}")
        marks.add(OTHER, star=author == "ben")
        files.append(marks.path.read_bytes())
    both = [tmp_path / name for name in ("one.jsonl", "two.jsonl")]
    both[0].write_bytes(files[0] + files[1])
    both[1].write_bytes(files[1] + files[0] + files[1])
    one, two = (Marks(path).all() for path in both)
    assert one == two
    assert (one[KEY].tags, one[KEY].note, one[OTHER].star) == ({"ann's", "ben's"}, "by ben", True)
    assert {json.loads(line)["author"] for line in (files[0] + files[1]).splitlines()} == {"ann", "ben"}


@pytest.mark.parametrize(
    "odd",
    [
        line(2, tag="a" * 65),
        line(2, tag="a\nb"),
        line(2, tag="\x1b[31mred"),
        line(2, note="a" * 10_001),
        line(2, revision=["one"]),
        line(2, revision=[*KEY[:4], 2**64]),
        line(2, tag="b").replace(b"Z", b""),
        b"[" * 100_000 + b"\n",
        b'"\xff"\n',
        b"null\n",
    ],
)
def test_lines_that_are_no_marks_are_named_and_left_alone(tmp_path, odd) -> None:
    path = tmp_path / NAME
    path.write_bytes(line(1, tag="a") + odd + line(3, star=True))
    marks = Marks(path)
    assert {key: (mark.star, mark.tags) for key, mark in marks.all().items()} == {KEY: (True, {"a"})}
    assert [each.line for each in marks.problems] == [2]
    marks.add(OTHER, star=True)
    assert path.read_bytes().startswith(line(1, tag="a") + odd)
    with path.open("ab") as torn:
        torn.write(line(4, tag="b")[:30])
    marks.add(KEY, tag="c")
    assert (marks.all()[KEY].tags, [each.line for each in marks.problems]) == ({"a", "c"}, [2, 5])


def test_what_another_wrote_is_read_again(tmp_path) -> None:
    marks, other = Marks(tmp_path / NAME), Marks(tmp_path / NAME)
    marks.add(KEY, star=True)
    assert other.all()[KEY].star
    marks.add(KEY, star=False)
    assert other.all() == {}
    marks.path.unlink()
    assert (other.all(), other.problems) == ({}, [])


def test_where_nothing_can_be_written_and_by_whom_not(tmp_path, monkeypatch) -> None:
    with pytest.raises(AuditError, match="cannot be written"):
        Marks(tmp_path / "none" / NAME).add(KEY, star=True)
    assert marks_for([tmp_path / "records.tar"]) is None
    with pytest.raises(UsageError, match="none is not a folder"):
        marks_for([tmp_path], tmp_path / "none" / "marks.jsonl")
    for author in ("", "a" * 65, "a\nb"):
        with pytest.raises(UsageError, match="author"):
            Marks(tmp_path / NAME, author)
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    marks = marks_for([tmp_path])
    assert "cannot be written; name another file with --marks" in marks.why_not()
    with pytest.raises(AuditError, match="cannot be written"):
        marks.add(KEY, star=True)


def test_a_link_in_a_folder_is_not_written_through(tmp_path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("kept\n")
    (tmp_path / NAME).symlink_to(target)
    with pytest.raises(AuditError, match="is a link"):
        marks_for([tmp_path]).add(KEY, star=True)
    assert target.read_text() == "kept\n"
    marks_for([tmp_path], tmp_path / NAME).add(KEY, star=True)
    assert target.read_text().startswith("kept\n{")


def test_marks_as_columns_and_from_another_file(tmp_path) -> None:
    folder = write_records(tmp_path / "runs", runs=1)
    file = tmp_path / "mine.jsonl"
    marks = Marks(file)
    marks.add(KEY, tag="b'c")
    marks.add(KEY, tag="a")
    marks.add(KEY, note="zero\x00 and 'quotes'\n")
    marks.add(RevisionKey("no", "such", "revision", 1, 1), star=True)
    table = audit.revisions(folder, cache=False, with_marks=True, marks=file)
    [marked] = [row for row in table.rows if row["tags"]]
    assert (marked["star"], marked["tags"], marked["note"]) == (False, ["a", "b'c"], "zero\x00 and 'quotes'\n")
    assert len(table.rows) == 64
    assert "tags" not in audit.revisions(folder, cache=False).columns
    for options, found in (
        ({"tag": ["b'c"]}, [KEY]),
        ({"tag": ["b'c", "none"]}, [KEY]),
        ({"starred": True}, []),
        ({"tag": "a", "starred": True}, []),
    ):
        rows = audit.revisions(folder, cache=False, marks=file, **options).rows
        assert [tuple(row[name] for name in RevisionKey._fields) for row in rows] == found
    assert {row["note"] for row in audit.revisions(folder, cache=False, with_marks=True).rows} == {""}
    with pytest.raises(UsageError, match="give one of them"):
        audit.revisions(folder, cache=False, marks=file)
    with pytest.raises(AuditError, match="no such file"):
        audit.revisions(folder, cache=False, tag=["a"], marks=tmp_path / "none")


@pytest.mark.parametrize("records", ["native", "gepa-merge", "gepa-agent", "openevolve"])
def test_the_file_is_no_record_and_changes_no_analysis(tmp_path, records) -> None:
    folder = tmp_path / "runs"
    if records == "native":
        write_records(folder, runs=1)
    else:
        shutil.copytree(TOOLS / records, folder)
    kinds = {}
    for marked in (False, True):
        if marked:
            for place in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
                (place / NAME).write_bytes(line(1, tag="a") + b"{torn")
        with audit.open(folder, cache=False) as store:
            kinds[marked] = (store.rows("revisions"), store.problems, store.notes)
    assert kinds[False] == kinds[True]
    assert kinds[True][0]
    state, _ = state_of([folder])
    for path in folder.rglob(NAME):
        path.unlink()
    assert state_of([folder])[0] == state
