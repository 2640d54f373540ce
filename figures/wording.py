"""The words of captions where texts are revised: a rollout is an example there, its return a score, a policy a text."""

from __future__ import annotations

import re
from typing import Final

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
