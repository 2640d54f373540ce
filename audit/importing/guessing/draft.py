"""A mapping in the making: what is decided, each with its reason, and what is not; and its text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from audit.importing.fields import component_of
from audit.importing.guessing.columns import FILES, FIRST, Column, Log
from audit.importing.guessing.names import TOOLS
from audit.importing.mapping import LogMapping
from audit.importing.mapping_file import parse_mapping, refuse_mistakes
from audit.importing.rows import MISSING, look_up
from audit.importing.run import Import, import_rows
from audit.output.errors import AuditError, UsageError, count, shortened
from audit.output.escaping import in_line
from audit.output.rows import Table
from collector.errors import cannot_write

COLUMNS: Final = ("field", "column", "value", "reason")
ROLES: Final = ("initial", "revised")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Finding:
    """A field of records, and where it comes from: a column, or a value that is the same in all rows."""

    field: str
    column: str | None
    value: Any
    reason: str


@dataclass(frozen=True)
class Question:
    """What the log does not show: the field, and possible answers, each as columns and values of fields.

    Without an answer there are no records, if it is `needed`.
    """

    field: str
    text: str
    options: Sequence[Mapping[str, Any]]
    needed: bool


@dataclass
class Guess:
    """What the columns of a log are believed to be: a mapping in the making.

    Attributes:
        paths: the files of the log.
        log: their first rows.
        given: columns or constants that the user has stated, by field; empty for a field that the log lacks.
        findings: by field.
        questions: what is open.
        values: names of values by field.
        settings: the other tables: [count_from], [run], [thresholds.TASK] and [source].
        remarks: what else the user should know.
    """

    paths: Sequence[Path]
    log: Log
    given: Mapping[str, str] = field(default_factory=dict)
    findings: dict[str, Finding] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def take(self, name: str, column: Column | str, reason: str) -> None:
        """Decide that a column is a field, unless the user has stated otherwise."""
        if name not in self.given:
            self.findings[name] = Finding(name, column if isinstance(column, str) else column.path, None, reason)

    def fix(self, name: str, value: Any, reason: str) -> None:
        """Decide that a field is the same in all rows, unless the user has stated otherwise."""
        if name not in self.given:
            self.findings[name] = Finding(name, None, value, reason)

    def ask(self, name: str, text: str, options: Sequence[Mapping[str, Any]], *, needed: bool = True) -> None:
        """Leave a field and those of the options open, unless the user has stated it."""
        if name not in self.given and all(name != each.field for each in self.questions):
            for stated in {name for option in options for name in option}:
                if stated not in self.given:
                    self.findings.pop(stated, None)
            self.questions.append(Question(name, text, options, needed))

    def setting(self, table: str, key: str, value: Any) -> None:
        """Decide an entry of another table, unless the user has stated otherwise."""
        self.settings.setdefault(table, {}).setdefault(key, value)

    def column(self, name: str) -> Column | None:
        """The column that is a field."""
        finding = self.findings.get(name)
        return None if finding is None or finding.column is None else self.log.columns.get(finding.column)

    def free(self) -> list[Column]:
        """The columns that are no field yet, nor inside of one."""
        taken = [finding.column for finding in self.findings.values() if finding.column is not None]
        columns = self.log.columns.items()
        return [column for path, column in columns if not any(f"{path}.".startswith(f"{each}.") for each in taken)]

    def by_tool(self, name: str) -> list[str]:
        """What the tools whose log this may be call a field, or mean by a word."""
        has = self.log.columns.keys()
        tools = (fields for shown, fields in TOOLS.items() if all(has & {*each.split()} for each in shown))
        return [path for fields in tools for path in fields.get(name, "").split()]

    def notes(self) -> list[str]:
        """What else the user should know: rows that cannot be read, and columns that are no field."""
        faults = [f"{count(self.log.faults, 'row')} of the first cannot be read"] if self.log.faults else []
        left = [column.path for column in self.free() if "." not in column.path]
        return [*faults, *self.remarks, *([f"not used: {', '.join(shortened(left))}"] if left else [])]

    @property
    def text(self) -> str:
        """The mapping as a file, with the reasons and what is open as comments."""
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        lines = [f"# Guessed from {in_line(self.paths[0].name)}{more} by `audit import --guess`. Check each line."]
        lines += [f"# Note: {_comment(remark)}" for remark in self.notes()]
        if self.questions:
            lines.append("# Of what is open, remove the # before the lines of one answer, in [fields] and [constants].")
        for table in ("fields", "constants"):
            found = [each for each in self.findings.values() if (each.column is None) == (table == "constants")]
            lines += [f"\n[{table}]"]
            for each in found:
                value = each.value if each.column is None else each.column
                lines.append(f"{_path(each.field)} = {_literal(value)}  # {_comment(each.reason)}")
            lines += self._open(table)
        tables = {f"values.{name}": values for name, values in self.values.items() if self.column(name)}
        for name, entries in (tables | self.settings).items():
            lines += [f"\n[{name}]", *(f"{key_of(key)} = {_literal(value)}" for key, value in entries.items())]
        return "\n".join(lines) + "\n"

    @property
    def is_sure(self) -> bool:
        """Whether nothing is open that records need."""
        mistakes = parse_mapping(self.text, self.place())[1]
        return not mistakes and not any(question.needed for question in self.questions)

    @property
    def mapping(self) -> LogMapping:
        """The mapping.

        Raises:
            UsageError: something is open, or what the user has stated makes none.
        """
        mapping, mistakes = parse_mapping(self.text, self.place())
        refuse_mistakes(self.place(), mistakes)
        return mapping

    def place(self) -> Path:
        """Where the mapping goes if nothing else is stated: beside the first file."""
        return self.paths[0].with_name(f"{self.paths[0].name}.toml")

    def write(self, path: Path, *, force: bool = False) -> None:
        """Write the mapping to a new file, or replace one with `force`.

        Raises:
            UsageError: the file exists.
            AuditError: it cannot be written.
        """
        try:
            with path.open("w" if force else "x", encoding="utf-8") as stream:
                stream.write(self.text)
        except FileExistsError:
            raise UsageError(f"--map-out {path}: already exists; give another name, or --force to replace it") from None
        except OSError as error:
            raise AuditError(cannot_write(path, error, "--map-out")) from None

    def try_out(self, folder: Path) -> Import:
        """Import the first rows to a folder that does not exist yet.

        Raises:
            AuditError: no row gives a record.
        """
        return import_rows(list(self.paths[:FILES]), self.mapping, folder, "guessed", most=FIRST)

    def table(self) -> Table:
        """A row per field: its column or value, and the reason. The notes have what is left."""
        rows = [{name: getattr(each, name) for name in COLUMNS} for each in self.findings.values()]
        return Table(columns=COLUMNS, rows=rows, title="Believed to be", notes=self.notes(), plain=True)

    def _open(self, table: str) -> Iterator[str]:
        """The questions whose answers belong into a table, as comments; those without answers in [constants]."""
        for question in self.questions:
            options = []
            for option in question.options:
                here = {key: each for key, each in option.items() if self.is_column(each) == (table == "fields")}
                options += [[f"# {_path(name)} = {_literal(value)}" for name, value in here.items()]] if here else []
            if options or (table == "constants" and not question.options):
                yield f"\n# {'unsure' if question.needed else 'not known'}: {question.field}: {_comment(question.text)}"
            for number, lines in enumerate(options):
                yield from (*(["# or"] if number else []), *lines)

    def is_column(self, stated: Any) -> bool:
        """Whether what is stated for a field is a column, not a value."""
        if not isinstance(stated, str) or not stated:
            return False
        return stated.startswith("@") or any(look_up(row, stated) is not MISSING for row in self.log.rows)


def _path(field: str) -> str:
    component = component_of(field)
    return field if component is None else f"{component[0]}.{key_of(component[1])}"


def key_of(name: str) -> str:
    """A key as TOML has it."""
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """A TOML string: as in JSON, with the one character escaped that JSON allows."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)} = {_literal(each)}" for key, each in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    return _quoted(value) if isinstance(value, str) else repr(value)


def _comment(reason: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in in_line(reason))
