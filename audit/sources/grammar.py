"""Which lines DuckDB may read by itself: the form in which records are written, as a regular expression.

DuckDB's reader of JSON is quick and lenient: it takes `"4"` for 4, rounds 5.4, skips fields that do not fit and the second
of two equal keys. A line that matches the expression of a record type is one that the type accepts and that no two readers
understand differently: every field in its order and of its type, no other field, no number beyond 64 bits. Of any other
line nothing is known, and the type itself decides (`collector.records.decode`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Final

import msgspec

from audit.sources.intake import LONGEST_LINE
from audit.sources.iterations import Iteration
from collector.records import Episode

STRING: Final = (
    r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u(?:[0-9abcefABCEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}'
    r'|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))*"'
)
"""Half of a surrogate pair is no character."""
FLOAT: Final = r"-?(?:0|[1-9][0-9]{0,19})(?:\.[0-9]{1,19})?(?:[eE][+-]?(?:[0-9]{1,2}|[12][0-9]{2}))?"
"""Below 1e300, so that none is infinite."""
NATURAL: Final = "[1-9][0-9]{0,17}"
"""Below 1e18, so that each fits into 64 bits."""
COMMA: Final = ", ?"
COLON: Final = ": ?"


def line_form() -> dict[str, str | int]:
    """What the relation `lines` reads by: the expressions of both kinds of line, and the columns of either."""
    return {
        "native_line": pattern(Episode),
        "foreign_line": pattern(Iteration),
        "line_structure": structure(Iteration),
        "longest_line": LONGEST_LINE,
    }


@functools.cache
def pattern(kind: type[msgspec.Struct]) -> str:
    """The regular expression, for RE2, of a record type's lines without their newline.

    All fields are there, in the order of the type, as the encoder writes them; a blank may follow a comma or colon.
    """
    return _expression(msgspec.inspect.type_info(kind))


@functools.cache
def structure(kind: type[msgspec.Struct]) -> str:
    """A record type as DuckDB's `from_json` takes it: JSON that names the type of each field."""
    return msgspec.json.encode(_structure(msgspec.inspect.type_info(kind))).decode()


def _expression(kind: msgspec.inspect.Type) -> str:
    match kind:
        case msgspec.inspect.StrType():
            return STRING
        case msgspec.inspect.FloatType(ge=None, le=None, gt=None, lt=None):
            return FLOAT
        case msgspec.inspect.BoolType():
            return "(?:true|false)"
        case msgspec.inspect.NoneType():
            return "null"
        case msgspec.inspect.IntType(ge=0, gt=None, lt=None):
            return f"(?:0|{NATURAL})"
        case msgspec.inspect.IntType(ge=1, gt=None, lt=None):
            return NATURAL
        case msgspec.inspect.LiteralType(values=values):
            return f'"{_any_of(re.escape(str(value)) for value in values)}"'
        case msgspec.inspect.UnionType(types=types):
            return _any_of(map(_expression, types))
        case msgspec.inspect.ListType(item_type=item):
            one = _expression(item)
            return rf"\[(?:{one}(?:{COMMA}{one})*)?\]"
        case msgspec.inspect.StructType(fields=fields):
            members = (f'"{re.escape(field.encode_name)}"{COLON}{_expression(field.type)}' for field in fields)
            return rf"\{{{COMMA.join(members)}\}}"
    raise TypeError(f"no expression for {kind}")


def _any_of(expressions: Iterable[str]) -> str:
    return f"(?:{'|'.join(expressions)})"


def _structure(kind: msgspec.inspect.Type) -> object:
    match kind:
        case msgspec.inspect.StrType() | msgspec.inspect.LiteralType():
            return "VARCHAR"
        case msgspec.inspect.FloatType():
            return "DOUBLE"
        case msgspec.inspect.BoolType():
            return "BOOLEAN"
        case msgspec.inspect.IntType(le=None):
            return "UBIGINT"
        case msgspec.inspect.IntType():
            return "BIGINT"
        case msgspec.inspect.UnionType(types=types):
            [one] = [each for each in types if not isinstance(each, msgspec.inspect.NoneType)]
            return _structure(one)
        case msgspec.inspect.ListType(item_type=item):
            return [_structure(item)]
        case msgspec.inspect.StructType(fields=fields):
            return {field.encode_name: _structure(field.type) for field in fields}
    raise TypeError(f"no column for {kind}")
