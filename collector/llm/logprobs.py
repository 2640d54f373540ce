"""Log-probabilities of tokens, as servers send them."""

from __future__ import annotations

from typing import Final

import msgspec

MOST_TOKENS: Final = 2**17
"""Tokens whose log-probabilities are kept: more than an answer has, and a bound of what a reply can cost."""
LARGEST: Final = 2.0**128
"""Bound of their size: servers compute them in single precision, and write its lowest number for a probability of 0.
Beyond that, no mean could be formed."""


class _Token(msgspec.Struct, gc=False):
    token: str
    logprob: float | None = None


def read_logprobs(tokens: msgspec.Raw) -> list[tuple[str, float]] | None:
    """The tokens of an answer and their log-probabilities.

    Args:
        tokens: JSON; a list of objects with `token` and `logprob`, or whatever a server sends in its place.

    Returns:
        A pair for each token that has a log-probability which a record can hold; None where there are none, or the JSON
        has another shape.
    """
    if bytes(tokens).count(b'"token"') > 2 * MOST_TOKENS:  # each with one alternative: before objects are made of them
        return None
    try:
        read = msgspec.json.decode(tokens, type=list[_Token])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if len(read) > MOST_TOKENS:
        return None
    pairs = [(one.token, one.logprob) for one in read if one.logprob is not None and abs(one.logprob) < LARGEST]
    return pairs or None
