"""Mappings in files: TOML, every key of which is known; all that is wrong with one is named at once."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec

from audit.importing.completeness import incomplete
from audit.importing.fields import (
    FIELDS,
    SELECTION_RULES,
    TEXTS,
    FieldError,
    component_of,
    kind_of,
)
from audit.importing.mapping import COUNTED, Decimal, Direction, Layout, LogMapping, Parents, Range
from audit.importing.parents import PREVIOUS
from audit.output.errors import UsageError
from collector.records import CandidateKind, SelectionRule, Thresholds
from collector.system.regular_files import read_regular

TABLES: Final = ("fields", "constants", "values", "count_from", "run", "thresholds", "source")
ORDER: Final = "order"
"""Instead of a number to count iterations from: they are numbered in the order of their values."""
PER_TASK: Final = ("tau_c", "optimum", "step_size")
RUN_KEYS: Final = (
    "backend",
    "model",
    "options",
    "candidates",
    "selection_rule",
    "direction",
    "score_range",
    "parent",
    *PER_TASK,
)
ORIGIN: Final = "user"
LARGEST: Final = 2**20
"""Bytes of the largest mapping."""
SHIPPED: Final = resources.files("audit.importing") / "mappings"
"""The mappings that come with the package: `--map NAME` is `NAME.toml` there."""


def read_mapping(path: Path) -> tuple[LogMapping, list[str]]:
    """Read a mapping: as much of it as makes sense, and what is wrong with it.

    Args:
        path: a file, or the name of a mapping that comes with the package.

    Raises:
        UsageError: there is no such file, or it is not TOML.
    """
    try:
        text = _text_of(path)
    except OSError as error:
        names = sorted(shipped())
        hint = f"; mappings that need no file: {', '.join(names)}" if names and path.name == str(path) else ""
        raise UsageError(f"--map {path}: {error.strerror}{hint}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"--map {path}: not TOML ({error})") from None
    return parse_mapping(text, path)


def shipped() -> set[str]:
    """The names of the mappings that come with the package, which are those of their methods as well."""
    return {each.name.removesuffix(".toml") for each in SHIPPED.iterdir()} if SHIPPED.is_dir() else set()


def parse_mapping(text: str, path: Path) -> tuple[LogMapping, list[str]]:
    """The same for the text of a mapping; `path` is for messages.

    Raises:
        UsageError: it is not TOML.
    """
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"--map {path}: not TOML ({error})") from None
    return _mapping(tables, text)


def refuse_mistakes(path: Path, mistakes: list[str]) -> None:
    """Raise an error that names all mistakes of a mapping, if there are any.

    Raises:
        UsageError: there are mistakes.
    """
    if len(mistakes) > 1:
        raise UsageError("\n  ".join([f"--map {path}: {len(mistakes)} mistakes", *mistakes]))
    if mistakes:
        raise UsageError(f"--map {path}: {mistakes[0]}")


def _text_of(path: Path) -> str:
    shipped = SHIPPED / f"{path}.toml"
    if path.name == str(path) and not path.exists() and shipped.is_file():
        return shipped.read_text("utf-8")
    return read_regular(path, LARGEST).decode("utf-8-sig")


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
    mistakes.known(run, RUN_KEYS, "key", "[run] ")
    mistakes.known(source, ("format", "delimiter", "list_separator", "decimal"), "key", "[source] ")
    meant = {name for table in ("fields", "constants") for name in _meant(tables[table])}
    constants = dict(_constants(tables["constants"], mistakes))
    in_order = tables["count_from"].get("iteration") == ORDER
    counted = {name: value for name, value in tables["count_from"].items() if not (in_order and name == "iteration")}
    has_texts = any(name.split(".")[1:2] in (["text"], ["example_ids"]) for name in meant)
    if "selection_rule" in run:
        meant.add("selected")
    mapping = LogMapping(
        columns=dict(_columns(tables["fields"], mistakes)),
        constants=constants,
        values=dict(_values(tables["values"], mistakes)),
        count_from=_count_from(counted, mistakes),
        in_order=in_order,
        candidates=mistakes.typed(
            run.get("candidates", "text" if has_texts else "params"),
            CandidateKind,
            "[run] candidates",
            "'text' or 'params'",
            "params",
        ),
        selection_rule=_selection_rule(run, constants, mistakes),
        parents=_parents(run.get("parent"), meant, mistakes),
        direction=mistakes.typed(run.get("direction"), Direction | None, "[run] direction", "'maximize' or 'minimize'"),
        score_range=_score_range(run.get("score_range"), mistakes),
        backend=mistakes.typed(run.get("backend", "other"), str, "[run] backend", "text"),
        model=mistakes.typed(run.get("model"), str | None, "[run] model", "text"),
        options=_options(run.get("options", {}), mistakes),
        per_task=dict(_per_task(run, mistakes)),
        thresholds=dict(_thresholds(tables["thresholds"], mistakes)),
        layout=mistakes.typed(source.get("format"), Layout | None, "[source] format", "'csv', 'jsonl' or 'parquet'"),
        delimiter=_delimiter(source.get("delimiter"), mistakes),
        separator=_separator(source.get("list_separator"), mistakes),
        decimal=mistakes.typed(source.get("decimal"), Decimal | None, "[source] decimal", "'.' or ','"),
        text=text,
    )
    mistakes += incomplete(mapping, meant, is_whole=is_whole)
    return mapping, mistakes


def _meant(table: Mapping[str, Any]) -> Iterator[str]:
    """The fields that a table names, and for each unknown name the closest field."""
    for path, _ in _entries(table):
        yield from [path] if path in FIELDS or component_of(path) else difflib.get_close_matches(path, FIELDS, n=1)


def _entries(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The entries of nested tables, down to those that are fields or, of texts, components."""
    for key, value in table.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict) and (path not in FIELDS or FIELDS[path] is TEXTS):
            yield from _entries(value, f"{path}.")
        else:
            yield path, value


def _flat(table: Mapping[str, Any], mistakes: _Mistakes) -> Iterator[tuple[str, Any]]:
    """The entries that are fields."""
    entries = dict(_entries(table))
    components = {path: None for path in entries if component_of(path)}
    return ((path, entries[path]) for path in mistakes.known(entries, {**FIELDS, **components}, "field"))


def _columns(table: Mapping[str, Any], mistakes: _Mistakes) -> Iterator[tuple[str, str]]:
    for path, value in _flat(table, mistakes):
        if isinstance(value, str) and value:
            yield path, value
        else:
            mistakes.append(f"[fields] {path} should be the name of a column")


def _constants(table: Mapping[str, Any], mistakes: _Mistakes) -> Iterator[tuple[str, Any]]:
    for path, value in _flat(table, mistakes):
        try:
            kind_of(path).read(value)
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


def _selection_rule(run: Mapping[str, Any], constants: Mapping[str, Any], mistakes: _Mistakes) -> SelectionRule | None:
    """The rule that [run] states, or the constant `selected`."""
    known = ", ".join(map(repr, SELECTION_RULES))
    rule: SelectionRule | None = mistakes.typed(
        run.get("selection_rule"), SelectionRule | None, "[run] selection_rule", f"one of {known}"
    )
    constant = constants.get("selected")
    if rule is not None and constant in SELECTION_RULES and constant != rule:
        mistakes.append(f"[run] selection_rule is {rule!r}, and [constants] selected is {constant!r}")
    return rule or (constant if constant in SELECTION_RULES else None)


def _parents(value: Any, meant: Collection[str], mistakes: _Mistakes) -> Parents | None:
    """Whether a row is a candidate, and how its parent is found."""
    if value not in (None, PREVIOUS):
        mistakes.append(f"[run] parent should be '{PREVIOUS}'; the column that names parents is [fields] parent")
    if value is not None and "parent" in meant:
        mistakes.append("[run] parent and [fields] parent are both there; give one of them")
    return "named" if "parent" in meant else "previous" if value == PREVIOUS else None


def _score_range(value: Any, mistakes: _Mistakes) -> Range | None:
    words = "the lowest and the highest score, such as [0, 1]"
    read: Range | None = mistakes.typed(value, Range | None, "[run] score_range", words)
    if read is None or (all(map(math.isfinite, read)) and read[0] < read[1]):
        return read
    mistakes.append(f"[run] score_range should be {words}")
    return None


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
