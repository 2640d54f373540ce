"""The last exchange of a chat: what a model was asked, and what it answered."""

from __future__ import annotations

from typing import Any

from audit.importing.fields import nested


def last_exchange(messages: Any) -> tuple[str | None, str | None]:
    """The text of the last answer of a model, after that of the last question before it; None for what is not there.

    Args:
        messages: objects with `role` and `content`, as chat formats have them, or the JSON of their list.
    """
    found = nested(messages) if isinstance(messages, str) else messages
    chat = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    place = max((place for place, each in enumerate(chat) if each.get("role") == "assistant"), default=None)
    if place is None:
        return None, None
    asked = [each for each in chat[:place] if each.get("role") == "user"]
    return _text(asked[-1]) if asked else None, _text(chat[place])


def _text(message: dict[str, Any]) -> str | None:
    """What a message says; thinking, images and calls of tools are no part of it."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str)) or None
