"""A mapping that is guessed from the first rows of a log, with a reason for each of its lines."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from audit.importing.fields import FIELDS, NUMBER, FieldError, component_of, kind_of, nested
from audit.importing.guessing.candidates import find_candidates
from audit.importing.guessing.columns import read_log, spelt
from audit.importing.guessing.draft import Guess, key_of
from audit.importing.guessing.names import WON
from audit.importing.guessing.rows import check_order, find_answers, find_evidence, find_kept, identify
from audit.importing.log_files import readable
from audit.importing.mapping_file import SHIPPED, parse_mapping
from audit.output.errors import UsageError

SETTINGS: Final = ("count_from", "run", "source", "thresholds")
"""Tables of a mapping beside those of fields that the user can state."""


def guess_mapping(
    files: str | Path | Iterable[str | Path],
    *,
    field: Mapping[str, str] | None = None,
    map_out: str | Path | None = None,
    force: bool = False,
) -> Guess:
    """Guess which column of a log is which field of a record.

    Args:
        files: one or several, JSON Lines, CSV or Parquet, or a folder of Parquet files.
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
    draft = Guess(paths, read_log(paths))
    _take_given(draft, given)
    if not _take_shipped(draft):
        identify(draft, paths[0])
        find_candidates(draft)
        find_kept(draft)
        check_order(draft)
        find_answers(draft)
        find_evidence(draft)
        _finish(draft)
    if map_out is not None:
        draft.write(Path(map_out), force=force)
    return draft


def _take_given(draft: Guess, given: Mapping[str, str]) -> None:
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


def _take_shipped(draft: Guess) -> bool:
    """Take the mapping that comes with the package for this log, if all of its columns are there."""
    for file in sorted(SHIPPED.iterdir(), key=lambda each: each.name) if SHIPPED.is_dir() else ():
        name, text = file.name.removesuffix(".toml"), file.read_text("utf-8")
        mapping, _ = parse_mapping(text, Path(name))
        # Of logs with a row per candidate the columns are too few and too common to tell whose log it is.
        if mapping.parents is None and all(draft.is_column(column) for column in mapping.columns.values()):
            for field, column in mapping.columns.items():
                draft.take(field, column, f"as in the mapping {name}")
            for field, value in mapping.constants.items():
                draft.fix(field, value, f"as in the mapping {name}")
            draft.values |= {field: dict(values) for field, values in mapping.values.items()}
            for key, value in tomllib.loads(text).get("run", {}).items():
                draft.setting("run", key, value)
            return True
    return False


def _finish(draft: Guess) -> None:
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
