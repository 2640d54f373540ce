"""A model's thinking apart from its answer, wherever its server left the one in the other."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from collector.records import harmony

_TAGS: Final = ("think", "thinking", "thought", "reasoning", "seed:think", "mm:think", "longcat_think")
_MARKS: Final = (
    *((rf"<(?i:{name})(?:\s[^<>]*)?>", rf"</(?i:{name})(?:\s[^<>]*)?>") for name in _TAGS),
    (r"\[THINK\]", r"\[/THINK\]"),  # Magistral
    (r"◁think▷", r"◁/think▷"),  # Kimi
    (r"<\|open\|>think<\|sep\|>", r"<\|close\|>think<\|sep\|>"),  # Kimi K3
    (r"<\|channel>(?:thought\b)?", r"<channel\|>"),  # Gemma 4
    (r"<unused94>(?:thought\b)?", r"<unused95>"),  # MedGemma
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Command A
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),  # OpenThinker
)
"""What begins thinking, and what ends it: one pair for each kind of model."""
_BEGINS: Final = r"(?:<s>|<bos>|<\|begin_of_text\|>|<｜begin▁of▁sentence｜>)"
"""What some models write in front of everything."""
_FOLDED: Final = r"<(?i:details)\s[^<>]*type=[\"']reasoning[\"']"
"""What begins thinking in chats of Open WebUI; it ends as any other details do."""
_FRONT_ONLY: Final = frozenset({_TAGS.index("thought"), _TAGS.index("reasoning")})
"""Marks that open thinking at the beginning alone, since answers have sections of these names."""

_ALL: Final = [*(mark for pair in _MARKS for mark in pair), _FOLDED, harmony.TOKENS]
_ANY: Final = re.compile("|".join([*_ALL, harmony.WORDS]))
"""What matches wherever an answer might hold thinking."""
_WORDS: Final = ("assistant", "analysis", "commentary")
"""One of these begins a text of harmony's channels whose marks were lost."""
_EACH: Final = re.compile(
    "|".join(f"(?P<o{at}>{begins})|(?P<c{at}>{ends})" for at, (begins, ends) in enumerate(_MARKS))
)
_FRONT: Final = re.compile(rf"\s*(?:{_BEGINS}\s*)+(?={'|'.join(_ALL)})")
_DETAILS: Final = re.compile(
    rf"\s*(?={_FOLDED})<[^<>]*>(?:\s*<summary>[^<>]*</summary>)?(.*?)(?:</details>|\Z)", re.DOTALL | re.IGNORECASE
)
_CODE: Final = re.compile(r"```.*?```|~~~.*?~~~|`[^`\n]+`|<{7} SEARCH.*?>{7} REPLACE", re.DOTALL)
_QUOTES: Final = {**{quote: (quote,) for quote in "\"'`*"}, "“": ("”",), "‘": ("’",), "(": (")",), "[": ("]",)}
_ATTACHED: Final = re.compile(r"[\w.!?…)\]]")
_WRAPPERS: Final = (
    (r"(?i:<answer>)", r"(?i:</answer>)"),  # Hunyuan
    (r"(?i:<response>)", r"(?i:</response>)"),  # Granite
    (r"<\|START_RESPONSE\|>", r"<\|END_RESPONSE\|>"),
    (r"<\|begin_of_solution\|>", r"<\|end_of_solution\|>"),
    (r"<\|open\|>response<\|sep\|>", r"<\|close\|>response<\|sep\|>"),
)
_WRAPPED: Final = re.compile(
    rf"\s*(?:{'|'.join(f'{begins}(?P<a{at}>.*?)(?:{ends})?' for at, (begins, ends) in enumerate(_WRAPPERS))})\s*",
    re.DOTALL,
)
_END: Final = re.compile(r"<(?:turn\||eos|\|im_end\||\|end_of_msg\|)>\Z")


class _Mark(NamedTuple):
    """A mark: where it stands, of which kind it is, and whether it closes.

    A mark that is not set apart from the words around it is quoted.
    """

    start: int
    end: int
    kind: int
    closes: bool
    opens_line: bool
    is_set: bool


class _Block(NamedTuple):
    """Where a block begins, where its thinking does, where that ends, and where the block does."""

    start: int
    begins: int
    ends: int
    end: int


def split_thinking(text: str, thinking: str | None = None, *, proposed: Collection[str] = ()) -> tuple[str, str | None]:
    """Part an answer from the thinking inside it.

    Thinking is what stands between a pair of marks (`<think>`, `[THINK]`, Gemma's channel …), blocks within blocks
    included, or in any of harmony's channels but `final`.

    - At the front, a block without an end of its own reaches to the first closing mark; without any, there is no
      answer.
    - Behind that, an opening mark counts where it begins a line or follows a word or a sentence without a blank. One
      that is amid prose or in quotation marks is quoted, as is all that is in Markdown's code, or in a proposed text.
    - Everything before a closing mark that nothing opened is thinking: the prompt's template had the opening one.
    - An opening mark that nothing closes opens thinking where it begins a line, as of an answer that was cut off.

    Args:
        text: what the model wrote.
        thinking: what its server gave apart; then only marks at the front count, and those around the same thinking.
        proposed: texts that the answer proposes, in which marks are a part of the text.

    Returns:
        The answer, unchanged if it has no thinking, and the thinking or None.
    """
    given = thinking or None
    if not _may_think(text):
        return text, given
    if front := _FRONT.match(text):
        return split_thinking(text[front.end() :], given, proposed=proposed)
    if folded := list(_folded(text)):
        answer, later = split_thinking(text[folded[-1].end() :].strip(), given, proposed=proposed)
        return _unwrapped(answer), joined([*(each[1] for each in folded), later or ""])
    whole = harmony.completed(text)
    channels = harmony.split(whole, _spans(_CODE, whole))
    if channels is not None:
        return split_thinking(channels.answer, joined([given or "", *channels.thoughts]), proposed=proposed)
    marks = list(_outside(_places(text, proposed), _marks(text)))
    blocks = list(_front(text, marks))
    begins = blocks[-1].end if blocks else 0
    code = _spans(_CODE, text, begins)
    blocks += _behind(text, begins, list(_outside(code, [mark for mark in marks if mark.start >= begins])))
    thoughts = [text[each.begins : each.ends].strip() for each in blocks]
    if given is not None:
        count = sum(each.end <= begins for each in blocks)
        blocks = [each for at, each in enumerate(blocks) if at < count or thoughts[at] in given]
        thoughts = [each for at, each in enumerate(thoughts) if at < count and each not in given]
    if not blocks:
        return text, given
    edges = [0, *(edge for each in blocks for edge in (each.start, each.end)), len(text)]
    answer = " ".join(text[start:end] for start, end in list(pairwise(edges))[::2]).strip()
    if final := harmony.split(answer, ()) if answer.startswith(("<|channel|>", "<|start|>")) else None:
        answer, thoughts = final.answer, [*thoughts, *final.thoughts]
    return _unwrapped(answer) if blocks[0].start == 0 else answer, joined([given or "", *thoughts])


def _may_think(text: str) -> bool:
    """Whether an answer has a mark of thinking anywhere; finding single strings is many times quicker than patterns."""
    has_mark = "<" in text or "◁" in text or "[THINK]" in text or "[/THINK]" in text or "assistantfinal" in text
    return (has_mark or text.lstrip().startswith(_WORDS)) and _ANY.search(text) is not None


def joined(thoughts: Iterable[str]) -> str | None:
    """Pieces of thinking as one text, each but once; None if all are blank."""
    return "\n\n".join(dict.fromkeys(filter(None, map(str.strip, thoughts)))) or None


def _folded(text: str) -> Iterator[re.Match[str]]:
    """The details at the beginning in which Open WebUI keeps thinking."""
    found = _DETAILS.match(text)
    while found:
        yield found
        found = _DETAILS.match(text, found.end())


def _marks(text: str) -> list[_Mark]:
    """All marks, in order."""
    found = []
    for match in _EACH.finditer(text):
        start, end = match.span()
        kind, closes = int(str(match.lastgroup)[1:]), str(match.lastgroup)[0] == "c"
        before = text[max(0, start - 99) : start].rstrip(" \t")
        blanks = text[max(0, start - 99) + len(before) : start]
        opens_line = (before.endswith("\n") or (not before and start < 99)) and blanks in ("", " ", "  ", "   ")
        follows = _ATTACHED.match(before[-1:]) is not None
        if closes:
            quoted = text[end : end + 1] in _QUOTES.get(before[-1:], ())
            ends_line = text[end : end + 1] in ("", "\n", "\r")
            is_set = not quoted if not blanks else before[-1:] in ".!?…" or (ends_line and follows)
        else:
            is_set = follows and not blanks
        found.append(_Mark(start, end, kind, closes, opens_line, opens_line or is_set))
    return found


def _front(text: str, marks: Sequence[_Mark]) -> Iterator[_Block]:
    """The blocks at the beginning."""
    partners = _partners(_unquoted(text, marks))
    last = {mark.kind: mark for mark in marks if mark.closes}
    place = at = 0
    while place < len(marks) and not marks[place].closes and not text[at : marks[place].start].strip():
        opens = marks[place]
        kinds = {opens.kind} if opens.kind in last and last[opens.kind].start > opens.start else last.keys()
        following = (marks[later] for later in range(place, len(marks)))
        closes = partners.get(opens) or next((mark for mark in following if mark.closes and mark.kind in kinds), None)
        if closes is None:
            yield _Block(at, opens.end, len(text), len(text))
            return
        yield _Block(at, opens.end, closes.start, closes.end)
        at = closes.end
        while place < len(marks) and marks[place].start < at:
            place += 1


def _behind(text: str, begins: int, marks: Sequence[_Mark]) -> list[_Block]:
    """The blocks behind those at the beginning."""
    marks = _unquoted(text, marks)
    partners = _partners(marks)
    closed = set(partners.values())
    blocks: list[_Block] = []
    for mark in marks:
        if blocks and mark.start < blocks[-1].end:
            continue
        if mark.closes:
            if mark not in closed and mark.is_set:
                # Behind all of an answer whose thinking was closed before, a second closing mark encloses nothing.
                is_stray = begins and not text[mark.end :].strip()
                begin = mark.start if is_stray else begins
                blocks = [*(blocks if is_stray else ()), _Block(begin, begin, mark.start, mark.end)]
        elif mark.kind in _FRONT_ONLY:
            continue
        elif mark in partners:
            blocks.append(_Block(mark.start, mark.end, partners[mark].start, partners[mark].end))
        elif mark.opens_line:
            blocks.append(_Block(mark.start, mark.end, len(text), len(text)))
    return blocks


def _unquoted(text: str, marks: Sequence[_Mark]) -> list[_Mark]:
    """The marks without opening ones amid prose, nor those that close them on the same line."""
    found: list[_Mark] = []
    place = 0
    while place < len(marks):
        mark, after = marks[place], marks[place + 1] if place + 1 < len(marks) else None
        place += 1
        if mark.closes or mark.is_set:
            found.append(mark)
        elif after and after.closes and after.kind == mark.kind:
            on_one_line = "\n" not in text[mark.end : after.start]
            place += on_one_line or text[after.end : after.end + 1] in _QUOTES.get(text[mark.start - 1], ())
    return found


def _partners(marks: Sequence[_Mark]) -> dict[_Mark, _Mark]:
    """Opening marks, each with the one that closes it."""
    found: dict[_Mark, _Mark] = {}
    open_: dict[int, list[_Mark]] = {}
    for mark in marks:
        if not mark.closes:
            open_.setdefault(mark.kind, []).append(mark)
        elif open_.get(mark.kind):
            found[open_[mark.kind].pop()] = mark
    return found


def _spans(pattern: re.Pattern[str], text: str, begins: int = 0) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text, begins)]


def _places(text: str, proposed: Collection[str]) -> list[tuple[int, int]]:
    """Where an answer repeats the texts that it proposes, as far as these hold marks."""
    texts = sorted({re.escape(each.strip()) for each in proposed if _ANY.search(each)}, key=len, reverse=True)
    return _spans(re.compile("|".join(texts)), text) if texts else []


def _outside(spans: Sequence[tuple[int, int]], marks: Sequence[_Mark]) -> Iterator[_Mark]:
    """The marks that are in none of the spans, both in order."""
    place = 0
    for mark in marks:
        while place < len(spans) and spans[place][1] <= mark.start:
            place += 1
        if place == len(spans) or mark.start < spans[place][0]:
            yield mark


def _unwrapped(answer: str) -> str:
    """An answer without the marks that some models put around it, behind their thinking."""
    answer = _END.sub("", answer).rstrip()
    match = _WRAPPED.fullmatch(answer)
    return next(each for each in match.groups() if each is not None).strip() if match else answer
