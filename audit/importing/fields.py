"""The fields of a record that a log can fill, and what a value of each must be."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args, get_origin
from urllib.parse import quote

import msgspec

from audit.output.escaping import excerpt
from audit.sources.numbers import plain
from audit.vocabulary.evidence import ShownRollout
from collector.records import (
    Ending,
    EvidenceKind,
    Proposer,
    RevisionStatus,
    RolloutLabel,
    Selected,
    SelectionRule,
    Statistics,
)

SELECTION_RULES: Final = get_args(SelectionRule)
"""Values of `selected` for a log whose method has a rule: `better` keeps the revised candidate where r1 >= r0."""
LARGEST: Final = 2**63 - 1
LARGEST_SEED: Final = 2**64 - 1
LONGEST_LABEL: Final = 100
LONGEST_NAME: Final = 250
"""Bytes that a folder's name can have on every file system, less a margin."""
SHOWN_LABELS: Final[tuple[RolloutLabel, ...]] = ("worst", "median", "best", "representative")
PAIR_LABELS: Final[tuple[RolloutLabel, ...]] = ("worst", "best")
COMPONENT: Final = "text"
"""The name of a text that has none: the only component of its candidate."""
LONGEST_ITEM: Final = 2**16
"""Characters of a shown item's text that are kept."""

Selection = Literal[Selected, SelectionRule]


class FieldError(ValueError):
    """A value that a field cannot have; the message states what it should be and what it is."""


@dataclass(frozen=True)
class Kind:
    """The values that a field can have.

    Attributes:
        words: what they should be, for messages.
        type: what msgspec checks.
        check: what it cannot check; returns a message, or None for a valid value.
        prepare: brings other ways of writing a value into the form that is checked.
    """

    words: str
    type: Any
    check: Callable[[Any], str | None] = lambda _: None
    prepare: Callable[[Any], Any] = lambda value: value

    @property
    def is_list(self) -> bool:
        """Whether a value is one entry per rollout, example, item or parameter."""
        return any(get_origin(each) is list for each in (self.type, *get_args(self.type)))

    def read(self, value: Any) -> Any:
        """Check a value that was read from JSON.

        Raises:
            FieldError: the value is not valid.
        """
        if self.type in (int, list[int]):
            value = [_integral(item) for item in value] if isinstance(value, list) else _integral(value)
        try:
            read = msgspec.convert(self.prepare(value), self.type)
        except (msgspec.ValidationError, OverflowError) as error:
            raise FieldError(f"should be {self.words}, but {_culprit(value, str(error))}") from None
        except UnicodeEncodeError as error:
            raise FieldError(f"should be {self.words}, but {_readable(error.object)}") from None
        if (wrong := self.check(read)) is not None:
            raise FieldError(f"should be {self.words}, but {wrong}")
        return read

    def from_cell(self, cell: str, separator: str | None, decimal: str = ".") -> Any:
        """The JSON value of a cell's text; the cell itself where it has none.

        `separator` is between the items of a list that is not JSON, `decimal` before the decimals of numbers.
        """
        if self.type is str or self.type in _WORDS:
            return cell
        text = cell.strip()
        if self is TEXTS:
            value = nested(text)
            return value if isinstance(value, dict) else cell
        if self.is_list and separator is not None and not text.startswith("{"):
            text = text.removeprefix("[").removesuffix("]").strip()
            parts = text.split() if separator.isspace() else text.split(separator)
            is_number = self.type in (list[float], list[int])
            return (
                [self._scalar(part.strip(), decimal) if is_number else part.strip() for part in parts] if text else []
            )
        if self.is_list or self.type is Statistics:
            return nested(text)
        return self._scalar(text, decimal)

    def _scalar(self, text: str, decimal: str) -> Any:
        # With decimal commas a point may be anything, such as a mark of thousands: it makes no number.
        number = text if decimal == "." else text.translate({ord("."): ",", ord(","): "."})
        for read in (int, float):
            try:
                return read(number)
            except ValueError:
                continue
        if number != text and not text.strip("+-.0123456789eE"):
            raise FieldError(f"should be {self.words}, but is {excerpt(text)}")
        return {"true": True, "false": False}.get(text.lower(), text)


def _finite(value: Any) -> str | None:
    for place, number in enumerate(value if isinstance(value, list) else [value]):
        if not math.isfinite(number):
            return f"item {place} is {number}" if isinstance(value, list) else f"is {number}"
    return None


def _natural(largest: int) -> Callable[[Any], str | None]:
    def check(value: Any) -> str | None:
        for place, number in enumerate(value if isinstance(value, list) else [value]):
            if not 0 <= number <= largest:
                return f"item {place} is {number}" if isinstance(value, list) else f"is {number}"
        return None

    return check


def _whole(value: Any) -> str | None:
    return None if abs(value) <= LARGEST else f"is {value}"


def _readable(value: str) -> str | None:
    if value.isascii():
        return None
    if any("\udc80" <= character <= "\udcff" for character in value):
        return "holds bytes that are not UTF-8"
    return "holds half of a surrogate pair" if any("\ud800" <= c <= "\udfff" for c in value) else None


def _label(value: str) -> str | None:
    if (unreadable := _readable(value)) is not None:
        return unreadable
    if not value.strip() or len(value) > LONGEST_LABEL:
        return f"has {len(value)} characters"
    if len(folder_name(value)) > LONGEST_NAME:
        return "is too long for the name of a folder"
    return None if value.isprintable() else f"is {excerpt(value)}"


def _named(value: Any) -> Any:
    return {COMPONENT: value} if isinstance(value, str) else value


def _texts(value: dict[str, str]) -> str | None:
    if not value:
        return "is empty"
    return next((wrong for name, text in value.items() if (wrong := _readable(name) or _readable(text))), None)


def _as_text(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [str(item) if isinstance(item, int) and not isinstance(item, bool) else item for item in value]


def _labelled(value: Any) -> Any:
    """Items shown, those without a label as `item`, texts alone as the items' texts."""
    if not isinstance(value, list):
        return value
    items = [{"text": item} if isinstance(item, str) else item for item in value]
    items = [{"label": "item", **item} if isinstance(item, dict) else item for item in items]
    return [
        {**item, "return": plain(item["return"])} if isinstance(item, dict) and "return" in item else item
        for item in items
    ]


def _scored(value: list[ShownRollout]) -> str | None:
    return _finite([0 if item.return_ is None else item.return_ for item in value])


TEXT: Final = Kind("text", str, _readable)
TEXTS: Final = Kind("text, or an object of texts by name", dict[str, str], _texts, _named)
IDS: Final = Kind("a list of example ids, as text or whole numbers", list[str], prepare=_as_text)
ITEMS: Final = Kind("'all', or a list of example ids or of indices", list[str] | Literal["all"], prepare=_as_text)
ITEM_TEXTS: Final = Kind("a list of texts", list[str])
LABEL: Final = Kind(f"a name of at most {LONGEST_LABEL} printable characters", str, _label)
NUMBER: Final = Kind("a finite number", float, _finite, plain)
WHOLE: Final = Kind("a whole number", int, _whole)
SWITCH: Final = Kind("true or false", bool)
NUMBERS: Final = Kind("a list of finite numbers", list[float], _finite, plain)
LENGTHS: Final = Kind("a list of whole numbers from 0", list[int], _natural(LARGEST))
SEEDS: Final = Kind("a list of whole numbers from 0, below 2 to the power of 64", list[int], _natural(LARGEST_SEED))
ENDINGS: Final = Kind("a list of 'terminated' and 'truncated'", list[Ending])
PROPOSER: Final = Kind("'search', 'critic', 'baseline' or 'parent'", Proposer)
SELECTION: Final = Kind("'initial', 'revised' or a rule: 'better', 'strict', 'always', 'pool'", Selection)
STATUS: Final = Kind("'ok', 'unreadable' or 'none'", RevisionStatus)
EVIDENCE: Final = Kind("'median', 'three', 'representative', 'batch', 'pair' or 'programs'", EvidenceKind)
SHOWN: Final = Kind(
    "a list of objects with label, rollout, return, length, name, text", list[ShownRollout], _scored, _labelled
)
STATISTICS: Final = Kind("an object as in docs/records.md", Statistics)

_WORDS: Final = (Proposer, Selection, RevisionStatus, EvidenceKind)

CANDIDATE: Final[Mapping[str, Kind]] = {
    "params": NUMBERS,
    "text": TEXTS,
    "example_ids": IDS,
    "returns": NUMBERS,
    "mean_return": NUMBER,
    "lengths": LENGTHS,
    "seeds": SEEDS,
    "ended": ENDINGS,
    "answer": TEXT,
    "thinking": TEXT,
    "out_of_range": SWITCH,
    "source": PROPOSER,
}
"""The fields of a candidate."""


def _spelt(value: Any) -> Any:
    """A number as text, and whole as tables with missing values have it, `3.0`; whatever else it is as it is."""
    text = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    return re.sub(r"^(-?\d+)\.0+$", r"\1", text) if isinstance(text, str) else text


IDENTITY: Final[Mapping[str, Kind]] = {
    "condition": LABEL,
    "env": LABEL,
    "variant": LABEL,
    "run": WHOLE,
    "iteration": WHOLE,
}
"""The fields that identify a record."""

FIELDS: Final[Mapping[str, Kind]] = {
    **IDENTITY,
    **{f"{role}.{name}": kind for role in ("initial", "revised") for name, kind in CANDIDATE.items()},
    "candidate": Kind("a name or a number", str, prepare=_spelt),
    "parent": Kind("a name or a number", str, prepare=_spelt),
    "state": Kind("a name or a number", str, prepare=_spelt),
    "step": NUMBER,
    "revision_status": STATUS,
    "selected": SELECTION,
    "evidence.kind": EVIDENCE,
    "evidence.prompt": TEXT,
    "evidence.shown": SHOWN,
    **{f"evidence.{label}": WHOLE for label in SHOWN_LABELS},
    "evidence.items": ITEMS,
    "evidence.texts": ITEM_TEXTS,
    **{f"evidence.{label}_return": NUMBER for label in PAIR_LABELS},
    **{f"evidence.{label}_text": TEXT for label in PAIR_LABELS},
    "evidence.statistics": STATISTICS,
    "seconds": NUMBER,
}
"""Every field that a mapping can name, but for the components of texts (`component_of`).

`evidence.worst` and the like are the index of the rollout shown as such, `evidence.worst_return` and the like the score
and the text of the item of a pair. `evidence.prompt` is the prompt, from which all this is read by its template.
"""


def component_of(name: str) -> tuple[str, str] | None:
    """The field and the component that a name such as `initial.text.system` means; None where it is no such name."""
    for field in ("initial.text", "revised.text"):
        if name.startswith(f"{field}.") and len(name) > len(field) + 1:
            return field, name[len(field) + 1 :]
    return None


def kind_of(name: str) -> Kind:
    """The kind of a field or of a text's component."""
    return TEXT if component_of(name) else FIELDS[name]


def folder_name(label: str) -> str:
    """A label as the name of a folder: characters that some file systems do not allow are escaped."""
    name = quote(label, safe=" +,=@()")
    return f"%2E{name[1:]}" if name.startswith(".") else name


def _culprit(value: Any, error: str) -> str:
    place = re.search(r"\$\[(\d+)\]", error)
    if isinstance(value, list) and place is not None:
        return f"item {place[1]} is {excerpt(value[int(place[1])])}"
    return f"is {excerpt(value)}"


def _integral(value: Any) -> Any:
    """A whole number that was written with a decimal point, as in tables with missing values, or with its type."""
    value = plain(value) if isinstance(value, str) and value.endswith(")") else value
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if is_whole else value


def nested(text: str) -> Any:
    """The list or object that a text is, as JSON or, as data frames write them, as Python; else the text itself."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        return value if isinstance(value, list | dict) else text
    return text
