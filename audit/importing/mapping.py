"""The mapping: which column of a log is which field of a record. A TOML file, every key of which is known."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from audit.importing.fields import CANDIDATE, FIELDS, IDENTITY, SHOWN_LABELS, FieldError
from audit.problems import UsageError
from collector.records import Thresholds
from collector.regular_files import read_regular

FILE, ROW = "@file", "@row"
"""Stand for columns: the number of the file among those given, from 1, and of the row in its file, from 0."""
TABLES: Final = ("fields", "constants", "values", "count_from", "run", "thresholds", "source")
COUNTED: Final = {"run": 1, "iteration": 0, "rollout": 0}
"""What records count from."""
PER_TASK: Final = ("tau_c", "optimum", "step_size")
ORIGIN: Final = "user"
LARGEST: Final = 2**20
"""Bytes of the largest mapping."""

Layout = Literal["csv", "jsonl"]


@dataclass(frozen=True, kw_only=True)
class LogMapping:
    """A mapping, checked.

    Attributes:
        columns: the column of each field that the log has.
        constants: the value of each field that is the same in all rows.
        values: what values of a field are called here, by their names in the log.
        count_from: what the log counts runs, iterations and rollouts from.
        backend, model, options: who answered, for `run.json`.
        per_task: tau_c, optimum and step_size; each a number, or numbers by task.
        thresholds: of the edit patterns, by task.
        layout: csv or jsonl; None where the file's ending decides.
        delimiter: between the cells of a CSV file; None for a comma, or a tab in a file that ends in .tsv.
        separator: between the items of a list in a cell; None where lists are JSON.
        text: the file as it is.
    """

    columns: Mapping[str, str]
    constants: Mapping[str, Any]
    values: Mapping[str, Mapping[str, Any]]
    count_from: Mapping[str, int]
    backend: str = "other"
    model: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    per_task: Mapping[str, float | Mapping[str, float]] = field(default_factory=dict)
    thresholds: Mapping[str, Thresholds] = field(default_factory=dict)
    layout: Layout | None = None
    delimiter: str | None = None
    separator: str | None = None
    text: str = ""

    def has(self, name: str) -> bool:
        """Whether the mapping says anything of a field."""
        return name in self.columns or name in self.constants

    def of_task(self, name: str, env: str) -> float | None:
        """A number of `run.json` that may depend on the task."""
        value = self.per_task.get(name)
        return value.get(env) if isinstance(value, Mapping) else value


def read_mapping(path: Path) -> LogMapping:
    """Read a mapping.

    Raises:
        UsageError: it is no TOML, names a table or field that there is not, or leaves out what every record needs.
    """
    try:
        text = read_regular(path, LARGEST).decode("utf-8-sig")
        tables = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"--map {path}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"--map {path}: not TOML ({error})") from None
    try:
        return _mapping(tables, text)
    except FieldError as error:
        raise UsageError(f"--map {path}: {error}") from None


def _mapping(tables: Mapping[str, Any], text: str) -> LogMapping:
    _known(tables, TABLES, "table")
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise FieldError(f"{name} should be a table, written [{name}]")
    run, source = tables.get("run", {}), tables.get("source", {})
    _known(run, ("backend", "model", "options", *PER_TASK), "key", "[run] ")
    _known(source, ("format", "delimiter", "list_separator"), "key", "[source] ")
    mapping = LogMapping(
        columns=dict(_columns(tables.get("fields", {}))),
        constants=dict(_constants(tables.get("constants", {}))),
        values=dict(_values(tables.get("values", {}))),
        count_from=_count_from(tables.get("count_from", {})),
        backend=_typed(run.get("backend", "other"), str, "[run] backend", "text"),
        model=_typed(run.get("model"), str | None, "[run] model", "text"),
        options=_options(run.get("options", {})),
        per_task={name: _per_task(name, run[name]) for name in PER_TASK if name in run},
        thresholds={env: _thresholds(env, values) for env, values in tables.get("thresholds", {}).items()},
        layout=_typed(source.get("format"), Layout | None, "[source] format", "'csv' or 'jsonl'"),
        delimiter=_delimiter(source.get("delimiter")),
        separator=_separator(source.get("list_separator")),
        text=text,
    )
    _complete(mapping)
    return mapping


def _complete(mapping: LogMapping) -> None:
    """Refuse what can give no record."""
    if twice := sorted(mapping.columns.keys() & mapping.constants.keys()):
        raise FieldError(f"{twice[0]} stands in [fields] and in [constants]")
    for name in (*IDENTITY, "selected"):
        if not mapping.has(name):
            more = ", or the constant 'better' if the better one was kept" if name == "selected" else ""
            raise FieldError(f"{name} is missing; give its column in [fields], or its value in [constants]{more}")
    if "iteration" in mapping.constants:
        raise FieldError("iteration cannot be the same in all rows; for rows in order, give it the column '@row'")
    roles = [role for role in ("initial", "revised") if role == "initial" or _says_anything(mapping, role)]
    for role in roles:
        if not (mapping.has(f"{role}.returns") or mapping.has(f"{role}.mean_return")):
            raise FieldError(f"{role}.returns is missing, one return per rollout, or else {role}.mean_return")
    indices = [label for label in SHOWN_LABELS if mapping.has(f"evidence.{label}")]
    if indices and mapping.has("evidence.shown"):
        raise FieldError(f"evidence.shown and evidence.{indices[0]} say the same; give one of them")
    if indices and not mapping.has("initial.returns"):
        raise FieldError(f"evidence.{indices[0]} is an index among initial.returns, which are missing")


def _says_anything(mapping: LogMapping, role: str) -> bool:
    return any(mapping.has(f"{role}.{name}") for name in CANDIDATE)


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The entries of nested tables, down to those that are fields."""
    for key, value in table.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict) and path not in FIELDS:
            yield from _flat(value, f"{path}.")
        else:
            _known([path], FIELDS, "field")
            yield path, value


def _columns(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for path, value in _flat(table):
        if not isinstance(value, str) or not value:
            raise FieldError(f"[fields] {path} should be the name of a column")
        yield path, value


def _constants(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for path, value in _flat(table):
        try:
            FIELDS[path].read(value)
        except FieldError as error:
            raise FieldError(f"[constants] {path} {error}") from None
        yield path, value


def _values(table: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path, names in _flat(table):
        if not isinstance(names, dict):
            raise FieldError(f"[values] {path} should be a table of names in the log and names here")
        yield path, names


def _count_from(table: Mapping[str, Any]) -> dict[str, int]:
    _known(table, COUNTED, "key", "[count_from] ")
    for name, value in table.items():
        _typed(value, int, f"[count_from] {name}", "a whole number")
    return {**COUNTED, **table}


def _per_task(name: str, value: Any) -> float | dict[str, float]:
    read: float | dict[str, float]
    read = _typed(value, float | dict[str, float], f"[run] {name}", "a number, or a table of numbers by task")
    if not all(map(math.isfinite, read.values() if isinstance(read, dict) else [read])):
        raise FieldError(f"[run] {name} should be finite")
    return read


def _thresholds(env: str, values: Any) -> Thresholds:
    if isinstance(values, dict):
        _known(values, Thresholds.__struct_fields__, "threshold", f"[thresholds.{env}] ")
        values = {"origin": ORIGIN, **values}
    try:
        return msgspec.convert(values, Thresholds)
    except msgspec.ValidationError as error:
        raise FieldError(f"[thresholds.{env}] {error}") from None


def _options(value: Any) -> dict[str, Any]:
    options: dict[str, Any] = _typed(value, dict[str, Any], "[run] options", "a table")
    try:
        msgspec.json.encode(options)
    except (TypeError, msgspec.MsgspecError) as error:
        raise FieldError(f"[run] options cannot be written as JSON ({error})") from None
    return options


def _delimiter(value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and len(value) == 1 and value not in '"\r\n'):
        raise FieldError("[source] delimiter should be one character, such as ';' or '\\t'")
    return value


def _separator(value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and value):
        raise FieldError("[source] list_separator should be text, such as ';' or ' '")
    return value


def _typed(value: Any, kind: Any, name: str, words: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise FieldError(f"{name} should be {words}") from None


def _known(keys: Any, known: Any, what: str, where: str = "") -> None:
    for key in keys:
        if key not in known:
            raise FieldError(f"{where}there is no {what} {key!r}{_nearest(key, known)}")


def _nearest(name: str, known: Any) -> str:
    """The known name that is closest to one that is not, as a question; else all of them where they are few."""
    close = difflib.get_close_matches(name, list(known), n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {', '.join(known)}" if len(known) <= 12 else ""
