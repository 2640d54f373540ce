"""A mapping that is guessed from a sample of a log, with a reason for each of its lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from audit.importing.fields import FIELDS, NUMBER, FieldError, component_of, excerpt, kind_of, nested
from audit.importing.guessing.candidates import pair_up
from audit.importing.guessing.columns import Column, columns_of, score_of
from audit.importing.guessing.draft import Draft, Question
from audit.importing.guessing.identity import identify
from audit.importing.guessing.keeping import find_kept, name_values, spelt
from audit.importing.guessing.preview import plain_table
from audit.importing.guessing.sample import FILES, FIRST, sample_of
from audit.importing.guessing.showing import find_answers, find_evidence, find_seconds
from audit.importing.guessing.toml import mapping_text
from audit.importing.mapping import COUNTED, LogMapping, unknown_task
from audit.importing.mapping_file import ORDER, parse_mapping, refuse_mistakes
from audit.importing.rows import MISSING, look_up
from audit.importing.run import Import, import_rows, readable
from audit.output.errors import UsageError, count, shortened
from audit.output.rows import Table
from audit.vocabulary.thresholds import KEYS

COLUMNS: Final = ("field", "column", "value", "reason")
ELSEWHERE: Final = ("count_from", "run", "source", "thresholds")
"""Tables of a mapping beside those of fields that the user can state."""


@dataclass(frozen=True)
class Guess:
    """What a log's columns are believed to be.

    Attributes:
        paths: the files of the log.
        draft: what is decided and what is not.
    """

    paths: list[Path]
    draft: Draft

    @property
    def questions(self) -> list[Question]:
        """What the log does not show, first what no record can be made without."""
        return sorted(self.draft.questions, key=lambda question: not question.needed)

    @property
    def is_sure(self) -> bool:
        """Whether nothing is open that records need."""
        return not any(question.needed for question in self.draft.questions)

    @property
    def text(self) -> str:
        """The mapping as a file, with the reasons as comments."""
        return mapping_text(self.draft, [path.name for path in self.paths])

    @property
    def mapping(self) -> LogMapping:
        """The mapping.

        Raises:
            UsageError: what the user has stated makes none.
        """
        mapping, mistakes = parse_mapping(self.text, self.place())
        refuse_mistakes(self.place(), mistakes)
        return mapping

    def place(self) -> Path:
        """Where the mapping goes if nothing else is stated: beside the first file."""
        return self.paths[0].with_name(f"{self.paths[0].name}.toml")

    def write(self, path: Path, *, force: bool = False) -> None:
        """Write the mapping.

        Args:
            path: a new file.
            force: replace a file.

        Raises:
            UsageError: the file exists, or cannot be written.
        """
        try:
            flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if force else os.O_EXCL)
            with os.fdopen(os.open(path, flags, 0o666), "w", encoding="utf-8") as stream:
                stream.write(self.text)
        except FileExistsError:
            raise UsageError(f"--map-out {path}: already exists; give another name, or --force to replace it") from None
        except OSError as error:
            raise UsageError(f"--map-out {path}: {error.strerror}") from None

    def try_out(self, folder: Path) -> Import:
        """Import the sample to a folder that does not exist yet.

        Raises:
            AuditError: no row gives a record.
        """
        return import_rows(self.paths[:FILES], self.mapping, folder, "guessed", most=FIRST)

    def table(self) -> Table:
        """A row per field: its column or value, and the reason. The notes have what is left and what is open."""
        rows = [
            {"field": each.field, "column": each.column, "value": each.value, "reason": each.reason}
            for each in self.draft.findings.values()
        ]
        return plain_table("Believed to be", COLUMNS, rows, self._notes())

    def _notes(self) -> list[str]:
        draft = self.draft
        faults = [f"{count(draft.sample.faults, 'row')} of the sample cannot be read"] if draft.sample.faults else []
        left = [
            path for path in (each.path for each in draft.free()) if "." not in path or path in draft.sample.rows[0]
        ]
        unused = [f"not used: {', '.join(shortened(left))}"] if left else []
        return [*faults, *draft.remarks, *unused]


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
        map_out: a file to write the mapping to, if nothing is open that records need.
        force: replace that file.

    Returns:
        The guess: its `table()`, its `questions`, and its `text`, the mapping.

    Raises:
        UsageError: a field is not known, the form of a file is ambiguous, or the mapping cannot be written.
        AuditError: a file is missing or has no rows.
    """
    paths = readable(files)
    given = dict(field or {})
    for name in given:
        table, _, key = name.partition(".")
        if name not in FIELDS and not component_of(name) and not (key and table in ELSEWHERE):
            raise UsageError(f"--field {name}: there is no such field; docs/import.md lists them")
    decimal = given.get("source.decimal")
    if decimal not in (None, ".", ","):
        raise UsageError(f"--field source.decimal={decimal}: it is '.' or ','")
    sample = sample_of(paths, decimal)  # type: ignore[arg-type]
    draft = Draft(replace(sample), columns_of(sample), given)
    _take_given(draft)
    runs = identify(draft, paths[0])
    pair_up(draft, runs)
    find_kept(draft, runs)
    find_answers(draft)
    find_evidence(draft)
    find_seconds(draft)
    _finish(draft)
    guess = Guess(paths, draft)
    if map_out is not None and guess.is_sure:
        guess.write(Path(map_out), force=force)
    return guess


def _take_given(draft: Draft) -> None:
    """What the user has stated goes before anything else."""
    given = dict(draft.given)
    for name, stated in given.items():
        table, _, key = name.partition(".")
        if key and table in ELSEWHERE:
            _take_setting(draft, table, key, stated)
            continue
        if not stated:
            continue
        draft.given = {other: value for other, value in given.items() if other != name}
        if stated.startswith("@") or any(look_up(row, stated) is not MISSING for row in draft.sample.rows):
            draft.take(name, stated, "stated by you")
        else:
            draft.fix(name, _value(name, stated), "stated by you")
    draft.given = given
    selected = draft.column("selected")
    if selected is not None:
        name_values(draft, selected)


def _take_setting(draft: Draft, table: str, key: str, stated: str) -> None:
    """An entry of a table of the mapping that is not about fields; `toml` reads those of [thresholds] and [source]."""
    value = nested(stated) if stated.startswith("[") else NUMBER.from_cell(stated, None)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if table == "count_from" and (key, stated) != ("iteration", ORDER):
        if not is_number or value != int(value):
            raise UsageError(f"--field {table}.{key}={stated}: it should be a whole number")
        draft.count_from[key] = int(value)
    elif table == "count_from":
        draft.count_from[key] = ORDER
    elif table == "run":
        draft.run[key] = value
    elif table == "thresholds" and not is_number:
        raise UsageError(f"--field {table}.{key}={stated}: it should be a number")


def _value(name: str, stated: str) -> Any:
    try:
        value = kind_of(name).from_cell(stated, None)
        kind_of(name).read(value)
    except FieldError as error:
        raise UsageError(f"--field {name}={stated}: there is no such column, and as a value it {error}") from None
    return value


def _finish(draft: Draft) -> None:
    """What follows from the findings."""
    names = draft.findings.keys()
    if not any(name.endswith((".params", ".text", ".example_ids")) or component_of(name) for name in names):
        draft.run["candidates"] = "text"
        draft.remarks.append("the log has neither texts nor parameters: taken for one of texts that it does not state")
    for name in ("initial.returns", "revised.returns", "initial.mean_return", "revised.mean_return"):
        column = draft.column(name)
        if column is not None and (worth := _worth(column)):
            draft.values[name] = worth
    if "params" in {name.partition(".")[2] for name in names}:
        _need_thresholds(draft)
    if draft.sample.faults:
        draft.remarks.append("rows that cannot be read are left out by an import")


def _worth(column: Column) -> dict[str, float]:
    """What true, `pass` and the like are worth, as [values] names them."""
    worth: dict[str, float] = {}
    for row, value in enumerate(column.values):
        if isinstance(value, bool | str):
            worth[spelt(column, row)] = score_of(value) or 0.0
        items = list(value.values()) if isinstance(value, dict) else value
        if isinstance(value, bool) or (isinstance(items, list) and any(isinstance(item, bool) for item in items)):
            worth |= {"true": 1.0, "false": 0.0}
    return worth


def _need_thresholds(draft: Draft) -> None:
    """Edit patterns of parameters need thresholds that no log states."""
    env, column = draft.findings["env"], draft.column("env")
    empty = LogMapping(columns={}, constants={}, values={}, count_from=COUNTED)
    for task in [env.value] if column is None else column.distinct():
        stated = {name for name in draft.given if name.startswith(f"thresholds.{task}.")}
        if not stated and unknown_task(task, empty):
            keys = " ".join(f"--field thresholds.{task}.{key}=…" for key in KEYS)
            text = (
                f"{excerpt(task)} is not a task known here. Its edit patterns need thresholds ({keys}), or --field env="
            )
            draft.ask(f"thresholds.{task}", f"{text}TASK with the name of a task that is", {})
