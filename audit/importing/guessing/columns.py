"""The columns of a log's first rows, also those inside of objects and lists, and the shapes of their values."""

from __future__ import annotations

import glob
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import duckdb

from audit.importing.fields import FieldError, nested
from audit.importing.guessing import names
from audit.importing.mapping import COUNTED, LogMapping
from audit.importing.rows import EACH, is_csv, is_parquet, read_rows
from audit.output.errors import AuditError, UsageError, count
from collector.system.regular_files import open_regular

FIRST: Final = 300
"""Rows that are read of each file."""
FILES: Final = 10
LARGEST: Final = 2**25
"""Characters of the rows of a file beyond which no more are read."""
DEEPEST: Final = 5
WIDEST: Final = 40
"""Entries of an object that are columns of their own."""
SINGLE: Final = frozenset({"flag", "whole", "number", "text"})
LISTS: Final = frozenset({"numbers", "scored"})
BETWEEN_CELLS: Final = (",", ";", "\t", "|")
BETWEEN_NUMBERS: Final = (";", "|", " ")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][+-]?[0-9]+)?|nan")


@dataclass(frozen=True)
class Column:
    """A column of some rows: its name or the path that leads to it, and per row its value, or None, and that as text.

    `shape` is that of all values: `flag`, `whole`, `number`, `text`, `numbers` (a list), `names` (a list of texts),
    `scored` (an object of numbers by name), `texts` (of texts by name), `object` or `mixed`.
    """

    path: str
    values: Sequence[Any]
    spelt: Sequence[str]
    shape: str

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its path."""
        return frozenset(names.words_of(self.path))

    @property
    def present(self) -> list[Any]:
        """The values that are there."""
        return [value for value in self.values if value is not None]

    def distinct(self) -> list[Any]:
        """The values that are there, each once, in the order of the rows."""
        return list({repr(value): value for value in self.present}.values())

    @property
    def is_scalar(self) -> bool:
        """Whether it has one number per row, or `pass` and the like."""
        return self.shape in SINGLE and all(_score(each) is not None for each in self.present)

    def mean(self, row: int) -> float | None:
        """The mean score of a row."""
        items = items_of(self.values[row])
        scores = [score for item in items if (score := _score(item)) is not None]
        return fmean(scores) if scores and len(scores) == len(items) else None


@dataclass(frozen=True, kw_only=True)
class Log:
    """The first rows of a log, all columns by path, the file of each row from 1, and how the files are read."""

    rows: Sequence[Mapping[str, Any]]
    columns: Mapping[str, Column]
    files: Sequence[int]
    several: bool
    faults: int
    source: LogMapping


def spelt(value: Any) -> str:
    """A value as [values] of a mapping names it: text as it is, true and false as in JSON; nothing as empty text."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value).strip()


def items_of(value: Any) -> list[Any]:
    """The items of a list or of an object; of any other value itself."""
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]


def _score(value: Any) -> float | None:
    if isinstance(value, bool | int | float):
        return float(value) if abs(value) < sys.float_info.max else None
    word = str(value).lower()
    return 1.0 if word in names.WON else 0.0 if word in names.LOST else None


def read_log(paths: Sequence[Path]) -> Log:
    """Read the first rows of a log's files, all in the form of the first.

    Raises:
        AuditError: there are no rows.
        UsageError: a file has no header.
    """
    source = _form(paths[0])
    rows: list[Mapping[str, Any]] = []
    files: list[int] = []
    faults = 0
    for number, path in enumerate(paths[:FILES], start=1):
        size = 0
        try:
            for row in islice(read_rows(path, source), FIRST):
                faults += row.fault is not None
                size += len(str(row.cells))
                if row.fault is None:
                    rows.append(row.cells)
                    files.append(number)
                if size > LARGEST:
                    break
        except FieldError as error:
            raise UsageError(f"{path}: {error}") from None
    if not rows:
        what = f"{count(faults, 'row')} cannot be read" if faults else "the file is empty"
        raise AuditError(f"{paths[0]}: no row to guess from: {what}")
    if source.layout == "csv":
        source = replace(source, separator=_separator(paths[0], rows))
    columns, several = _columns(rows, source), len(paths) > 1
    return Log(rows=rows, columns=columns, files=files, several=several, faults=faults, source=source)


def _form(path: Path) -> LogMapping:
    """Whether a file is CSV, and then what is between its cells."""
    source = LogMapping(columns={}, constants={}, values={}, count_from=COUNTED)
    if is_parquet(path, source):
        return replace(source, layout="parquet")
    if not is_csv(path, source):
        with open_regular(path) as stream:
            start = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
        if start.startswith((b"{", b"[")) or path.suffix.lower() in {".jsonl", ".ndjson", ".json"}:
            return replace(source, layout="jsonl")
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        with closing(duckdb.connect()) as connection:
            found = connection.execute("SELECT Delimiter FROM sniff_csv(?)", [glob.escape(str(path))]).fetchone()
    except duckdb.Error:
        found = None
    return replace(source, layout="csv", delimiter=found[0] if found and found[0] in BETWEEN_CELLS else delimiter)


def _separator(path: Path, rows: Sequence[Mapping[str, str]]) -> str | None:
    """What is between the numbers of lists: all cells of some column are numbers with it, one at least two."""
    found = []
    for mark in BETWEEN_NUMBERS:
        columns = ([_numbers(row[name], mark) for row in rows if row.get(name, "").strip()] for name in rows[0])
        if any(None not in lists and any(len(each or ()) > 1 for each in lists) for lists in columns):
            found.append(mark)
    if len(found) > 1:
        raise UsageError(f"{path}: lists have {' and '.join(map(repr, sorted(found)))} between their items")
    return found[0] if found else None


def _columns(rows: Sequence[Mapping[str, Any]], source: LogMapping) -> dict[str, Column]:
    found: dict[str, dict[int, tuple[Any, str]]] = {}
    for number, row in enumerate(rows):
        for name, cell in row.items():
            is_cell = source.layout != "jsonl"
            for path, value in _walk(name, _read(cell, source.separator) if is_cell else cell, DEEPEST):
                found.setdefault(path, {})[number] = value, spelt(cell if is_cell and path == name else value)
    columns = {path: [cells.get(row, (None, "")) for row in range(len(rows))] for path, cells in found.items()}
    shapes = {path: _shape_of([value for value, _ in cells.values()]) for path, cells in found.items()}
    return {
        path: Column(path, [value for value, _ in cells], [text for _, text in cells], shapes[path])
        for path, cells in columns.items()
    }


def _walk(path: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """A value and, where it is an object, a list of objects or a list of two, what is inside."""
    value = nested(value) if isinstance(value, str) else value
    if value is not None:
        yield path, value
    inside: dict[Any, Any] = {}
    if isinstance(value, dict) and len(value) <= WIDEST and _shape(value) != "texts":
        # Scores by the names of examples are one column; other numbers are one each.
        inside = {} if _shape(value) == "scored" and names.SCORES & set(names.words_of(path)) else value
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        inside = {f"{EACH}.{name}": [item.get(name) for item in value] for item in value for name in item}
    elif isinstance(value, list) and len(value) == 2 and _shape(value) != "numbers":
        inside = dict(enumerate(value))
    for name, entry in inside.items() if depth else ():
        yield from _walk(f"{path}.{name}", entry, depth - 1)


def _read(cell: str, separator: str | None) -> Any:
    """A cell as JSON would have it."""
    numbers = _numbers(cell, separator) if separator else None
    if numbers is None or len(numbers) == 1:
        numbers = _numbers(cell, "\n")
        return numbers[0] if numbers else {"": None, "true": True, "false": False}.get(cell.strip().lower(), cell)
    return numbers


def _numbers(cell: str, mark: str) -> list[int | float] | None:
    """The numbers of a cell; None if there is anything else."""
    parts = [part.strip() for part in (cell if mark == "\n" else cell.strip("[] ")).split(mark)]
    if not all(map(_NUMBER.fullmatch, parts)):
        return None
    whole = [part.lstrip("+-").isdecimal() and len(part) < 16 for part in parts]
    return [
        int(part) if is_whole else float(part.replace(",", ".")) for part, is_whole in zip(parts, whole, strict=True)
    ]


def _shape_of(values: Sequence[Any]) -> str:
    """The shape that all values have; lists and objects may be empty in some rows."""
    shapes = {"empty" if value in ([], {}) else _shape(value) for value in values}
    if not shapes & SINGLE:
        shapes.discard("empty")
    return "number" if shapes == {"whole", "number"} else shapes.pop() if len(shapes) == 1 else "mixed"


def _shape(value: Any) -> str:
    if isinstance(value, dict):
        words = {word for name in value for word in names.words_of(name)}
        if value and all(isinstance(entry, int | float) for entry in value.values()):
            return "object" if words & (names.SCORES | names.COSTS | names.MEASURES | names.LABELS) else "scored"
        is_texts = value and all(isinstance(entry, str) for entry in value.values())
        return "texts" if is_texts and not words & (names.MEASURES | names.LABELS | names.NO_TEXTS) else "object"
    if isinstance(value, list):
        kinds = {"numbers" if isinstance(item, int | float) else type(item).__name__ for item in value}
        return "numbers" if kinds == {"numbers"} else "names" if kinds == {"str"} else "mixed"
    if isinstance(value, float):
        return "whole" if value.is_integer() and abs(value) < 2**53 else "number"
    return {bool: "flag", int: "whole", str: "text"}.get(type(value), "mixed")
