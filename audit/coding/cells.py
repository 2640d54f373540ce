"""Text from records as cells of a spreadsheet.

A spreadsheet takes a cell that begins with one of = + - @ for a formula, and a formula can start programs and send
data away. Such a cell gets an apostrophe in front, which makes it text.
"""

from __future__ import annotations

import re
from typing import Final

from audit.references import visible

_FORMULA: Final = re.compile(r"[\s']*[=+\-@\uff0b\uff0d\uff1d\uff20]")
"""White space and apostrophes count for nothing; the wide forms of the four characters work in some spreadsheets."""

LONGEST: Final = 32_767
"""Characters that a cell has at most in common spreadsheets."""


def cell(text: str) -> str:
    """The text as a cell that is no formula, control characters spelled out; line breaks and tabs within stay."""
    shown = visible(text.replace("\r\n", "\n"))
    return f"'{shown}" if _FORMULA.match(shown) else shown
