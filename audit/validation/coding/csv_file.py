"""A CSV file whose fields can be replaced one at a time: every other byte of it stays as it is."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from audit.output.errors import AuditError
from audit.output.unfinished_results import folder_for
from collector.errors import cannot_write
from collector.system.regular_files import read_regular

LARGEST: Final = 256 * 2**20
"""Bytes of the largest file that is read."""


class Record(NamedTuple):
    """A row: the line that it begins in, counted from 1, its characters in the text, and its values."""

    line: int
    start: int
    end: int
    values: list[str]


@dataclass(frozen=True)
class CsvFile:
    """A file of comma-separated values as it was read, whatever separates its fields.

    Attributes:
        path: where it is.
        content: its bytes.
    """

    path: Path
    content: bytes

    @classmethod
    def read(cls, path: Path) -> CsvFile:
        """Read a file.

        Raises:
            AuditError: it cannot be read.
        """
        try:
            return cls(path, read_regular(path, LARGEST))
        except OSError as error:
            raise AuditError(f"{path}: {error.strerror or error}") from None

    @cached_property
    def version(self) -> str:
        """Identifies the content."""
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def text(self) -> str:
        """The content without a byte order mark.

        Raises:
            AuditError: it is not UTF-8.
        """
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise AuditError(f"{self.path}: not UTF-8 at byte {error.start}; save the sheet as CSV in UTF-8") from None

    @cached_property
    def separator(self) -> str:
        """What separates fields: commas, semicolons or tabs, whichever the first line has most of."""
        return max(",;\t", key=self.text.partition("\n")[0].count)

    def records(self) -> Iterator[Record]:
        """The rows, that of the column names included.

        Raises:
            AuditError: the file is not CSV.
        """
        offsets = [0]

        def lines() -> Iterator[str]:
            for line in io.StringIO(self.text, newline=""):
                offsets.append(offsets[-1] + len(line))
                yield line

        limit = csv.field_size_limit(2**31 - 1)
        first = 0
        try:
            # Strictly, so that an unclosed quotation mark does not swallow the rows after it.
            reader = csv.reader(lines(), delimiter=self.separator, strict=True)
            for values in reader:
                yield Record(first + 1, offsets[first], offsets[reader.line_num], values)
                first = reader.line_num
        except csv.Error as error:
            raise AuditError(f"{self.path}:{first + 1}: {error}") from None
        finally:
            csv.field_size_limit(limit)

    def with_value(self, record: Record, place: int, value: str) -> CsvFile:
        """The file with one field of a row replaced; where the row ends before that field, empty ones are added.

        Args:
            record: one of `records`.
            place: the field, counted from 0.
            value: what it is to hold; in quotation marks if it needs them or the field had them.

        Raises:
            AuditError: the row cannot be taken apart.
        """
        row = self.text[record.start : record.end]
        body = row.rstrip("\r\n")
        field = rf'("[^"]*+(?:""[^"]*+)*+"|[^{self.separator}\r\n]*+)(?:{self.separator}|$)'
        fields = re.findall(field, body)[: len(record.values)]
        if [_unquoted(each) for each in fields] != record.values:
            raise AuditError(f"{self.path}:{record.line}: this row cannot be changed; save the sheet as CSV again")
        fields += [""] * (place + 1 - len(fields))
        quoted = fields[place].startswith('"') or any(character in value for character in f'{self.separator}"\r\n')
        fields[place] = '"' + value.replace('"', '""') + '"' if quoted else value
        changed = self.separator.join(fields)
        text = f"{self.text[: record.start]}{changed}{row[len(body) :]}{self.text[record.end :]}"
        mark = codecs.BOM_UTF8 if self.content.startswith(codecs.BOM_UTF8) else b""
        return replace(self, content=mark + text.encode())

    def write(self) -> None:
        """Put the content in place of the file's at once, so that no reader ever finds half of it; links stay links.

        Raises:
            AuditError: it cannot be written; the file is as it was.
        """
        target = self.path.resolve()
        try:
            with folder_for(target) as folder:
                draft = folder / "sheet"
                with draft.open("wb") as file:
                    file.write(self.content)
                    file.flush()
                    os.fsync(file.fileno())
                shutil.copymode(target, draft)
                draft.replace(target)
        except OSError as error:
            raise AuditError(cannot_write(self.path, error)) from None


def _unquoted(field: str) -> str:
    return field[1:-1].replace('""', '"') if field.startswith('"') else field
