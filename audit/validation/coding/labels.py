"""Reads what coders filled in, and names what is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

from audit.output.errors import AuditError
from audit.output.escaping import cell
from audit.references import visible
from audit.validation.coding.codes import CODES
from audit.validation.coding.csv_file import CsvFile, Record
from audit.vocabulary.keys import RevisionKey

NEEDED: Final = (*RevisionKey._fields, "coder")


class Fault(NamedTuple):
    """Something in a file of labels that is not scored; lines count from 1."""

    line: int
    kind: str
    message: str


@dataclass(frozen=True)
class Label:
    """One coder's codes of one answer; a column without a valid code is absent."""

    line: int
    identity: RevisionKey
    coder: str
    codes: Mapping[str, str]
    note: str = ""


@dataclass
class Labels:
    """A file of labels.

    Attributes:
        rows: those with an identity, in the order of the file; of two of one coder and answer the first.
        columns: the columns with codes that the file has.
        drawn_by: how the sample was stratified, as the sheet states it.
        uncoded: rows that have a note and no code, as the coding guide asks for where an answer cannot be read.
        faults: what was left out.
    """

    rows: list[Label] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    drawn_by: frozenset[str] = frozenset()
    uncoded: int = 0
    faults: list[Fault] = field(default_factory=list)

    @property
    def coders(self) -> list[str]:
        """Their names, sorted."""
        return sorted({row.coder for row in self.rows})


def read_labels(path: Path, allowed: Mapping[str, Sequence[str]] = CODES) -> Labels:
    """Read a CSV file of labels, as `audit sample` writes it and as spreadsheets save it.

    Columns may be in any order, further ones are ignored, and fields may be separated by commas, semicolons or tabs.

    Args:
        path: the file.
        allowed: the columns with codes that are read, and the codes that each may hold.

    Raises:
        AuditError: the file cannot be read, or lacks columns that identify what was coded.
    """
    return labels_in(CsvFile.read(path), allowed)


def labels_in(file: CsvFile, allowed: Mapping[str, Sequence[str]] = CODES) -> Labels:
    """The labels of a file that is read already; as `read_labels`."""
    labels, path = Labels(), file.path
    records = file.records()
    names = column_names(next(records, None))
    labels.columns = [column for column in allowed if column.lower() in names]
    if missing := [name for name in NEEDED if name not in names]:
        raise AuditError(f"{path}: no column {', '.join(missing)}; docs/coding-guide.md names the columns")
    if not labels.columns:
        raise AuditError(f"{path}: no column with codes: none of {', '.join(allowed)}")
    if repeated := sorted(
        {name for name in names if name in (*NEEDED, *map(str.lower, allowed)) and names.count(name) > 1}
    ):
        raise AuditError(f"{path}: two columns {', '.join(repeated)}")
    seen: dict[tuple[RevisionKey, str], int] = {}
    for record in records:
        if any(value.strip() for value in record.values):
            _take(labels, record.line, by_name(names, record), seen, allowed)
    return labels


def column_names(header: Record | None) -> list[str]:
    """The names in the first row of a sheet, as they are compared."""
    return [] if header is None else [name.strip().lower() for name in header.values]


def by_name(names: Sequence[str], record: Record) -> dict[str, str]:
    """The values of a row by column; empty where the row is too short."""
    return dict(zip(names, (*record.values, *[""] * len(names)), strict=False))


def resolve_identities(labels: Labels, known: Collection[RevisionKey], others: Container[RevisionKey]) -> None:
    """Keep the labels of revisions that the records have, under the identities that these use.

    Args:
        labels: changed in place.
        known: revisions that a critic answered for.
        others: iterations that are in the records, those without a critic's answer included.
    """
    names = {as_written(identity): identity for identity in known} | {identity: identity for identity in known}
    kept = []
    for row in labels.rows:
        identity = names.get(row.identity)
        if identity is not None:
            kept.append(replace(row, identity=identity))
        elif row.identity in others:
            labels.faults.append(Fault(row.line, "without a critic's answer", f"{row.identity} has no critic's answer"))
        else:
            labels.faults.append(Fault(row.line, "not in the records", f"{row.identity} is not in the records"))
    labels.rows = kept
    labels.faults.sort()


def _take(
    labels: Labels,
    line: int,
    values: Mapping[str, str],
    seen: dict[tuple[RevisionKey, str], int],
    allowed: Mapping[str, Sequence[str]],
) -> None:
    def wrong(kind: str, message: str) -> None:
        labels.faults.append(Fault(line, kind, message))

    identity, coder = _identity(values), values["coder"].strip()
    if identity is None:
        numbers = ascii(values["run"][:20]), ascii(values["iteration"][:20])
        wrong("without an identity", f"run and iteration are not whole numbers: {' and '.join(numbers)}")
        return
    if not coder:
        wrong("without a coder", f"{identity} has no coder")
        return
    who = f"{identity}, coder {visible(coder)}"
    if (identity, coder) in seen:
        wrong("coded twice", f"{who}: coded twice; line {seen[identity, coder]} counts")
        return
    seen[identity, coder] = line
    given = {column: values[column.lower()].strip() for column in labels.columns}
    note = values.get("note", "").strip()
    spelled = {column: {code.lower(): code for code in allowed[column]} for column in given}
    codes = {column: spelled[column][code.lower()] for column, code in given.items() if code.lower() in spelled[column]}
    if note and not any(given.values()):
        labels.uncoded += 1
    else:
        if empty := [column for column, code in given.items() if not code]:
            wrong("with an empty code", f"{who}: no code for {', '.join(empty)}")
        for column, code in given.items():
            if code and column not in codes:
                known = ", ".join(allowed[column])
                wrong("with an unknown code", f"{who}: {column} is {code.lower()[:40]!a}, and not one of {known}")
    labels.drawn_by |= frozenset(values.get("drawn_by", "").split())
    labels.rows.append(Label(line, identity, coder, codes, note))


def _identity(values: Mapping[str, str]) -> RevisionKey | None:
    run, iteration = values["run"].strip(), values["iteration"].strip()
    if not all(number.isascii() and number.isdigit() and len(number) < 19 for number in (run, iteration)):
        return None
    return RevisionKey(values["condition"], values["env"], values["variant"], int(run), int(iteration))


def as_written(identity: RevisionKey) -> RevisionKey:
    """A revision as a sheet names it: a name that looks like a formula has an apostrophe."""
    return identity._replace(condition=cell(identity.condition), env=cell(identity.env), variant=cell(identity.variant))
