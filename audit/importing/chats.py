"""Messages of chats in logs: the last exchange of one, and what an answer says that is held as a message."""

from __future__ import annotations

from typing import Any

from audit.importing.fields import nested
from collector.records import are_parts, read_message


def last_exchange(messages: Any) -> tuple[str | None, dict[str, Any] | None]:
    """The text of the last question before the last answer of a model, and that answer; None for what is not there.

    Args:
        messages: objects with `role` and `content`, as chat formats have them, or the JSON of their list.
    """
    found = nested(messages) if isinstance(messages, str) else messages
    chat = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    place = max((place for place, each in enumerate(chat) if each.get("role") == "assistant"), default=None)
    if place is None:
        return None, None
    asked = [each for each in chat[:place] if each.get("role") == "user"]
    return said(asked[-1])[0] if asked else None, chat[place]


def said(value: Any) -> tuple[Any, str | None]:
    """What a message, a list of its parts or the JSON of either says, and its thinking; of anything else, the value."""
    found = nested(value) if isinstance(value, str) else value
    is_message = isinstance(found, dict) and "content" in found and (found is value or "role" in found)
    if not is_message and not are_parts(found):
        return value, None
    try:
        message = read_message(found if is_message else {"content": found})
    except ValueError:
        return value, None
    return message.text or ("" if message.thinking else None), message.thinking
