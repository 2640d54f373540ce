"""Prompts, answers and errors as texts; the fields of answers in the forms that DSPy asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from collector.records import is_thinking, split_thinking

_FIELD: Final = re.compile(r"^\[\[ ## (\w+) ## \]\]\s*$", re.MULTILINE)


LONGEST_ERROR: Final = 1000
"""Characters that are kept of an error."""


def words(error: BaseException | str) -> str:
    """An error as it is recorded."""
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    return text[:LONGEST_ERROR].encode(errors="backslashreplace").decode()


def plain_text(value: Any) -> str:
    """A prompt or an answer as a text, where it is a list of messages or of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        content = value.get("content", value.get("text"))
        return json.dumps(dict(value), default=str) if content is None else plain_text(content)
    if isinstance(value, (list, tuple)):
        return "\n\n".join(plain_text(each) for each in value if not is_thinking(each))
    return str(value)


def answer_fields(answer: str) -> dict[str, str]:
    """The fields of an answer by name: those of a JSON object, or those under headings such as `[[ ## reasoning ## ]]`.

    None where the answer has neither form. What the model thought before them is left aside.
    """
    answer, _ = split_thinking(answer)
    try:
        fields = json.loads(answer)
    except ValueError:
        parts = _FIELD.split(answer)
        return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    return {name: plain_text(value) for name, value in fields.items()} if isinstance(fields, dict) else {}
