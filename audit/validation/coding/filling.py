"""One coder's rows of a sheet: read, and filled in one code at a time, in the file itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from audit.output.errors import AuditError, UsageError
from audit.output.escaping import cell, in_line
from audit.validation.coding.codes import CODES
from audit.validation.coding.csv_file import CsvFile, Record
from audit.validation.coding.labels import Label, Labels, by_name, column_names, labels_in

NOTE: Final = "note"
LONGEST_NOTE: Final = 10_000
"""Characters of the longest note that is written."""


class ChangedError(AuditError):
    """The file is not what it was when it was read: another program wrote it."""


@dataclass(frozen=True)
class Row:
    """A row of the coder's.

    Attributes:
        label: its identity and valid codes.
        values: everything that the file holds of it, by column in lower case.
        is_done: whether all columns hold valid codes, or there is a note and no code, as the coding guide asks for
            where an answer cannot be read.
    """

    label: Label
    values: Mapping[str, str]
    is_done: bool


@dataclass(frozen=True)
class Rows:
    """What a file holds of a coder.

    Attributes:
        version: identifies the content of the file.
        columns: those with codes that the file has, each with the codes that it may hold.
        has_note: whether there is a column for notes.
        rows: in the order of the file.
    """

    version: str
    columns: Mapping[str, Sequence[str]]
    has_note: bool
    rows: Sequence[Row]

    @property
    def done(self) -> int:
        """How many rows are done."""
        return sum(row.is_done for row in self.rows)


@dataclass(frozen=True)
class Filling:
    """A sheet that a coder fills in.

    Attributes:
        path: the file that is written, and no other.
        coder: whose rows of it are read and written.
        codes: the columns with codes, and the codes that each may hold.
        second: where the rows of the other coders are, if not in the same file; it is only read.
    """

    path: Path
    coder: str
    codes: Mapping[str, Sequence[str]] = field(default_factory=lambda: CODES)
    second: Path | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, compare=False)

    @classmethod
    def opened(cls, paths: Sequence[Path], coder: str | None, codes: Mapping[str, Sequence[str]] = CODES) -> Filling:
        """Open a sheet.

        Args:
            paths: the sheet, and the file of the other coder if that is another one.
            coder: whose rows are filled in; None where the sheet has one coder.
            codes: the columns with codes, and the codes that each may hold.

        Raises:
            UsageError: there are more than two files, or no such coder, or several and none is named.
            AuditError: a file cannot be read.
        """
        if len(paths) > 2:
            raise UsageError("--labels takes two files at most: your sheet, then the other coder's")
        path, second = paths[0], paths[1] if len(paths) > 1 else None
        if second is not None and path.resolve() == second.resolve():
            raise UsageError(f"--labels names {path} twice; name it once, --coder selects the rows")
        coders = labels_in(CsvFile.read(path), codes).coders
        listed = in_line(", ".join(coders))
        if not coders:
            raise AuditError(f"{path}: no row of any coder; audit sample draws a sheet")
        if coder is None and len(coders) > 1:
            raise UsageError(f"{path} has rows of {listed}; name one with --coder")
        if coder is not None and coder not in coders:
            raise UsageError(f"{path} has no row of --coder {in_line(coder)}; it has rows of {listed}")
        filling = cls(path, coder or coders[0], codes, second)
        if second is not None and len(filling.by_coder()) < 2:
            raise UsageError(f"{second} has no row of another coder than {in_line(filling.coder)}")
        return filling

    def read(self) -> Rows:
        """The coder's rows.

        Raises:
            AuditError: the file cannot be read.
        """
        with self._lock:
            file = CsvFile.read(self.path)
            return self._rows(file, labels_in(file, self.codes), self.coder)

    def by_coder(self) -> dict[str, Rows]:
        """The rows of every coder: the coder's own in the sheet, the others' in the second file if there is one.

        Raises:
            AuditError: a file cannot be read.
        """
        with self._lock:
            own = CsvFile.read(self.path)
            other = own if self.second is None else CsvFile.read(self.second)
            mine, theirs = labels_in(own, self.codes), labels_in(other, self.codes)
            rows = {coder: self._rows(other, theirs, coder) for coder in theirs.coders}
            return dict(sorted({**rows, self.coder: self._rows(own, mine, self.coder)}.items()))

    def fill(self, line: int, column: str, value: str, expected: str) -> Rows:
        """Write a code or a note into the file, at once.

        Args:
            line: the line that the row begins in.
            column: with codes, or `note`.
            value: the code, or empty to clear it; a note is any text.
            expected: the version of the file that the coder saw.

        Returns:
            The coder's rows as they are now.

        Raises:
            ChangedError: the file is not what it was; nothing is written.
            AuditError: there is no such row, column or code, or the file cannot be written.
        """
        with self._lock:
            file = CsvFile.read(self.path)
            if file.version != expected:
                raise ChangedError(
                    f"{self.path} changed on disk since this page read it, so nothing was written; read it again"
                )
            labels = labels_in(file, self.codes)
            if column == NOTE:
                value = _note(value)
            elif column not in labels.columns or value not in {"", *self.codes[column]}:
                raise AuditError(f"{in_line(column)[:40]} cannot be {value[:40]!a}")
            header, *records = file.records()
            places = {name: place for place, name in enumerate(column_names(header))}
            mine = {row.line for row in labels.rows if row.coder == self.coder}
            found = [record for record in records if record.line == line and line in mine]
            if not found or column.lower() not in places:
                raise AuditError(f"{self.path}:{line}: no such row of coder {in_line(self.coder)}, or no such column")
            changed = file.with_value(found[0], places[column.lower()], value)
            changed.write()
            return self._rows(changed, labels_in(changed, self.codes), self.coder)

    def _rows(self, file: CsvFile, labels: Labels, coder: str) -> Rows:
        header, *records = file.records()
        names = column_names(header)
        by_line = {record.line: record for record in records}
        mine = [label for label in labels.rows if label.coder == coder]
        return Rows(
            version=file.version,
            columns={column: self.codes[column] for column in labels.columns},
            has_note=NOTE in names,
            rows=list(_filled(mine, labels.columns, names, by_line)),
        )


def _filled(
    labels: Sequence[Label], columns: Sequence[str], names: Sequence[str], records: Mapping[int, Record]
) -> Iterator[Row]:
    for label in labels:
        values = by_name(names, records[label.line])
        is_unreadable = bool(label.note) and not any(values[column.lower()].strip() for column in columns)
        yield Row(label, values, is_unreadable or len(label.codes) == len(columns))


def _note(text: str) -> str:
    """A note as a cell of a spreadsheet; one that was read from such a cell stays as it is."""
    if len(text) > LONGEST_NOTE:
        raise AuditError(f"a note of {len(text):,} characters; at most {LONGEST_NOTE:,}")
    return text if text.startswith("'") and cell(text[1:]) == text else cell(text)
