"""Records as lines of JSON, written and read strictly."""

from __future__ import annotations

import functools
import json
import re
from typing import Any, Final, TypeVar

import msgspec

from collector.records.fields import TEXT_SCHEMA
from collector.records.runs import Run


class RecordError(ValueError):
    """A record that cannot be read; the message states which and why."""


LONGEST_LINE: Final = 16 * 1024 * 1024
"""Bytes of a line that is read; DuckDB's default for the largest JSON object, far above any answer."""
DEEPEST: Final = 200
"""Levels of objects and lists within each other; beyond some number every reader of JSON gives up, each at its own."""

T = TypeVar("T", bound=msgspec.Struct)

_encoder = msgspec.json.Encoder()
_PLACE: Final = re.compile(r"^(?P<fault>.*) - at `\$\.?(?P<field>.*)`$", re.DOTALL)
_BRACKETS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[][{}]')
_MISSING: Final = re.compile(r"Object missing required field `(?P<name>.*)`")


def encode(record: msgspec.Struct) -> bytes:
    """One record as one line of JSON, newline included."""
    return _encoder.encode(record) + b"\n"


def decode(line: bytes, kind: type[T]) -> T:
    """Read one record: see `decode_canonical`."""
    return decode_canonical(line, kind)[0]


def decode_canonical(line: bytes, kind: type[T]) -> tuple[T, bytes]:
    """Read one record, as strictly as its type requires: this function alone decides which records are sound.

    Numbers, texts, null, true and false are not taken for one another, a whole number has neither fraction nor
    exponent, and no key may be given twice in an object, since readers of JSON disagree about which one counts.

    Args:
        line: JSON, UTF-8, with or without a newline.
        kind: the record's type.

    Returns:
        The record, and the line that `encode` writes of it.

    Raises:
        RecordError: the line is no such record; the message names the field.
    """
    try:
        _refuse_deep(line)
        record = _decoder(kind).decode(line)
        canonical = encode(record)
        # What the encoder would write is known to have each key once, without a second look.
        if canonical != line and canonical[:-1] != line:
            json.loads(line.decode(), object_pairs_hook=_refuse_repeated, parse_int=str, parse_float=str)
    except msgspec.ValidationError as error:
        raise RecordError(_in_words(str(error))) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RecordError(f"not JSON ({error})") from None
    return record, canonical


def decode_run(data: bytes) -> Run:
    """Read a `run.json`.

    Raises:
        RecordError: it is not JSON, misses a field, or was written by a newer version of the project.
    """
    schema = decode(data, _Schema).schema
    if schema > TEXT_SCHEMA:
        raise RecordError(f"schema {schema} is newer than this version reads ({TEXT_SCHEMA}); update salience-audit")
    return decode(data, Run)


@functools.cache
def _decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(kind)


def _refuse_deep(line: bytes) -> None:
    if line.count(b"[") + line.count(b"{") <= DEEPEST:
        return
    depth = 0
    for bracket in _BRACKETS.findall(line):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(bracket, 0)
        if depth > DEEPEST:
            raise RecordError(f"nested more than {DEEPEST} levels deep")


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise RecordError(f"the key {repeated!r} is given twice in one object")


def _in_words(fault: str) -> str:
    """A fault as the decoder describes it, with the field in front."""
    place = _PLACE.match(fault)
    field, fault = (place["field"], place["fault"]) if place else ("", fault)
    if missing := _MISSING.fullmatch(fault):
        return f"{field}.{missing['name']} is missing".removeprefix(".")
    return f"{field}: {fault}" if field else f"not a record ({fault})"


class _Schema(msgspec.Struct):
    schema: int
