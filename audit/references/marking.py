"""A text with its mentions marked, safe to print."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from typing import Final, Literal

from audit.output.escaping import visible
from audit.references.mention import Mention

Form = Literal["plain", "terminal", "markdown", "html"]

_HIGHLIGHT: Final = "\x1b[1;4m{}\x1b[0m\x1b[2m{}\x1b[0m"
_MARKDOWN: Final = re.compile(r"([\\`*_\[\]{}#|~!>+-])")


def mark(text: str, mentions: Sequence[Mention], form: Form = "plain") -> str:
    """The text with each mention in brackets, followed by what it points at: `[rollout 17]{worst 17}`.

    Control characters, terminal escapes and what would turn the direction of writing are spelled out, so that nothing
    in the text acts on a terminal; as Markdown or HTML its own markup is shown and not followed.

    Args:
        text: the text that the mentions were found in.
        mentions: as `resolve` gives them.
        form: for a file, for a terminal (bold and dim), for Markdown (bold), or for HTML (`mark`, with what is meant as
            a subscript), for use within an element that keeps white space.
    """
    written = _WRITERS[form]
    pieces = []
    end = 0
    for mention in mentions:
        pieces += [
            _safe(text[end : mention.start], form),
            written(_safe(mention.text, form), f"{{{meaning(mention)}}}"),
        ]
        end = mention.end
    return "".join([*pieces, _safe(text[end:], form)])


def meaning(mention: Mention) -> str:
    """What a mention points at, and whether that is denied: `worst median 17, negated`."""
    target = " ".join([*mention.labels, *map(str, mention.rollouts)]) or "unresolved"
    return f"{target}, negated" if mention.negated else target


def _safe(text: str, form: Form) -> str:
    shown = visible(text)
    if form == "markdown":
        return html.escape(_MARKDOWN.sub(r"\\\1", shown), quote=False)
    return html.escape(shown) if form == "html" else shown


_WRITERS: Final[dict[Form, Callable[[str, str], str]]] = {
    "plain": lambda text, note: f"[{text}]{note}",
    "terminal": _HIGHLIGHT.format,
    "markdown": lambda text, note: f"**\\[{text}\\]**{html.escape(note, quote=False)}",
    "html": lambda text, note: f"<mark>{text}</mark><sub>{html.escape(note)}</sub>",
}
