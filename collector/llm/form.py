"""The form of an answer, for decoders that can enforce one, as a JSON schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from collector.tasks.task import ParameterSpace, TabularSpace


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """What an answer has to look like.

    Attributes:
        schema: a JSON schema; properties in the order in which they are written.
        write: turns an answer under the schema into the text that is read and recorded.
    """

    schema: Mapping[str, Any]
    write: Callable[[str], str] = str


@cache
def vector_form(space: ParameterSpace) -> Form:
    """All parameters, then any text.

    Args:
        space: the policy class.
    """
    value: dict[str, Any]
    if isinstance(space, TabularSpace):
        value = {"type": "integer", "enum": list(space.actions)}
    else:
        value = {"type": "number", "minimum": space.low, "maximum": space.high}
    params = {"type": "array", "items": value, "minItems": space.size, "maxItems": space.size}
    return Form(_object({"params": params, "explanation": {"type": "string"}}), _as_text)


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
    """The usual text of an answer under the schema; of any other, the answer itself, which is then read as it is.

    An answer that was cut off behind its parameters, as those of small models are, is completed.
    """
    fields: Any = None
    for closing in ("", '"}', "}"):
        with suppress(ValueError, RecursionError):
            # Numbers stay as they were written.
            fields = json.loads(answer + closing, parse_float=str, parse_int=str, parse_constant=str)
            break
    if not isinstance(fields, dict) or not isinstance(fields.get("params"), list):
        return answer
    line = ", ".join(f"params[{index}]: {value}" for index, value in enumerate(fields["params"]))
    return f"{line}\n{fields.get('explanation') or ''}"
