"""A sample of a log's rows, and in which form its file is."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from audit.importing.decimals import COMMA, POINT, mark_of
from audit.importing.fields import FieldError
from audit.importing.mapping import COUNTED, Decimal, Layout, LogMapping
from audit.importing.rows import is_csv, read_rows
from audit.output.errors import AuditError, UsageError, count
from collector.system.regular_files import open_regular

FIRST: Final = 300
"""Rows that are read of the first file."""
FURTHER: Final = 50
"""Rows that are read of each further file, up to `FILES` files."""
FILES: Final = 10
LARGEST: Final = 2**25
"""Characters of the rows of a file beyond which no more are read."""
DELIMITERS: Final = (",", ";", "\t", "|")
PROBED: Final = 50
EMPTY: Final = LogMapping(columns={}, constants={}, values={}, count_from=COUNTED)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Rows of a log.

    Attributes:
        rows: cells by column.
        files: of which file each row is, from 1.
        several: whether the log has several files.
        faults: rows that cannot be read.
        source: how the files are read.
        reasons: why so, for what a mapping must state.
        is_whole: whether these are all rows.
    """

    rows: Sequence[Mapping[str, Any]]
    files: Sequence[int]
    several: bool
    faults: int
    source: LogMapping
    is_whole: bool
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_table(self) -> bool:
        """Whether cells are text."""
        return self.source.layout == "csv"


def sample_of(paths: Sequence[Path], decimal: Decimal | None = None) -> Sample:
    """Read the first rows of a log's files.

    Args:
        paths: the files, all in the form of the first.
        decimal: the mark before decimals, where the user has stated it.

    Raises:
        AuditError: there are no rows.
        UsageError: the form is ambiguous.
    """
    first = paths[0]
    layout, reasons = _layout(first), {}
    source = replace(EMPTY, layout=layout)
    if is_csv(first, EMPTY) != (layout == "csv"):
        reasons["format"] = "what the file begins with"
    if layout == "csv":
        source = replace(source, delimiter=_delimiter(first))
        if source.delimiter != ("\t" if first.suffix.lower() == ".tsv" else ","):
            reasons["delimiter"] = "which splits header and rows into equally many cells"
    rows: list[Mapping[str, Any]] = []
    files: list[int] = []
    faults, is_whole = 0, len(paths) <= FILES
    for number, path in enumerate(paths[:FILES], start=1):
        most = FIRST if number == 1 else FURTHER
        try:
            size = 0
            for row in islice(read_rows(path, source), most + 1):
                size += len(str(row.cells))
                if files.count(number) == most or size > LARGEST:
                    is_whole = False
                    break
                if row.fault is not None:
                    faults += 1
                else:
                    rows.append(row.cells)
                    files.append(number)
        except FieldError as error:
            raise UsageError(f"{path}: {error}") from None
    if not rows:
        what = f"{count(faults, 'row')} cannot be read" if faults else "the file is empty"
        raise AuditError(f"{first}: no row to guess from: {what}")
    if layout == "csv":
        source, more = _numbers(first, rows, source, decimal)
        reasons |= more
    several = len(paths) > 1
    return Sample(
        rows=rows, files=files, several=several, faults=faults, source=source, reasons=reasons, is_whole=is_whole
    )


def _layout(path: Path) -> Layout:
    if is_csv(path, EMPTY):
        return "csv"
    with open_regular(path) as stream:
        start = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"{", b"[")) or path.suffix.lower() in {".jsonl", ".ndjson", ".json"}:
        return "jsonl"
    return "csv"


def _delimiter(path: Path) -> str:
    """The mark that splits the header and the first rows into equally many cells, as many as possible."""
    with open_regular(path) as stream:
        lines = [line.decode("utf-8-sig", errors="surrogateescape") for line in islice(stream, 10 * PROBED)]
    found = {}
    for mark in DELIMITERS:
        try:
            table = [cells for cells in islice(csv.reader(lines, delimiter=mark), PROBED) if cells]
        except csv.Error:
            continue
        if table and len(table[0]) > 1 and all(len(cells) == len(table[0]) for cells in table[:-1]):
            found[mark] = len(table[0])
    best = [mark for mark, cells in found.items() if cells == max(found.values())]
    if len(best) > 1:
        raise UsageError(f"{path}: both {best[0]!r} and {best[1]!r} may be between the cells; write a mapping by hand")
    return best[0] if best else ("\t" if path.suffix.lower() == ".tsv" else ",")


def _numbers(
    path: Path, rows: Sequence[Mapping[str, Any]], source: LogMapping, decimal: Decimal | None
) -> tuple[LogMapping, dict[str, str]]:
    """How numbers and lists of them are written in cells."""
    reasons = {}
    cells = [(name, line, str(cell)) for line, row in enumerate(rows, start=2) for name, cell in row.items()]
    if decimal is None:
        decimal = POINT
        if source.delimiter != COMMA:
            numbers = ((line, part) for _, line, cell in cells for part in (cell.strip(), *_parts(cell)))
            try:
                decimal = mark_of(numbers)
            except FieldError as error:
                raise UsageError(f"{path}: {error}; or give --field source.decimal=, to the guess") from None
    if decimal == COMMA:
        reasons["decimal"] = "numbers such as " + next(
            part
            for _, _, cell in cells
            for part in (cell.strip(), *_parts(cell))
            if _is_number(part, COMMA) and COMMA in part
        )
    columns: dict[str, list[str]] = {}
    for name, _, cell in cells:
        if cell.strip():
            columns.setdefault(name, []).append(cell.strip())
    marks = [
        mark
        for mark in (";", "|", " ", ",")
        if mark != decimal and any(_is_split(each, mark, decimal) for each in columns.values())
    ]
    if len(marks) > 1:
        raise UsageError(
            f"{path}: lists have {marks[0]!r} and {marks[1]!r} between their items; write a mapping by hand"
        )
    if marks:
        reasons["list_separator"] = "the mark between the numbers of a cell"
    return replace(source, decimal=decimal, separator=marks[0] if marks else None), reasons


def _parts(cell: str) -> Iterator[str]:
    for mark in (" ", ";", "|"):
        if mark in cell and len(cell) < 2**12:
            yield from (part.strip("[] ") for part in cell.split(mark))


def _is_number(text: str, decimal: Decimal) -> bool:
    try:
        float(text.replace(",", ".") if decimal == COMMA else text)
    except ValueError:
        return False
    return any(character.isdigit() for character in text)


def _is_split(cells: Sequence[str], mark: str, decimal: Decimal) -> bool:
    """Whether all cells are numbers with a mark between them, some at least two."""
    if not any(mark in cell for cell in cells) or any(cell.startswith("[") and mark == "," for cell in cells):
        return False
    parts = [[part.strip() for part in cell.strip("[] ").split(mark)] for cell in cells]
    return all(_is_number(part, decimal) for each in parts for part in each)
