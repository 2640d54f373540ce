r"""Text made plain, character for character, so that offsets in the plain text are offsets in the original.

Letters become lower-case ASCII, quotes and dashes their ASCII kin; markup, terminal escapes and control characters
become spaces. What is left can be searched with small patterns that know nothing of Markdown.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ESCAPE: Final = re.compile(
    # A terminal's control sequence, a string for the terminal, or any other escape of two characters.
    r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)?|[^\n])?"
)
_TAG: Final = re.compile(
    r"</?(?:a|b|br|code|div|em|h[1-6]|i|li|mark|p|pre|span|strong|t[dhr]|u|ul|ol)\b[^<>\n]{0,80}>", re.I
)
_LATEX: Final = re.compile(r"\\[a-zA-Z]{2,12}(?=\{)")
_BULLET: Final = re.compile(r"(?m)^([ \t]{0,12})[*+\u2022](?=[ \t])")
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]+")

_MARKUP: Final = '*_`~"{}$\\'


class _Table(dict[int, str]):
    """A translation table that works out characters beyond ASCII when they are first met."""

    def __missing__(self, code: int) -> str:
        self[code] = result = _fold_character(chr(code))
        return result


_SINGLE: Final = {
    "\u2212": "-",
    "\u2018": "'",
    "\u2019": "'",
    "\u02bc": "'",
    # An em dash ends a clause; a shorter one may be a hyphen or a minus.
    "\u2014": ",",
    "\u2015": ",",
    "\u3002": ".",
    "\uff01": ".",
    "\uff1f": "?",
    "\u2028": "\n",
    "\u2029": "\n",
    "\x85": "\n",
}


def _fold_character(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category[0] in "LM":
        return _fold_letter(character, category)
    return _SINGLE.get(character, "-" if category == "Pd" else " ")


def _fold_letter(character: str, category: str) -> str:
    plain = unicodedata.normalize("NFKD", character)[0].lower()
    if plain.isascii() and plain.isalpha():
        return plain
    # Scripts without upper and lower case are mostly those that put no space around a foreign word.
    return " " if category == "Lo" else "x"


def _fold_ascii(character: str) -> str:
    if character == "\n":
        return character
    return " " if character in _MARKUP or character < " " or character == "\x7f" else character.lower()


_TABLE: Final = _Table({code: _fold_ascii(chr(code)) for code in range(128)})


def fold(text: str) -> str:
    """Make a text plain: the same length, ASCII, lower case; `x` replaces a letter of another alphabet."""
    if "\x1b" in text:
        text = _ESCAPE.sub(_blank, text)
    if "<" in text:
        text = _TAG.sub(_blank, text)
    if "\\" in text:
        text = _LATEX.sub(_blank, text)
    if "*" in text or "+" in text or "\u2022" in text:
        text = _BULLET.sub(r"\1-", text)
    if not text.isascii():
        # Translation is fast on ASCII, so other characters are replaced first, run by run.
        return _FOREIGN.sub(_fold_run, text.translate(_ASCII_ONLY))
    return text.translate(_TABLE)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _fold_run(match: re.Match[str]) -> str:
    return match[0].translate(_TABLE)


_ASCII_ONLY: Final = dict(_TABLE)
