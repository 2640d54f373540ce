"""What is called how in figures: the names of `audit.vocabulary.names`, and how they fit where there is little room."""

from __future__ import annotations

import re
import textwrap
from typing import Final

from audit.output.names import METHODS, TASKS
from audit.vocabulary.names import (
    ALL,
    IMPROVEMENTS,
    LONGEST,
    NO_CHANGE,
    PATTERNS,
    REGRESSIONS,
    STRUCTURES,
    UNCLASSIFIED,
    label,
    name,
    ordered,
    position,
)

_OF_TEXTS: Final = {
    "rollouts": "examples",
    "rollout": "example",
    "returned": "scored",
    "returns": "scores",
    "return": "score",
    "policies": "texts",
    "policy": "text",
}
_WORDS: Final = re.compile(rf"\b({'|'.join(_OF_TEXTS)})\b", re.IGNORECASE)


def worded(words: str, *, of_texts: bool) -> str:
    """Words of our own as records call the same: unchanged for policies, of examples and scores for texts."""
    return _WORDS.sub(_of_texts, words) if of_texts else words


def _of_texts(found: re.Match[str]) -> str:
    word = _OF_TEXTS[found[0].lower()]
    return word.capitalize() if found[0][0].isupper() else word


__all__ = [
    "IMPROVEMENTS",
    "LONGEST",
    "METHODS",
    "NARROW",
    "NO_CHANGE",
    "PATTERNS",
    "REGRESSIONS",
    "STRUCTURES",
    "TASKS",
    "UNCLASSIFIED",
    "broken",
    "label",
    "name",
    "narrow",
    "ordered",
    "position",
]

NARROW: Final = 32
"""Characters of a name that fit over a panel or beside one."""

_LINE: Final = 16
"""Characters of a broken name that fit in a line."""


def narrow(identifier: str) -> str:
    """What an id is called where there is little room: titles of panels, ticks and legends."""
    return ALL.get(identifier) or label(identifier, NARROW)


def broken(identifier: str) -> str:
    """The same over several lines where it is long."""
    called = narrow(identifier)
    if len(called) <= 12:
        return called
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[-_])", "\n", called).split("\n")
    return "\n".join(textwrap.fill(part, _LINE) for part in parts)
