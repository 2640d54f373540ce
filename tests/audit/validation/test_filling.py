"""Filling in a sheet: one field of the file changes and nothing else, and never behind another program's back."""

from __future__ import annotations

import csv
import io
import os
import signal
import stat
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.output.errors import AuditError
from audit.validation.coding.codes import CODES
from audit.validation.coding.csv_file import CsvFile
from audit.validation.coding.filling import LONGEST_NOTE, ChangedError, Filling
from audit.validation.coding.guide import guide
from audit.validation.coding.labels import read_labels

HEADER = (
    "condition,env,variant,run,iteration,coder,mentions_worst,mentions_median,mentions_best,discounts_worst,driver,note"
)
EMPTY = ",,,,,"
CODED = "1,0,0,0,worst,"


def line(iteration, codes=EMPTY, coder="A"):
    return f"hand,cartpole,threetraj,1,{iteration},{coder},{codes}"


def write(path, *lines, header=HEADER, end="\n", start=b""):
    path.write_bytes(start + end.join([header, *lines, ""]).encode())
    return path


@pytest.fixture
def sheet(tmp_path):
    return write(tmp_path / "labels.csv", line(0), line(1, coder="B"), line(2), line(0, coder="B"))


def values(text, separator=","):
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


def fill_all(path, coder):
    filling = Filling.opened([path], coder)
    for row in filling.read().rows:
        for column, codes in CODES.items():
            filling.fill(row.label.line, column, codes[0], filling.read().version)


def test_a_code_changes_its_field_alone(sheet):
    before = sheet.read_text().split("\n")
    filling = Filling.opened([sheet], "A")
    rows = filling.fill(4, "driver", "shared", filling.read().version)
    after = sheet.read_text().split("\n")
    assert after == [*before[:3], line(2, ",,,,shared,"), *before[4:]]
    assert rows == filling.read()
    assert [row.label.codes for row in rows.rows] == [{}, {"driver": "shared"}]
    assert filling.fill(4, "driver", "", rows.version).done == 0
    assert sheet.read_text().split("\n") == before


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_mark_separators_and_line_ends_stay(tmp_path, end, start, separator):
    lines = [each.replace(",", separator) for each in (HEADER, line(0), line(1, '1,0,0,0,worst,"a ""b"""'), line(2))]
    path = write(tmp_path / "labels.csv", *lines[1:], header=lines[0], end=end, start=start)
    filling = Filling.opened([path], None)
    filling.fill(2, "driver", "none", filling.read().version)
    lines[1] = line(0, ",,,,none,").replace(",", separator)
    assert path.read_bytes() == start + end.join([*lines, ""]).encode()


def test_rows_that_are_too_short_get_the_fields_that_they_lack(tmp_path):
    path = write(tmp_path / "labels.csv", line(0, "1"), line(1, "1"))
    filling = Filling.opened([path], None)
    filling.fill(2, "driver", "best", filling.read().version)
    assert path.read_text() == "\n".join([HEADER, line(0, "1,,,,best"), line(1, "1"), ""])


@given(
    cells=st.lists(
        st.lists(st.text(st.sampled_from("ab ,;\"'\n\r\t=é\u2028\x0b"), max_size=5), min_size=3, max_size=3)
    ),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    value=st.text(st.sampled_from('ab ,;"\n\t'), max_size=5),
    data=st.data(),
)
def test_any_field_of_any_file_can_be_replaced(tmp_path_factory, cells, quoting, value, data):
    stream = io.StringIO(newline="")
    rows = [["first", "second", "third"], *cells]
    csv.writer(stream, quoting=quoting).writerows(rows)
    file = CsvFile(tmp_path_factory.getbasetemp() / "any.csv", stream.getvalue().encode())
    records = list(file.records())
    assert [record.values for record in records] == rows
    row, place = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, 2))
    if row == 0:
        value = "name"
    rows[row][place] = value
    assert values(file.with_value(records[row], place, value).text) == rows


def test_a_file_that_another_program_wrote_is_left_alone(sheet):
    filling = Filling.opened([sheet], "A")
    version = filling.read().version
    sheet.write_text(sheet.read_text().replace(line(1, coder="B"), line(1, CODED, coder="B")))
    theirs = sheet.read_bytes()
    with pytest.raises(ChangedError, match="changed on disk"):
        filling.fill(2, "driver", "worst", version)
    assert sheet.read_bytes() == theirs
    filling.fill(2, "driver", "worst", filling.read().version)
    assert [row.codes.get("driver") for row in read_labels(sheet).rows] == ["worst", "worst", None, None]


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        (3, "driver", "worst"),  # the other coder's
        (1, "driver", "worst"),
        (9, "driver", "worst"),
        (2, "driver", "wrost"),
        (2, "coder", "B"),
        (2, "condition", "1"),
        (2, "mentions_worst", "1\n2"),
        (2, "note", "a" * (LONGEST_NOTE + 1)),
    ],
)
def test_nothing_but_codes_in_ones_own_rows_is_written(sheet, row, column, value):
    before = sheet.read_bytes()
    filling = Filling.opened([sheet], "A")
    with pytest.raises(AuditError):
        filling.fill(row, column, value, filling.read().version)
    assert sheet.read_bytes() == before


def test_notes_are_cells_of_a_spreadsheet_and_stay_as_they_are_when_saved_again(sheet):
    filling = Filling.opened([sheet], "A")
    for note in ("=1+1", "'=1+1", 'two\nlines, "quoted"', "\x1b[31m"):
        filling.fill(2, "note", note, filling.read().version)
        (first, _) = filling.read().rows
        assert first.values["note"] == {"=1+1": "'=1+1", "\x1b[31m": r"\x1b[31m"}.get(note, note)


def test_a_row_is_done_with_all_codes_or_with_a_note_alone(sheet):
    filling = Filling.opened([sheet], "A")
    assert filling.fill(2, "note", "cannot be read", filling.read().version).done == 1
    assert filling.fill(2, "driver", "worst", filling.read().version).done == 0
    fill_all(sheet, "A")
    assert filling.read().done == 2
    assert {name: rows.done for name, rows in filling.by_coder().items()} == {"A": 2, "B": 0}


def test_the_other_coder_is_read_from_the_second_file(sheet, tmp_path):
    copy = tmp_path / "second.csv"
    copy.write_bytes(sheet.read_bytes())
    fill_all(copy, "B")
    before = copy.read_bytes()
    filling = Filling.opened([sheet, copy], "A")
    filling.fill(2, "driver", "worst", filling.read().version)
    assert {name: rows.done for name, rows in filling.by_coder().items()} == {"A": 0, "B": 2}
    assert copy.read_bytes() == before


def test_mode_and_links_stay_and_nothing_else_is_left(sheet, tmp_path):
    sheet.chmod(0o640)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = folder / "labels.csv"
    link.symlink_to(sheet)
    filling = Filling.opened([link], "A")
    filling.fill(2, "driver", "worst", filling.read().version)
    assert link.is_symlink()
    assert stat.S_IMODE(sheet.stat().st_mode) == 0o640
    assert sorted(path.name for path in (*tmp_path.iterdir(), *folder.iterdir())) == [
        "elsewhere",
        "labels.csv",
        "labels.csv",
    ]


def test_a_file_that_cannot_be_replaced_is_as_it_was(sheet, tmp_path, monkeypatch):
    before = sheet.read_bytes()
    filling = Filling.opened([sheet], "A")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(AuditError, match=r"cannot write .*: No space left on device"):
        filling.fill(2, "driver", "worst", filling.read().version)
    assert sheet.read_bytes() == before
    assert list(tmp_path.iterdir()) == [sheet]


KILLED = """
import os, signal, sys
from audit.validation.coding.filling import Filling
from pathlib import Path
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
filling = Filling.opened([Path(sys.argv[1])], "A")
filling.fill(2, "driver", "worst", filling.read().version)
"""


def test_a_killed_viewer_leaves_the_sheet_as_it_was(sheet):
    before = sheet.read_bytes()
    command = [sys.executable, "-c", KILLED, str(sheet)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert sheet.read_bytes() == before


def test_whose_rows_they_are_must_be_clear(sheet, tmp_path):
    alone = write(tmp_path / "a.csv", line(0))
    assert Filling.opened([alone], None).coder == "A"
    for paths, coder, message in (
        ([sheet], None, "rows of A, B; name one with --coder"),
        ([sheet], "C", "no row of --coder C"),
        ([sheet, sheet], "A", "twice"),
        ([sheet, sheet, sheet], "A", "two files at most"),
        ([sheet, alone], "A", "no row of another coder than A"),
        ([write(tmp_path / "empty.csv")], None, "no row of any coder"),
        ([tmp_path / "none.csv"], None, "No such file"),
    ):
        with pytest.raises(AuditError, match=message):
            Filling.opened(paths, coder)


def test_every_column_has_its_section_of_the_guide():
    sections = guide(CODES)
    assert [section.columns for section in sections] == [
        [],
        ["mentions_worst", "mentions_median", "mentions_best"],
        ["discounts_worst"],
        ["driver"],
        [],
    ]
    assert all(f"| `{driver}` |" in sections[3].text for driver in CODES["driver"])
    assert "Work blind" in sections[0].text
