"""The rows of a log, one at a time: objects of JSON Lines, or lines of CSV under their header."""

from __future__ import annotations

import csv
import difflib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from audit.importing.chats import last_exchange, said
from audit.importing.fields import FieldError, nested
from audit.importing.mapping import ANSWER, PROMPT, LogMapping
from audit.output.escaping import excerpt
from collector.records import LONGEST_LINE
from collector.system.regular_files import open_regular

MISSING: Final = object()
"""The value of a column that a row lacks."""
MOST_NAMED: Final = 30
"""Columns that a message names at most."""
LONGEST_NAME: Final = 100
TOO_LONG: Final = "the line is longer than 16 MiB"

_Lines: TypeAlias = Iterator[tuple[int, bytes | None]]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the log.

    Attributes:
        line: where it begins, from 1.
        cells: its values by column; in CSV all of them are text.
        fault: why it cannot be read, else None.
    """

    line: int
    cells: Mapping[str, Any]
    fault: str | None = None


def read_rows(path: Path, mapping: LogMapping, on_read: Callable[[int], None] = lambda _: None) -> Iterator[Row]:
    """All rows of a file; what is not a row is returned as a fault.

    Args:
        path: the file.
        mapping: states its layout and its columns.
        on_read: called with the bytes of each line that is read.

    Raises:
        FieldError: the file lacks a header, or columns that the mapping names.
        OSError: it cannot be read.
    """
    if is_parquet(path, mapping):
        from audit.importing.parquet_rows import parquet_rows

        return (Row(number, cells) for number, cells in enumerate(parquet_rows(path, mapping.columns.values()), 1))
    lines = _lines(path, on_read)
    return _csv_rows(path, lines, mapping) if is_csv(path, mapping) else _json_rows(lines)


def is_csv(path: Path, mapping: LogMapping) -> bool:
    """Whether the cells of a file are text, by the mapping, or else by the file's ending."""
    if mapping.layout is not None:
        return mapping.layout == "csv"
    return path.suffix.lower() in {".csv", ".tsv"}


def is_parquet(path: Path, mapping: LogMapping) -> bool:
    """Whether a file is a Parquet file, by the mapping, or else by the file's ending."""
    return mapping.layout == "parquet" or (mapping.layout is None and path.suffix.lower() == ".parquet")


EACH: Final = "*"
"""The step of a path that means every item of a list."""


def look_up(cells: Mapping[str, Any], column: str) -> Any:
    """What a row has in a column.

    Args:
        cells: of the row.
        column: its whole name, or a path into objects and lists, also into those that are written as text:
            `candidates.0.theta`, and `examples.*.score` for the score of every item of a list.
    """
    if column in {PROMPT, ANSWER}:
        asked, answer = last_exchange(cells.get("messages"))
        return (asked if column == PROMPT else said(answer)[0]) or MISSING
    return cells[column] if column in cells else _step(cells, column)


def _step(value: Any, path: str) -> Any:
    if isinstance(value, str):
        value = nested(value)
    if isinstance(value, dict):
        if path in value:
            return value[path]
        # Names may have dots themselves.
        dots = [place for place, mark in enumerate(path) if mark == "."]
        heads = [(path[:dot], path[dot + 1 :]) for dot in dots if path[:dot] in value]
        found = (_step(value[head], rest) for head, rest in heads)
        return next((each for each in found if each is not MISSING), MISSING)
    if not isinstance(value, list):
        return MISSING
    step, dot, rest = path.partition(".")
    if step == EACH:
        items = [_step(item, rest) if dot else item for item in value]
        return MISSING if items and all(item is MISSING for item in items) else [_or_none(item) for item in items]
    if not step.isdecimal() or int(step) >= len(value):
        return MISSING
    return _step(value[int(step)], rest) if dot else value[int(step)]


def _or_none(value: Any) -> Any:
    return None if value is MISSING else value


def columns_of(cells: Mapping[str, Any], prefix: str = "", depth: int = 3) -> Iterator[str]:
    """The names of a row's columns, those inside objects with dots."""
    for name, value in cells.items():
        yield f"{prefix}{name}"
        if isinstance(value, dict) and depth > 1:
            yield from columns_of(value, f"{prefix}{name}.", depth - 1)


def lacking(columns: list[str], has: list[str]) -> str:
    """A message that a log lacks columns, with those that it has."""
    absent = "; ".join(f"no column {column!r}{_hint(column, has)}" for column in columns)
    more = ", ..." if len(has) > MOST_NAMED else ""
    names = [name if name.isprintable() and len(name) <= LONGEST_NAME else excerpt(name) for name in has[:MOST_NAMED]]
    return f"{absent} (it has {', '.join(names)}{more})"


def _hint(column: str, has: list[str]) -> str:
    if len(several := [name for name in has if name.startswith(f"{column}s_")]) > 1:
        # Optuna's table of trials has `value`, or `values_0`, `values_1` and so on.
        return f": the study has several objectives, and a mapping has to name one, such as {several[0]!r}"
    close = difflib.get_close_matches(column, has, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _lines(path: Path, on_read: Callable[[int], None]) -> _Lines:
    """Lines with their numbers; None for one that is too long. A byte order mark is not part of the first."""
    with open_regular(path) as stream:
        number = 0
        while line := stream.readline(LONGEST_LINE + 1):
            number += 1
            on_read(len(line))
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if len(line) <= LONGEST_LINE:
                yield number, line
                continue
            while line and not line.endswith(b"\n"):
                line = stream.readline(LONGEST_LINE)
                on_read(len(line))
            yield number, None


def _json_rows(lines: _Lines) -> Iterator[Row]:
    for number, line in lines:
        if line is None:
            yield Row(number, {}, TOO_LONG)
        elif line.strip():
            yield _json_row(number, line)


def _json_row(number: int, line: bytes) -> Row:
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            # Slower, and accepts NaN and Infinity, which can then be reported by their field.
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            return Row(number, {}, _why_no_json(line, error))
    if not isinstance(value, dict):
        what = "one list; write its items one a line" if isinstance(value, list) else "no object"
        return Row(number, {}, f"not a row: the line is {what}")
    return Row(number, value)


def _why_no_json(line: bytes, error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 ({error.reason} at byte {error.start})"
    if not line.endswith(b"\n"):
        return "torn: the line breaks off"
    if line.strip() in {b"[", b"{"}:
        return "not JSON Lines: a value spreads over several lines; write one object a line"
    return f"not JSON ({error})"


def _csv_rows(path: Path, lines: _Lines, mapping: LogMapping) -> Iterator[Row]:
    delimiter = mapping.delimiter or ("\t" if path.suffix.lower() == ".tsv" else ",")
    allowed = csv.field_size_limit(LONGEST_LINE)
    try:
        yield from _table_rows(csv.reader(_text_lines(lines), delimiter=delimiter, strict=True), mapping)
    finally:
        csv.field_size_limit(allowed)


def _text_lines(lines: _Lines) -> Iterator[str]:
    for _, line in lines:
        if line is None:
            raise FieldError(TOO_LONG)
        # Bytes that are not UTF-8 are passed on, and reported by the field that they are in.
        yield line.decode("utf-8", errors="surrogateescape")


def _table_rows(table: Any, mapping: LogMapping) -> Iterator[Row]:
    header = _header(table, mapping)
    while True:
        line = table.line_num + 1
        try:
            cells = next(table)
        except StopIteration:
            return
        except csv.Error as error:
            yield Row(line, {}, f"not CSV ({error})")
            continue
        except FieldError as error:
            yield Row(line, {}, f"{error}; the rest of the file is left out")
            return
        if not cells:
            continue
        if len(cells) != len(header):
            yield Row(line, {}, f"has {len(cells)} cells where the header has {len(header)}")
            continue
        yield Row(line, dict(zip(header, cells, strict=True)))


def _header(table: Any, mapping: LogMapping) -> list[str]:
    try:
        header: list[str] = next((cells for cells in table if cells), [])
    except csv.Error as error:
        raise FieldError(f"the header is not CSV ({error})") from None
    names = [name.strip() for name in header]
    if not names:
        raise FieldError("the file is empty")
    columns = [column for column in dict.fromkeys(mapping.columns.values()) if not column.startswith("@")]
    mistakes = [f"the header has {names.count(each)} columns {each!r}" for each in columns if names.count(each) > 1]
    if absent := [column for column in columns if not _is_in(column, names)]:
        mistakes.append(lacking(absent, names))
    if mistakes:
        raise FieldError("; ".join(mistakes))
    return names


def _is_in(column: str, names: list[str]) -> bool:
    """Whether a column, or a cell that a path leads into, is in a header."""
    return any(column == name or column.startswith(f"{name}.") for name in names)
