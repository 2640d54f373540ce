"""A draft as the TOML of a mapping, with its reasons as comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from audit.importing.fields import component_of
from audit.importing.guessing.draft import Draft
from audit.output.escaping import in_line

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def mapping_text(draft: Draft, files: Sequence[str]) -> str:
    """The mapping of a draft."""
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    lines = [f"# Guessed from {in_line(files[0])}{more} by `audit import --guess`. Check each line."]
    findings = draft.findings.values()
    lines += _table("fields", {each.field: (each.column, each.reason) for each in findings if each.column is not None})
    lines += _table("constants", {each.field: (each.value, each.reason) for each in findings if each.column is None})
    for name, values in draft.values.items():
        if draft.column(name) is not None:
            lines += _table(
                f"values.{name}", {_quoted(key): (value, "") for key, value in values.items()}, is_path=False
            )
    lines += _table("count_from", {name: (first, "") for name, first in draft.count_from.items()})
    lines += _table("run", {name: (value, "") for name, value in draft.run.items()})
    for task, thresholds in _thresholds(draft.given).items():
        lines += _table(f"thresholds.{_key(task)}", {name: (value, "") for name, value in thresholds.items()})
    source, reasons = draft.sample.source, draft.sample.reasons
    stated = {
        "format": source.layout,
        "delimiter": source.delimiter,
        "list_separator": source.separator,
        "decimal": source.decimal,
    }
    lines += _table("source", {name: (value, reasons[name]) for name, value in stated.items() if name in reasons})
    return "\n".join(lines) + "\n"


def _table(name: str, entries: Mapping[str, tuple[Any, str]], *, is_path: bool = True) -> Iterator[str]:
    if entries:
        yield f"\n[{name}]"
    for key, (value, reason) in entries.items():
        comment = f"  # {_comment(reason)}" if reason else ""
        yield f"{_path(key) if is_path else key} = {_literal(value)}{comment}"


def _path(field: str) -> str:
    if (component := component_of(field)) is not None:
        return f"{component[0]}.{_key(component[1])}"
    return field


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """A TOML string: as in JSON, with the one character escaped that JSON allows."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)} = {_literal(each)}" for key, each in value.items()) + "}"
    return _quoted(value) if isinstance(value, str) else repr(value)


def _comment(reason: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in in_line(reason))


def _thresholds(given: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, stated in given.items():
        table, _, rest = name.partition(".")
        task, _, key = rest.rpartition(".")
        if table == "thresholds" and task:
            number = float(stated)
            found.setdefault(task, {})[key] = int(number) if number.is_integer() else number
    return found
