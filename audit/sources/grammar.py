"""Which lines DuckDB may read by itself: the form in which records are written, as a regular expression.

DuckDB's reader of JSON is fast and lenient: it takes `"4"` for 4, rounds 5.4, skips fields that do not fit and the
second of two equal keys. A line that matches the expression of a record type is one that the type accepts and that no
two readers understand differently: its fields in their order and of their types, no other field, no number beyond 64
bits. Of any other line nothing is known, and the type itself decides (`collector.records.decode`).
"""

from __future__ import annotations

import functools
import re
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import inspect

from audit.sources.formats import CAPABILITIES
from audit.sources.iterations import Iteration, Translated
from collector.records import LONGEST_LINE, MARKS, Episode, TextEpisode

STRING: Final = (
    r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u(?:[0-9abcefABCEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}'
    r'|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))*"'
)
"""Half of a surrogate pair is not a character."""
FLOAT: Final = r"-?(?:0|[1-9][0-9]{0,19})(?:\.[0-9]+)?(?:[eE][+-]?(?:[0-9]{1,2}|[12][0-9]{2}))?"
"""Below 1e300, so that none is infinite."""
NATURAL: Final = "[1-9][0-9]{0,17}"
"""Below 1e18, so that each fits into 64 bits."""
COMMA: Final = ", ?"
COLON: Final = ": ?"


class Form(NamedTuple):
    """How a value of a type is written, and what column takes it.

    `expression` is for RE2. `column` is the type for DuckDB's `from_json`: a name, a list of one type, or an object.
    """

    expression: str
    column: Any


LINE_FORMS: Final = {
    Episode: "episode_line",
    TextEpisode: "text_line",
    Iteration: "iteration_line",
    Translated: "translated_line",
}
"""The variables of the expressions that `lines` compares lines of each kind with."""


def line_form() -> dict[str, Any]:
    """What `lines` and `records` read by, as variables: sources, kinds of line, and the columns for all of them."""
    return {
        "sources": [
            {"source": name, "form": each.lines.__name__, "precision_of_mean": each.precision_of_mean}
            for name, each in CAPABILITIES.items()
        ],
        **{variable: form_of(kind).expression for kind, variable in LINE_FORMS.items()},
        "line_structure": msgspec.json.encode(form_of(Translated).column).decode(),
        "longest_line": LONGEST_LINE,
        "thinking_marks": list(MARKS),
    }


@functools.cache
def form_of(kind: type[msgspec.Struct]) -> Form:
    """The form of a record type's lines, without their newline.

    Fields are in the order of the type, as the encoder writes them; all are present, but for those whose default is
    `UNSET`. A blank may follow a comma or colon.
    """
    return _form(inspect.type_info(kind))


def _form(kind: inspect.Type) -> Form:
    match kind:
        case inspect.StrType():
            form = Form(STRING, "VARCHAR")
        case inspect.FloatType():
            form = Form(FLOAT, "DOUBLE")
        case inspect.BoolType():
            form = Form("(?:true|false)", "BOOLEAN")
        case inspect.IntType(ge=0 | 1 as least, le=most):
            form = Form(NATURAL if least else f"(?:0|{NATURAL})", "BIGINT" if most else "UBIGINT")
        case inspect.LiteralType(values=values):
            form = Form(f'"(?:{"|".join(re.escape(str(value)) for value in values)})"', "VARCHAR")
        case inspect.UnionType(types=(some, inspect.NoneType())):
            inner = _form(some)
            form = Form(f"(?:{inner.expression}|null)", inner.column)
        case inspect.ListType(item_type=item):
            inner = _form(item)
            form = Form(rf"\[(?:{inner.expression}(?:{COMMA}{inner.expression})*)?\]", [inner.column])
        case inspect.DictType(key_type=inspect.StrType(), value_type=value):
            member = f"{STRING}{COLON}{_form(value).expression}"
            # A key that is given twice stays visible in JSON.
            form = Form(rf"\{{(?:{member}(?:{COMMA}{member})*)?\}}", "JSON")
        case inspect.StructType(fields=fields):
            inners = {field.encode_name: _form(field.type) for field in fields}
            first, *others = (_member(field, inners[field.encode_name].expression) for field in fields)
            members = first.removeprefix(COMMA) + "".join(others)
            form = Form(rf"\{{{members}\}}", {name: inner.column for name, inner in inners.items()})
        case _:
            raise TypeError(f"no form for {kind}")
    return form


def _member(field: inspect.Field, value: str) -> str:
    """A member of an object behind another one; one whose default is `UNSET` may be left out."""
    member = f'{COMMA}"{re.escape(field.encode_name)}"{COLON}{value}'
    is_optional = not field.required and field.default is field.default_factory is msgspec.NODEFAULT
    return f"(?:{member})?" if is_optional else member
