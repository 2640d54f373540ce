"""Stars, tags and notes: merged in any order, damaged lines left out, and read by `audit revisions`."""

from __future__ import annotations

import itertools

import msgspec
import pytest

import audit
from audit.marks.marks import NAME, Marks, marks_for
from audit.output.errors import AuditError, UsageError
from audit.vocabulary.keys import RevisionKey
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


def test_a_torn_line_is_named_and_the_next_one_is_whole(tmp_path) -> None:
    path = tmp_path / NAME
    path.write_bytes(line(1, tag="a") + line(2, tag="b")[:30])
    marks = Marks(path)
    assert marks.all()[KEY].tags == {"a"}
    assert [each.line for each in marks.problems] == [2]
    marks.add(KEY, tag="c")
    assert marks.all()[KEY].tags == {"a", "c"}
    assert path.read_bytes().count(b"\n") == 3


@pytest.mark.parametrize("tag", ["", " a", "a ", "a\nb", "\x1b[31m", "a" * 65])
def test_what_is_no_tag_is_refused(tmp_path, tag) -> None:
    with pytest.raises(UsageError, match="a tag has"):
        Marks(tmp_path / NAME).add(KEY, tag=tag)
    assert not (tmp_path / NAME).exists()


def test_where_nothing_can_be_written(tmp_path) -> None:
    with pytest.raises(AuditError, match="cannot be written"):
        Marks(tmp_path / "none" / NAME).add(KEY, star=True)
    assert marks_for([tmp_path / "records.tar"]) is None


def test_revisions_with_a_tag(tmp_path) -> None:
    folder = write_records(tmp_path, runs=1)
    assert len(audit.revisions(folder, cache=False).rows) == 64
    marks = Marks(folder / NAME)
    marks.add(KEY, tag="it's")
    marks.add(OTHER, star=True)

    def found(**options):
        return [
            tuple(row[name] for name in RevisionKey._fields)
            for row in audit.revisions(folder, cache=False, **options).rows
        ]

    assert found(tag=["it's"]) == [KEY]
    assert found(starred=True) == [OTHER]
    assert found(tag="it's", starred=True) == []
    with audit.open(folder, cache=False) as store:
        assert store.problems == []
