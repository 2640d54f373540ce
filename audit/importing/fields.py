"""The fields of a record that a log can fill, and what a value of each must be."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import quote

import msgspec

from audit.vocabulary.evidence import ShownRollout
from collector.records import Ending, EvidenceKind, Proposer, RevisionStatus, RolloutLabel, Selected, Statistics

BETTER: Final = "better"
"""A value of `selected` for a log whose method keeps the better candidate: the revised one where r1 >= r0."""
LARGEST: Final = 2**63 - 1
LARGEST_SEED: Final = 2**64 - 1
LONGEST_LABEL: Final = 100
LONGEST_NAME: Final = 250
"""Bytes that a folder's name can have on every file system, less a margin."""
SHOWN_LABELS: Final[tuple[RolloutLabel, ...]] = ("worst", "median", "best", "representative")

Selection = Literal[Selected, "better"]


class FieldError(ValueError):
    """A value that a field cannot have; the message states what it should be and what it is."""


@dataclass(frozen=True)
class Kind:
    """The values that a field can have.

    Attributes:
        words: what they should be, for messages.
        type: what msgspec checks.
        check: what it cannot check; returns a message, or None for a valid value.
    """

    words: str
    type: Any
    check: Callable[[Any], str | None] = lambda _: None

    @property
    def is_list(self) -> bool:
        """Whether a value is one entry per rollout or parameter."""
        return getattr(self.type, "__origin__", None) is list

    def read(self, value: Any) -> Any:
        """Check a value that was read from JSON.

        Raises:
            FieldError: the value is not valid.
        """
        if self.type in (int, list[int]):
            value = [_integral(item) for item in value] if isinstance(value, list) else _integral(value)
        try:
            read = msgspec.convert(value, self.type)
        except (msgspec.ValidationError, OverflowError) as error:
            raise FieldError(f"should be {self.words}, but {_culprit(value, str(error))}") from None
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
        if self.is_list and separator is not None:
            text = text.removeprefix("[").removesuffix("]").strip()
            parts = text.split() if separator.isspace() else text.split(separator)
            return [_scalar(part.strip(), decimal) for part in parts] if text else []
        if self.is_list or self.type is Statistics:
            return _json(text)
        return _scalar(text, decimal)


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


TEXT: Final = Kind("text", str, _readable)
LABEL: Final = Kind(f"a name of at most {LONGEST_LABEL} printable characters", str, _label)
NUMBER: Final = Kind("a finite number", float, _finite)
WHOLE: Final = Kind("a whole number", int, _whole)
SWITCH: Final = Kind("true or false", bool)
NUMBERS: Final = Kind("a list of finite numbers", list[float], _finite)
LENGTHS: Final = Kind("a list of whole numbers from 0", list[int], _natural(LARGEST))
SEEDS: Final = Kind("a list of whole numbers from 0, below 2 to the power of 64", list[int], _natural(LARGEST_SEED))
ENDINGS: Final = Kind("a list of 'terminated' and 'truncated'", list[Ending])
PROPOSER: Final = Kind("'search', 'critic' or 'baseline'", Proposer)
SELECTION: Final = Kind("'initial', 'revised' or 'better'", Selection)
STATUS: Final = Kind("'ok', 'unreadable' or 'none'", RevisionStatus)
EVIDENCE: Final = Kind("'median', 'three' or 'representative'", EvidenceKind)
SHOWN: Final = Kind("a list of objects with label, rollout, return, length, name", list[ShownRollout])
STATISTICS: Final = Kind("an object as in docs/records.md", Statistics)

_WORDS: Final = (Proposer, Selection, RevisionStatus, EvidenceKind)

CANDIDATE: Final[Mapping[str, Kind]] = {
    "params": NUMBERS,
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
    "revision_status": STATUS,
    "selected": SELECTION,
    "evidence.kind": EVIDENCE,
    "evidence.shown": SHOWN,
    **{f"evidence.{label}": WHOLE for label in SHOWN_LABELS},
    "evidence.statistics": STATISTICS,
    "seconds": NUMBER,
}
"""Every field that a mapping can name; `evidence.worst` and the like are the index of the rollout shown as such."""


def folder_name(label: str) -> str:
    """A label as the name of a folder: characters that some file systems do not allow are escaped."""
    name = quote(label, safe=" +,=@()")
    return f"%2E{name[1:]}" if name.startswith(".") else name


def excerpt(value: Any) -> str:
    """A value for a message: in one line, shortened, without anything that acts on a terminal."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, default=str)
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _culprit(value: Any, error: str) -> str:
    place = re.search(r"\$\[(\d+)\]", error)
    if isinstance(value, list) and place is not None:
        return f"item {place[1]} is {excerpt(value[int(place[1])])}"
    return f"is {excerpt(value)}"


def _integral(value: Any) -> Any:
    """A whole number that was written with a decimal point, as in tables with missing values."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if is_whole else value


def _scalar(text: str, decimal: str) -> Any:
    # With decimal commas a point may be anything, such as a mark of thousands: it makes no number.
    number = text if decimal == "." else text.translate({ord("."): ",", ord(","): "."})
    for read in (int, float):
        try:
            return read(number)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
