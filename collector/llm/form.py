"""The form of an answer, for decoders that can enforce one: as a grammar, or as a JSON schema."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, Final

from collector.tasks.task import ParameterSpace, TabularSpace

FREE_TEXT: Final = r'([^\n] | "\n")*'


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """What an answer has to look like.

    Attributes:
        schema: a JSON schema; properties in the order in which they are written.
        grammar: a grammar in llama.cpp's notation (GBNF), where one says more than the schema; it describes text and
            not JSON.
        write: turns an answer under the schema into the text that one under the grammar would be.
    """

    schema: Mapping[str, Any]
    grammar: str | None = None
    write: Callable[[str], str] = str


@cache
def vector_form(space: ParameterSpace) -> Form:
    """All parameters on the first line, as prompts ask for them, then any text.

    Linear policies' values lie within the range of the space and have exactly its number of decimals; those of tables
    are actions.

    Args:
        space: the policy class.
    """
    line = " ".join(f'"{", " if index else ""}params[{index}]: " value' for index in range(space.size))
    grammar = f'root ::= {line} "\\n" {FREE_TEXT}\nvalue ::= {" | ".join(_values(space))}\n'
    value: dict[str, Any]
    if isinstance(space, TabularSpace):
        value = {"type": "integer", "enum": list(space.actions)}
    else:
        value = {"type": "number", "minimum": space.low, "maximum": space.high}
    params = {"type": "array", "items": value, "minItems": space.size, "maxItems": space.size}
    return Form(_object({"params": params, "explanation": {"type": "string"}}), grammar, _as_text)


def object_form(properties: Mapping[str, Any]) -> Form:
    """A JSON object with all of these properties and no others.

    Args:
        properties: a JSON schema for each.
    """
    return Form(_object(properties))


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _as_text(answer: str) -> str:
    """The usual text of an answer under the schema; of any other, the answer itself, which is then read as it is."""
    try:
        # Numbers stay as they were written.
        fields = json.loads(answer, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return answer
    if not isinstance(fields, dict) or not isinstance(fields.get("params"), list):
        return answer
    line = ", ".join(f"params[{index}]: {value}" for index, value in enumerate(fields["params"]))
    return f"{line}\n{fields.get('explanation') or ''}"


def _values(space: ParameterSpace) -> Iterator[str]:
    """Alternatives of a grammar that match the values of one parameter."""
    if isinstance(space, TabularSpace):
        yield from (f'"{action}"' for action in space.actions)
        return
    low, high = (Decimal(repr(bound)).scaleb(space.decimals) for bound in (space.low, space.high))
    for digits in _between(max(math.ceil(low), 0), math.floor(high), space.decimals + 1):
        yield _with_point(digits, space.decimals)
    for digits in _between(max(math.ceil(-high), 1), math.floor(-low), space.decimals + 1):
        yield f'"-" {_with_point(digits, space.decimals)}'


def _between(first: int, last: int, width: int) -> Iterator[list[str]]:
    """Patterns that together match the whole numbers from `first` to `last`, each number once.

    Args:
        first: the smallest, not below 0.
        last: the largest; there is no pattern where it is below `first`.
        width: digits that a number has at least, with leading zeros.

    Yields:
        A digit or a class of digits for each place.
    """
    while first <= last:
        digits = max(len(str(first)), width)
        free = 0  # places at the end where any digit will do
        while free < digits and first % 10 ** (free + 1) == 0 and first + 10 ** (free + 1) - 1 <= last:
            free += 1
        block = 10**free
        leading = list(f"{first:0{digits}d}"[: digits - free])
        blocks = 1
        if leading:
            digit = int(leading[-1])
            blocks = min(10 - digit, (last - first + 1) // block)
            if blocks > 1:
                leading[-1] = f"[{digit}-{digit + blocks - 1}]"
        yield leading + ["[0-9]"] * free
        first += blocks * block


def _with_point(digits: list[str], decimals: int) -> str:
    places = len(digits) - decimals
    written = [*digits[:places], *(["."] if decimals else []), *digits[places:]]
    return " ".join(part if part.startswith("[") else f'"{part}"' for part in written)
