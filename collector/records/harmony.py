"""OpenAI's harmony format, in which gpt-oss writes: messages in channels, of which `final` is the answer.

Servers that do not read the format leave all its tokens in the text, or some of them, or the bare words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

TOKENS: Final = r"<\|(?:channel|start|message)\|>"
WORDS: Final = r"assistantfinal|^\s*(?:assistant(?:analysis|commentary)|analysis|commentary)"
"""Patterns, of Python and of RE2, one of which matches wherever a text might be of this format."""

_CHANNELS: Final = "analysis|commentary|final"
_CHANNEL: Final = rf"\s*(?P<channel>{_CHANNELS})\b(?P<to>[^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>"
_HEADER: Final = re.compile(
    rf"(?:<\|start\|>(?P<role>[^<]*)|assistant)?<\|channel\|>{_CHANNEL}|<\|start\|>(?P<speaker>[^<]*)<\|message\|>"
)
_BEGUN: Final = re.compile(rf"\s*(?:assistant)?{_CHANNEL}")
"""A first header whose tokens were in the prompt."""
_ENDED: Final = re.compile(r"<\|(?:end|call|return)\|>\s*\Z")
_END: Final = re.compile(r"(?<![ \t`'\"“‘(])<\|(?:end|call|return)\|>")
_REST: Final = re.compile(
    r"(?:<\|(?:end|call|return)\|>\s*){0,3}(?:<\|start\|>[^<]*)?(?:<\|channel\|>[^<]*)?(?:<\|?[a-z]*)?\Z"
)
"""Tokens that end a message, and the begin of a header that is cut off."""
_SET_APART: Final = re.compile(r"[\w.!?…>)\]\n]")
_BARE: Final = re.compile(rf"assistant(?=(?:{_CHANNELS}))")
_WORD: Final = re.compile(rf"({_CHANNELS})(.*)", re.DOTALL)


_FINAL: Final = re.compile(r"(?<=[^\s`'\"“‘(])assistantfinal|^assistantfinal", re.MULTILINE)
_AFTER_END: Final = re.compile(rf"(<\|(?:end|call|return)\|>\s*)assistant({_CHANNELS})")
_OPEN: Final = re.compile(rf"(<\|channel\|>\s*(?:{_CHANNELS}))")


class Channels(NamedTuple):
    """What was written to the final channel, and what to the others."""

    answer: str
    thoughts: list[str]


class _Header(NamedTuple):
    start: int
    end: int
    is_answer: bool
    is_foreign: bool


def completed(text: str) -> str:
    """A text with the tokens that some of its headers lack and others have."""
    if "<|channel|>" in text and "<|message|>" not in text:
        text = _OPEN.sub(r"\1<|message|>", text)
    return _AFTER_END.sub(r"\1<|start|>assistant<|channel|>\2<|message|>", text)


def split(text: str, code: Sequence[tuple[int, int]]) -> Channels | None:
    """Part a text into its channels.

    - It is of this format if it begins with the header of a message, or if a header follows the end of a message, whose
      own header was then in the prompt.
    - Later headers count where they begin a line or follow a token or a word without a blank; others are quoted.
    - A message without a channel is the answer. Calls of tools and commentary are not. A message of another role counts
      for nothing.
    - The words `analysis` and `assistantfinal`, left of headers without their tokens, count where the text begins so;
      `assistantfinal` also where it follows a word or a sentence without a blank, or begins a line.

    Args:
        text: what the model wrote.
        code: the spans in which headers are quoted, in order.

    Returns:
        The channels; None for a text of another format.
    """
    begins = len(text) - len(text.lstrip())
    found = _HEADER.finditer(text)
    headers = [_header(match) for match in found if match.start() == begins or _counts(text, match.start(), code)]
    if (begun := _BEGUN.match(text)) and (not headers or headers[0].start > begins):
        headers = [_header(begun), *headers]
    elif not headers or headers[0].start > begins:
        if not headers or not _ENDED.search(text, 0, headers[0].start):
            return _bare(text) or _finally(text, code)
        headers = [_Header(0, 0, False, False), *headers]
    ends = [*(header.start for header in headers[1:]), len(text)]
    bodies = [(header, text[header.end : end]) for header, end in zip(headers, ends, strict=True)]
    answers = [_END.split(body, maxsplit=1)[0].strip() for header, body in bodies if header.is_answer]
    thoughts = [
        _REST.sub("", body.strip()).strip() for header, body in bodies if not (header.is_answer or header.is_foreign)
    ]
    return Channels("\n".join(filter(None, answers)), thoughts)


def _header(match: re.Match[str]) -> _Header:
    groups = match.groupdict()
    speaker = (groups.get("role") or groups.get("speaker") or "assistant").split()
    addressed = any(" to=" in f" {groups.get(name) or ''}" for name in ("role", "speaker", "to"))
    is_foreign = speaker[:1] not in ([], ["assistant"])
    is_answer = groups["channel"] in (None, "final") and not addressed and not is_foreign
    return _Header(*match.span(), is_answer, is_foreign)


def _counts(text: str, start: int, code: Sequence[tuple[int, int]]) -> bool:
    """Whether a header behind the front is one, and not quoted."""
    at = bisect_right(code, start, key=lambda span: span[0]) - 1
    if at >= 0 and start < code[at][1]:
        return False
    is_apart = _SET_APART.match(text, start - 1) is not None
    return is_apart or _ENDED.search(text, max(0, start - 40), start) is not None


def _finally(text: str, code: Sequence[tuple[int, int]]) -> Channels | None:
    """The channels of a text whose first header was in the prompt, and whose last one has lost its tokens."""
    found = [match for match in _FINAL.finditer(text) if not any(a <= match.start() < b for a, b in code)]
    if not found:
        return None
    before = text[: found[0].start()].strip().removeprefix("commentary")
    return Channels(text[found[-1].end() :].strip(), [before])


def _bare(text: str) -> Channels | None:
    """The channels of a text whose tokens were left out."""
    first = _BARE.sub("", text.lstrip(), count=1) if _BARE.match(text.lstrip()) else text.lstrip()
    if not first.startswith("analysis") and first == text.lstrip():
        return None
    messages = [_WORD.match(each) for each in _BARE.split(first)]
    found = [(each[1], each[2].strip()) for each in messages if each]
    if len(found) == 1 and first == text.lstrip() and not re.match(r"analysis[A-Z]", first):
        return None
    answer = "\n".join(body for channel, body in found if channel == "final")
    return Channels(answer, [body for channel, body in found if channel != "final"])
