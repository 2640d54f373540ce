"""CSV files of printed numbers: the published tables, and a user's own."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from audit.output.errors import AuditError
from collector.system.regular_files import read_regular
from stats.published.printed import NotPrintedError, Printed, printed

_DECIMAL_COMMA: Final = re.compile(r"[^0-9,.]{0,3}[0-9]{0,40},[0-9]{1,40}(?:[eE][+-]?[0-9]{1,3})?")
_LARGEST: Final = 16 * 2**20
"""Bytes of the largest table that is read."""


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


def folder() -> Path:
    """Where the published numbers are: within the installed package, or `data/paper` of a clone."""
    installed = Path(__file__).parent / "data"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "data" / "paper"


def read_csv(path: Path) -> list[Row]:
    """The rows of a CSV file with a header; empty lines are none.

    Where the header is separated by semicolons or tabs, as spreadsheets do where the decimal sign is a comma, numbers
    may have that comma.

    Raises:
        PublishedError: it cannot be read, is no text, or has no header, no rows, a column twice, or a row of another
            length.
    """
    try:
        rows = list(_rows(path, read_regular(path, _LARGEST).decode("utf-8-sig")))
    except OSError as error:
        raise PublishedError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise PublishedError(f"{path}: not UTF-8 text") from None
    except csv.Error as error:
        raise PublishedError(f"{path}: not a CSV file: {error}") from None
    if not rows:
        raise PublishedError(f"{path}: no rows below the header")
    return rows


def _rows(path: Path, text: str) -> Iterator[Row]:
    first = text.partition("\n")[0]
    separator = next((mark for mark in (",", ";", "\t") if mark in first), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    header = [name.strip() for name in next(reader, [])]
    if not any(header):
        raise PublishedError(f"{path}: empty; the first line should name the columns")
    repeated = next((name for name in header if header.count(name) > 1), None)
    if repeated is not None:
        raise PublishedError(f"{path}: column {repeated!r} is there twice")
    for fields in reader:
        values = [field.strip() for field in fields]
        if not any(values):
            continue
        place = f"{path}:{reader.line_num}"
        if len(values) != len(header):
            raise PublishedError(f"{place}: {len(values)} fields, the header has {len(header)}")
        if separator != ",":
            values = [value.replace(",", ".") if _DECIMAL_COMMA.fullmatch(value) else value for value in values]
        yield Row(place, dict(zip(header, values, strict=True)))
