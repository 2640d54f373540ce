"""A mapping that is guessed from the first rows of a log, with a reason for each of its lines."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from audit.importing.fields import FIELDS, NUMBER, FieldError, component_of, kind_of, nested
from audit.importing.guessing.candidates import find_candidates
from audit.importing.guessing.columns import FILES, FIRST, read_log, spelt
from audit.importing.guessing.draft import Draft, Question, key_of
from audit.importing.guessing.names import WON
from audit.importing.guessing.rows import check_order, find_answers, find_evidence, find_kept, identify
from audit.importing.mapping import LogMapping
from audit.importing.mapping_file import SHIPPED, parse_mapping, refuse_mistakes
from audit.importing.run import Import, import_rows, readable
from audit.output.errors import UsageError
from audit.output.rows import Table

COLUMNS: Final = ("field", "column", "value", "reason")
SETTINGS: Final = ("count_from", "run", "source", "thresholds")
"""Tables of a mapping beside those of fields that the user can state."""


@dataclass(frozen=True)
class Guess:
    """What the columns of the log in some files are believed to be: a draft of a mapping."""

    paths: list[Path]
    draft: Draft

    @property
    def questions(self) -> list[Question]:
        """What the log does not show, first what no record can be made without."""
        return sorted(self.draft.questions, key=lambda question: not question.needed)

    @property
    def is_sure(self) -> bool:
        """Whether nothing is open that records need."""
        mistakes = parse_mapping(self.text, self.place())[1]
        return not mistakes and not any(question.needed for question in self.draft.questions)

    @property
    def text(self) -> str:
        """The mapping as a file, with the reasons and what is open as comments."""
        return self.draft.text([path.name for path in self.paths])

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
            UsageError: the file exists, or cannot be written.
        """
        try:
            with path.open("w" if force else "x", encoding="utf-8") as stream:
                stream.write(self.text)
        except FileExistsError:
            raise UsageError(f"--map-out {path}: already exists; give another name, or --force to replace it") from None
        except OSError as error:
            raise UsageError(f"--map-out {path}: {error.strerror}") from None

    def try_out(self, folder: Path) -> Import:
        """Import the first rows to a folder that does not exist yet.

        Raises:
            AuditError: no row gives a record.
        """
        return import_rows(self.paths[:FILES], self.mapping, folder, "guessed", most=FIRST)

    def table(self) -> Table:
        """A row per field: its column or value, and the reason. The notes have what is left."""
        draft = self.draft
        rows = [{name: getattr(each, name) for name in COLUMNS} for each in draft.findings.values()]
        return Table(columns=COLUMNS, rows=rows, title="Believed to be", notes=draft.notes(), plain=True)


def guess_mapping(
    files: str | Path | Iterable[str | Path],
    *,
    field: Mapping[str, str] | None = None,
    map_out: str | Path | None = None,
    force: bool = False,
) -> Guess:
    """Guess which column of a log is which field of a record.

    Args:
        files: one or several, JSON Lines or CSV.
        field: what is known: the column of a field, or its value if there is no such column; empty text for a field
            that the log lacks. `source.decimal`, `count_from.rollout` and the like are keys of those tables.
        map_out: a file to write the draft to.
        force: replace that file.

    Returns:
        The guess: its `table()`, its `questions`, and its `text`, the draft, in which what is open is a comment.

    Raises:
        UsageError: a field is not known, or the draft cannot be written.
        AuditError: a file is missing or has no rows.
    """
    paths = readable(files)
    given = dict(field or {})
    for name in given:
        table, _, key = name.partition(".")
        if name not in FIELDS and not component_of(name) and not (key and table in SETTINGS):
            raise UsageError(f"--field {name}: there is no such field; docs/import.md lists them")
    draft = Draft(read_log(paths))
    _take_given(draft, given)
    if not _take_shipped(draft):
        identify(draft, paths[0])
        find_candidates(draft)
        find_kept(draft)
        check_order(draft)
        find_answers(draft)
        find_evidence(draft)
        _finish(draft)
    guess = Guess(paths, draft)
    if map_out is not None:
        guess.write(Path(map_out), force=force)
    return guess


def _take_given(draft: Draft, given: Mapping[str, str]) -> None:
    """What the user has stated goes before anything else."""
    for name, stated in given.items():
        table, _, key = name.rpartition(".")
        if name not in FIELDS and not component_of(name):
            if table.startswith("thresholds."):
                table = f"thresholds.{key_of(table.partition('.')[2])}"
            value = nested(stated) if stated.startswith("[") else NUMBER.from_cell(stated, None)
            draft.setting(table, key, int(value) if isinstance(value, float) and value.is_integer() else value)
        elif draft.is_column(stated):
            draft.take(name, stated, "stated by you")
        elif stated:
            draft.fix(name, _value(name, stated), "stated by you")
    draft.given = given


def _value(name: str, stated: str) -> Any:
    try:
        value = kind_of(name).from_cell(stated, None)
        kind_of(name).read(value)
    except FieldError as error:
        raise UsageError(f"--field {name}={stated}: there is no such column, and as a value it {error}") from None
    return value


def _take_shipped(draft: Draft) -> bool:
    """Take the mapping that comes with the package for this log, if all of its columns are there."""
    for file in sorted(SHIPPED.iterdir(), key=lambda each: each.name) if SHIPPED.is_dir() else ():
        name, text = file.name.removesuffix(".toml"), file.read_text("utf-8")
        mapping, _ = parse_mapping(text, Path(name))
        if all(draft.is_column(column) for column in mapping.columns.values()):
            for field, column in mapping.columns.items():
                draft.take(field, column, f"as in the mapping {name}")
            for field, value in mapping.constants.items():
                draft.fix(field, value, f"as in the mapping {name}")
            draft.values |= {field: dict(values) for field, values in mapping.values.items()}
            for key, value in tomllib.loads(text).get("run", {}).items():
                draft.setting("run", key, value)
            return True
    return False


def _finish(draft: Draft) -> None:
    """What follows from the findings."""
    asked = [name for question in draft.questions for option in question.options for name in option]
    names = [*draft.findings, *asked]
    if not any(name.endswith((".params", ".text", ".example_ids")) or component_of(name) for name in names):
        draft.setting("run", "candidates", "text")
        draft.remarks.append("the log has neither texts nor parameters: taken for one of texts that it does not state")
    for name in ("initial.returns", "revised.returns", "initial.mean_return", "revised.mean_return"):
        column = draft.column(name)
        if column and column.is_scalar and column.shape in ("text", "flag"):
            words = {*column.spelt} - {""}
        else:
            lists = (
                [[*value.values()] if isinstance(value, dict) else value for value in column.present] if column else []
            )
            words = {
                spelt(item) for items in lists if isinstance(items, list) for item in items if isinstance(item, bool)
            }
        if words:
            draft.values[name] = {word: float(word.lower() in WON) for word in sorted(words)}
    source = draft.log.source
    for key, value in (
        ("format", source.layout),
        ("delimiter", source.delimiter),
        ("list_separator", source.separator),
    ):
        if value is not None:
            draft.setting("source", key, value)
