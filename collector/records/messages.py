"""What a message of a chat says, in any of the shapes in which servers send messages and logs hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from collector.records.thinking import joined

_THINKING_FIELDS: Final = (
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoning_details",
    "thinking_blocks",
    "reasoning_text",
    "thought",
)
"""Fields of a message with its thinking; several of them repeat the same."""
_THINKING_PARTS: Final = frozenset(
    {"thinking", "reasoning", "reasoning_content", "reasoning_text", "summary_text", "thought", "redacted_thinking"}
)
_TEXT_PARTS: Final = frozenset({"text", "output_text", "input_text", None})
_CALLS: Final = frozenset({"tool_use", "tool_call", "function_call", "function"})
_WORDS: Final = (*_THINKING_FIELDS, "reasoningText", "text", "value", "summary", "content")
_DEEPEST: Final = 8


class Said(NamedTuple):
    """A message taken apart.

    Attributes:
        text: what it says, None if it says nothing; marks of thinking may be in it.
        thinking: what stands apart from that.
        refusal: the words with which the model refused.
        calls: names of the tools that it calls.
    """

    text: str | None
    thinking: str | None
    refusal: str | None
    calls: list[str]


def read_message(message: Mapping[str, Any]) -> Said:
    """Take a message apart.

    Args:
        message: with `content`, which is a text, a list of parts or null.

    Raises:
        ValueError: its content is neither.
    """
    content = message.get("content")
    if isinstance(content, Mapping):
        content = content.get("parts", [content])
    if content is not None and not isinstance(content, str | list):
        raise ValueError("no content of a message")
    parts = [content] if isinstance(content, str) else content or []
    texts, thoughts, refusals = [], [], [message.get("refusal")]
    calls = [*_listed(message.get("tool_calls")), *_listed(message.get("function_call"))]
    for part in parts:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if isinstance(part, str):
            texts.append(part)
        elif not isinstance(part, Mapping):
            continue
        elif is_thinking(part):
            thoughts.append(words_in(part.get("reasoningContent", part)))
        elif kind == "refusal":
            refusals.append(part.get("refusal"))
        elif kind in _CALLS:
            calls.append(part)
        elif kind in _TEXT_PARTS:
            texts.append(words_in(part.get("text")))
    given = next((words for words in map(words_in, map(message.get, _THINKING_FIELDS)) if words.strip()), "")
    refusal = " ".join(each for each in refusals if isinstance(each, str)).strip()
    return Said("".join(texts) or None, joined([given, *thoughts]), refusal or None, [_name(call) for call in calls])


def is_thinking(part: Any) -> bool:
    """Whether a part of a message is thinking."""
    return isinstance(part, Mapping) and (
        part.get("type") in _THINKING_PARTS or part.get("thought") is True or "reasoningContent" in part
    )


def are_parts(value: Any) -> bool:
    """Whether a value is a list of parts of a message."""
    known = _THINKING_PARTS | _TEXT_PARTS - {None} | _CALLS | {"refusal"}
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(part, Mapping) and part.get("type") in known for part in value)
    )


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [] if not value else [value]


def _name(call: Any) -> str:
    named = call.get("function", call) if isinstance(call, Mapping) else call
    name = named.get("name") if isinstance(named, Mapping) else named
    return name if isinstance(name, str) else "unnamed"


def words_in(value: Any, fields: Sequence[str] = _WORDS, between: str = "\n", depth: int = 0) -> str:
    """The text in a field, in a list of texts or in an object that has one; "" if there is none.

    Args:
        value: of the field, as JSON has it.
        fields: of an object, in the order in which they are looked at.
        between: separates the texts of a list.
        depth: how deep the value is; what is nested too deeply has no text.
    """
    if isinstance(value, str) or depth > _DEEPEST:
        return value if isinstance(value, str) else ""
    if isinstance(value, list):
        return between.join(filter(None, (words_in(each, fields, between, depth + 1) for each in value)))
    if isinstance(value, Mapping):
        found = (words_in(value.get(name), fields, between, depth + 1) for name in fields)
        return next(filter(None, found), "")
    return ""
