"""How many tokens a prompt has at least, whatever the tokenizer."""

from __future__ import annotations

import re
from typing import Final

_PIECES: Final = re.compile(r"[^\W\d_]+|\d{1,3}|[^\w\s]+(?![^\W\d_])")
"""What the tokenizers of language models take apart before they merge characters: words, up to three digits, and
punctuation, which may be merged with the word that it opens."""


def least_tokens(text: str) -> int:
    """A lower bound of the number of tokens: the pieces of the text that no tokenizer merges with one another.

    Args:
        text: the prompt.
    """
    return sum(1 for _ in _PIECES.finditer(text))
