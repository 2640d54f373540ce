"""The mapping: which column of a log is which field of a record. A TOML file, every key of which is known."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from audit.importing.fields import FIELDS, IDENTITY, SHOWN_LABELS, FieldError
from audit.output.errors import UsageError
from collector.records import Thresholds
from collector.system.regular_files import read_regular

FILE, ROW = "@file", "@row"
"""Pseudo-columns: the number of the file among those given, from 1, and of the row in its file, from 0."""
TABLES: Final = ("fields", "constants", "values", "count_from", "run", "thresholds", "source")
COUNTED: Final = {"run": 1, "iteration": 0, "rollout": 0}
"""What records count from."""
PER_TASK: Final = ("tau_c", "optimum", "step_size")
ORIGIN: Final = "user"
LARGEST: Final = 2**20
"""Bytes of the largest mapping."""

Layout = Literal["csv", "jsonl"]
Decimal = Literal[".", ","]


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
        decimal: the mark before the decimals of a number in a cell; None where the numbers themselves show it.
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
    decimal: Decimal | None = None
    text: str = ""

    def has(self, name: str) -> bool:
        """Whether the mapping has an entry for a field."""
        return name in self.columns or name in self.constants

    def of_task(self, name: str, env: str) -> float | None:
        """A number of `run.json` that may depend on the task."""
        value = self.per_task.get(name)
        return value.get(env) if isinstance(value, Mapping) else value


def read_mapping(path: Path) -> LogMapping:
    """Read a mapping.

    Raises:
        UsageError: it is not TOML, names an unknown table or field, or leaves out what every record needs; the
            message names everything that is wrong.
    """
    try:
        text = read_regular(path, LARGEST).decode("utf-8-sig")
        tables = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"--map {path}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"--map {path}: not TOML ({error})") from None
    mapping, mistakes = _mapping(tables, text)
    if len(mistakes) > 1:
        raise UsageError("\n  ".join([f"--map {path}: {len(mistakes)} mistakes", *mistakes]))
    if mistakes:
        raise UsageError(f"--map {path}: {mistakes[0]}")
    return mapping


class _Mistakes(list[str]):
    """What is wrong with a mapping so far."""

    def typed(self, value: Any, kind: Any, name: str, words: str, default: Any = None) -> Any:
        """A value of a type; the default where it is of another."""
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError:
            self.append(f"{name} should be {words}")
            return default

    def known(self, keys: Iterable[str], known: Collection[str], what: str, where: str = "") -> list[str]:
        """The keys that are known; the others become mistakes."""
        keys = list(keys)
        self += [f"{where}there is no {what} {key!r}{_nearest(key, known)}" for key in keys if key not in known]
        return [key for key in keys if key in known]


def _mapping(given: Mapping[str, Any], text: str) -> tuple[LogMapping, list[str]]:
    mistakes = _Mistakes()
    known = mistakes.known(given, TABLES, "table")
    is_whole = len(known) == len(given)
    tables: dict[str, dict[str, Any]] = {
        name: mistakes.typed(given.get(name, {}), dict[str, Any], name, f"a table, written [{name}]", {})
        for name in TABLES
    }
    run, source = tables["run"], tables["source"]
    mistakes.known(run, ("backend", "model", "options", *PER_TASK), "key", "[run] ")
    mistakes.known(source, ("format", "delimiter", "list_separator", "decimal"), "key", "[source] ")
    meant = {name for table in ("fields", "constants") for name in _meant(tables[table])}
    mapping = LogMapping(
        columns=dict(_columns(tables["fields"], mistakes)),
        constants=dict(_constants(tables["constants"], mistakes)),
        values=dict(_values(tables["values"], mistakes)),
        count_from=_count_from(tables["count_from"], mistakes),
        backend=mistakes.typed(run.get("backend", "other"), str, "[run] backend", "text"),
        model=mistakes.typed(run.get("model"), str | None, "[run] model", "text"),
        options=_options(run.get("options", {}), mistakes),
        per_task=dict(_per_task(run, mistakes)),
        thresholds=dict(_thresholds(tables["thresholds"], mistakes)),
        layout=mistakes.typed(source.get("format"), Layout | None, "[source] format", "'csv' or 'jsonl'"),
        delimiter=_delimiter(source.get("delimiter"), mistakes),
        separator=_separator(source.get("list_separator"), mistakes),
        decimal=mistakes.typed(source.get("decimal"), Decimal | None, "[source] decimal", "'.' or ','"),
        text=text,
    )
    mistakes += _incomplete(mapping, meant, is_whole=is_whole)
    return mapping, mistakes


def _incomplete(mapping: LogMapping, meant: set[str], *, is_whole: bool) -> Iterator[str]:
    """Reasons why no record can be made with a mapping.

    Args:
        mapping: as far as it could be read.
        meant: the fields that it names, those that it misspells under their own names.
        is_whole: whether all its tables are known; an unknown one may be a misspelt one that is needed.
    """
    for name in sorted(mapping.columns.keys() & mapping.constants.keys()):
        yield f"{name} is in [fields] and in [constants]"
    if "iteration" in mapping.constants:
        yield "iteration cannot be the same in all rows; for rows in order, give it the column '@row'"
    indices = [label for label in SHOWN_LABELS if mapping.has(f"evidence.{label}")]
    if indices and mapping.has("evidence.shown"):
        yield f"evidence.shown and evidence.{indices[0]} mean the same; give one of them"
    if indices and "initial.returns" not in meant:
        yield f"evidence.{indices[0]} is an index among initial.returns, which are missing"
    if mapping.decimal == "," and "," in (mapping.separator or ""):
        yield "[source] list_separator and decimal are both a comma"
    if not is_whole:
        return
    for name in (*IDENTITY, "selected"):
        if name not in meant:
            more = ", or the constant 'better' if the better one was kept" if name == "selected" else ""
            yield f"{name} is missing; give its column in [fields], or its value in [constants]{more}"
    roles = ("initial", "revised") if any(name.startswith("revised.") for name in meant) else ("initial",)
    for role in roles:
        if not {f"{role}.returns", f"{role}.mean_return"} & meant:
            yield f"{role}.returns is missing, one return per rollout, or else {role}.mean_return"


def _meant(table: Mapping[str, Any]) -> Iterator[str]:
    """The fields that a table names, and for each unknown name the closest field."""
    for path, _ in _entries(table):
        yield from [path] if path in FIELDS else difflib.get_close_matches(path, FIELDS, n=1)


def _entries(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The entries of nested tables, down to those that are fields."""
    for key, value in table.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict) and path not in FIELDS:
            yield from _entries(value, f"{path}.")
        else:
            yield path, value


def _flat(table: Mapping[str, Any], mistakes: _Mistakes) -> Iterator[tuple[str, Any]]:
    """The entries that are fields."""
    entries = dict(_entries(table))
    return ((path, entries[path]) for path in mistakes.known(entries, FIELDS, "field"))


def _columns(table: Mapping[str, Any], mistakes: _Mistakes) -> Iterator[tuple[str, str]]:
    for path, value in _flat(table, mistakes):
        if isinstance(value, str) and value:
            yield path, value
        else:
            mistakes.append(f"[fields] {path} should be the name of a column")


def _constants(table: Mapping[str, Any], mistakes: _Mistakes) -> Iterator[tuple[str, Any]]:
    for path, value in _flat(table, mistakes):
        try:
            FIELDS[path].read(value)
        except FieldError as error:
            mistakes.append(f"[constants] {path} {error}")
        else:
            yield path, value


def _values(table: Mapping[str, Any], mistakes: _Mistakes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path, names in _flat(table, mistakes):
        if isinstance(names, dict):
            yield path, names
        else:
            mistakes.append(f"[values] {path} should be a table of names in the log and names here")


def _count_from(table: Mapping[str, Any], mistakes: _Mistakes) -> dict[str, int]:
    known = mistakes.known(table, COUNTED, "key", "[count_from] ")
    given = {
        name: mistakes.typed(table[name], int, f"[count_from] {name}", "a whole number", COUNTED[name])
        for name in known
    }
    return {**COUNTED, **given}


def _per_task(run: Mapping[str, Any], mistakes: _Mistakes) -> Iterator[tuple[str, float | dict[str, float]]]:
    for name in PER_TASK:
        if name in run:
            words = "a number, or a table of numbers by task"
            read = mistakes.typed(run[name], float | dict[str, float], f"[run] {name}", words, {})
            if not all(map(math.isfinite, read.values() if isinstance(read, dict) else [read])):
                mistakes.append(f"[run] {name} should be finite")
            yield name, read


def _thresholds(table: Mapping[str, Any], mistakes: _Mistakes) -> Iterator[tuple[str, Thresholds]]:
    for env, values in table.items():
        keys = values if isinstance(values, dict) else {}
        where = f"[thresholds.{env}] "
        if len(mistakes.known(keys, Thresholds.__struct_fields__, "threshold", where)) < len(keys):
            continue
        try:
            yield env, msgspec.convert({"origin": ORIGIN, **keys} if keys else values, Thresholds)
        except msgspec.ValidationError as error:
            mistakes.append(f"{where}{error}")


def _options(value: Any, mistakes: _Mistakes) -> dict[str, Any]:
    options: dict[str, Any] = mistakes.typed(value, dict[str, Any], "[run] options", "a table", {})
    try:
        msgspec.json.encode(options)
    except (TypeError, msgspec.MsgspecError) as error:
        mistakes.append(f"[run] options cannot be written as JSON ({error})")
    return options


def _delimiter(value: Any, mistakes: _Mistakes) -> str | None:
    if value is None or (isinstance(value, str) and len(value) == 1 and value not in '"\r\n'):
        return value
    mistakes.append("[source] delimiter should be one character, such as ';' or '\\t'")
    return None


def _separator(value: Any, mistakes: _Mistakes) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    mistakes.append("[source] list_separator should be text, such as ';' or ' '")
    return None


def _nearest(name: str, known: Collection[str]) -> str:
    """The known name that is closest to one that is not, as a question; else all of them where they are few."""
    close = difflib.get_close_matches(name, list(known), n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {', '.join(known)}" if len(known) <= 12 else ""
