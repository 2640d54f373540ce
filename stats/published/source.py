"""The published tables: where they are, and how a number is looked up."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from audit.output.errors import AuditError
from collector.system.regular_files import read_regular
from stats.published.intervals import point
from stats.published.printed import NotPrintedError, Printed, printed

_DECIMAL_COMMA: Final = re.compile(r"[^0-9,.]{0,3}[0-9]{0,40},[0-9]{1,40}(?:[eE][+-]?[0-9]{1,3})?")

LARGEST: Final = 16 * 2**20
"""Bytes of the largest table that is read."""
COUNTS: Final = frozenset({"runs", "episodes", "episodes_per_run", "regressions", "strict", "permissive"})
"""Columns of counts: they are not rounded, nor are those of `worst_...`."""


class PublishedError(AuditError, ValueError):
    """A file of published numbers cannot be used; the message states where and why."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, with its place for messages."""

    place: str
    fields: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.fields[column]

    def number(self, column: str) -> Printed:
        """A printed number.

        Raises:
            PublishedError: there is none.
        """
        try:
            return printed(self.fields[column])
        except NotPrintedError as error:
            raise PublishedError(f"{self.place}: {column}: {error}") from None

    def count(self, column: str) -> int:
        """A count, printed in full.

        Raises:
            PublishedError: there is none.
        """
        text = self.fields[column].strip()
        if not (text.isascii() and text.isdecimal() and len(text) <= 15):
            raise PublishedError(f"{self.place}: {column}: {text[:40]!r} is not a count")
        return int(text)


@dataclass(frozen=True, slots=True)
class Paper:
    """All published tables."""

    tables: Mapping[str, list[Row]]

    def rows(self, table: str, **where: str) -> Iterator[Row]:
        """The rows of a table that have these values in these columns, in order."""
        return (row for row in self.tables[table] if all(row[column] == value for column, value in where.items()))

    def row(self, table: str, **where: str) -> Row:
        """The one row that has these values.

        Raises:
            PublishedError: no row has them, or several do.
        """
        found = list(self.rows(table, **where))
        if len(found) != 1:
            wanted = ", ".join(f"{column} {value}" for column, value in where.items())
            raise PublishedError(f"{table}.csv: {len(found) or 'no'} rows with {wanted}, one is needed")
        return found[0]

    def at(self, address: str) -> Row:
        """The row at `table/key,key` or `table/key,key/column`; keys are values of any columns that pick one row.

        Raises:
            PublishedError: there is no such row, or no such column.
        """
        table, _, *columns = address.split("/")
        found = self.matching(address)
        if len(found) != 1 or not found[0].fields.keys() >= set(columns):
            raise PublishedError(f"{address}: {len(found) or 'no'} rows in {table}.csv, or no such column")
        return found[0]

    def matching(self, address: str) -> list[Row]:
        """The rows that have all keys of an address `table/key,key` or `table/key,key/column`."""
        table, keys, *_ = address.split("/")
        wanted = set(keys.split(","))
        return [row for row in self.tables.get(table, []) if wanted <= set(row.fields.values())]

    def cell(self, address: str) -> Printed:
        """The number at `table/key,key/column`. Counts are exact.

        Raises:
            PublishedError: there is no such place, or no number in it.
        """
        column = address.split("/")[2]
        number = self.at(address).number(column)
        is_count = column in COUNTS or column.startswith("worst_")
        return replace(number, interval=point(number.value)) if is_count else number

    def environments(self) -> list[str]:
        """All tasks, in the paper's order."""
        return [row["environment"] for row in self.tables["thresholds"]]


def folder() -> Path:
    """Where the published numbers are: within the installed package, or `data/paper` of a clone."""
    installed = Path(__file__).parent / "data"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "data" / "paper"


def read(where: Path) -> Paper:
    """Read all tables of a folder, those that the paper has, with their columns.

    Raises:
        PublishedError: one is missing, is no CSV file, or has other columns than it should.
    """
    paths = sorted(folder().glob("*.csv"))
    return Paper({path.stem: _read_table(where / path.name, next(read_csv(path)).fields) for path in paths})


def _read_table(path: Path, columns: Iterable[str]) -> list[Row]:
    rows = list(read_csv(path))
    missing = [column for column in columns if column not in rows[0].fields]
    if missing:
        raise PublishedError(f"{path}: no column {missing[0]!r}")
    return rows


def read_csv(path: Path) -> Iterator[Row]:
    """The rows of a CSV file with a header; empty lines are none.

    Where the header is separated by semicolons or tabs, as spreadsheets do where the decimal sign is a comma, numbers
    may have that comma.

    Raises:
        PublishedError: it cannot be read, is no text, or has no header, no rows, a column twice, or a row of another
            length.
    """
    any_row = False
    try:
        data = read_regular(path, LARGEST)
        with io.StringIO(data.decode("utf-8-sig"), newline="") as file:
            first = file.readline()
            separator = _separator(first)
            file.seek(0)
            reader = csv.reader(file, delimiter=separator, strict=True)
            header = [name.strip() for name in next(reader, [])]
            if not any(header):
                raise PublishedError(f"{path}: empty; the first line should name the columns")
            repeated = next((name for name in header if header.count(name) > 1), None)
            if repeated is not None:
                raise PublishedError(f"{path}: column {repeated!r} is there twice")
            for fields in reader:
                place = f"{path}:{reader.line_num}"
                if not any(field.strip() for field in fields):
                    continue
                if len(fields) != len(header):
                    raise PublishedError(f"{place}: {len(fields)} fields, the header has {len(header)}")
                any_row = True
                values = (_field(field.strip(), separator) for field in fields)
                yield Row(place, dict(zip(header, values, strict=True)))
    except OSError as error:
        raise PublishedError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise PublishedError(f"{path}: not UTF-8 text") from None
    except csv.Error as error:
        raise PublishedError(f"{path}: not a CSV file: {error}") from None
    if not any_row:
        raise PublishedError(f"{path}: no rows below the header")


def _separator(header: str) -> str:
    return next((mark for mark in (",", ";", "\t") if mark in header), ",")


def _field(text: str, separator: str) -> str:
    return text if separator == "," or not _DECIMAL_COMMA.fullmatch(text) else text.replace(",", ".")
