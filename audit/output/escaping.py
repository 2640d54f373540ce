"""Escapes text from records for output: it is shown, and never acts on a terminal, a spreadsheet or a document.

Names of conditions and tasks, models, files and answers all come from records that anybody can have written.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any, Final

LONGEST: Final = 32_767
"""Characters that a cell can hold in common spreadsheets."""

_FORMULA: Final = re.compile(r"[\s']*[=+\-@\uff0b\uff0d\uff1d\uff20]")
"""White space and apostrophes count for nothing; the wide forms of the four characters work in some spreadsheets."""

_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?")

_MARKDOWN: Final = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown reads as markup in a cell; an underscore within a word is none."""

_HTML: Final = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}

_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        # After the end of a row these two would be read as its options.
        "[": "{[}",
        "*": "{*}",
        # Characters that text fonts lack.
        "±": r"$\pm$",
        "Δ": r"$\Delta$",
        "τ": r"$\tau$",
        "∞": r"$\infty$",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "−": "$-$",
        "–": "--",
    }
    | {character: f"\\{character}" for character in "&%$#_{}"}
)


def visible(text: str) -> str:
    """The text with control and formatting characters spelled out and every blank a plain one; breaks and tabs stay."""
    return _with(text, _spelled, kept="\n\t")


def in_line(text: str) -> str:
    """The same in one line: line breaks and tabs become blanks."""
    return visible(" ".join(re.split(r"\r\n|[\n\t\r\v\f\x85\u2028\u2029]", text)))


def excerpt(value: Any) -> str:
    """A value for a message: in one line, shortened, without anything that acts on a terminal."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, default=str)
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= 40 else f"{text[:40]}…"


def cell(text: str) -> str:
    """The text as a spreadsheet's cell, control characters spelled out; line breaks and tabs within stay.

    A spreadsheet takes a cell that begins with one of = + - @ for a formula, and a formula can start programs and send
    data away. Such a cell gets an apostrophe in front, which makes it text. A signed number is left as it is.
    """
    shown = visible(text.replace("\r\n", "\n"))
    return f"'{shown}" if _FORMULA.match(shown) and not _NUMBER.fullmatch(shown) else shown


def escape_json(encoded: str) -> str:
    r"""JSON in which control and formatting characters are written as `\u` and four digits: it means the same."""
    return _with(encoded, lambda character: json.dumps(character)[1:-1].replace("\x7f", r"\u007f"), kept="\n")


def escape_markdown(text: str) -> str:
    """Text as Markdown shows it, in one line: neither its markup nor its HTML is followed."""
    return _MARKDOWN.sub(r"\\\g<0>", in_line(text)).translate(_HTML)


def escape_latex(text: str) -> str:
    """Text as LaTeX sets it, in one line; letters beyond its fonts are left as they are."""
    return in_line(text).translate(_LATEX)


def _with(text: str, spelled: Callable[[str], str], kept: str) -> str:
    """The text with its control and formatting characters and unusual blanks escaped, except those that are kept."""
    if text.isascii() and text.isprintable():
        return text
    others = {ord(each): spelled(each) for each in set(text) - {" "} if unicodedata.category(each)[0] in "CZ"}
    return text.translate({code: spelling for code, spelling in others.items() if chr(code) not in kept})


def _spelled(character: str) -> str:
    if unicodedata.category(character) == "Zs":  # no-break and thin blanks, which a search for a blank does not find
        return " "
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
