"""What the finders pass on: mentions in the making, and the plain text with its evidence that they look at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from audit.references.mention import Kind, Label, Target
from audit.references.shown import Shown

GAP: Final = r"(?:[\x20\n]{1,24}+)"
"""What a space in patterns matches: markup has become spaces. Bounded, so that no search runs on and on."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A mention of which it is still to be found out whether it is negated."""

    start: int
    end: int
    kind: Kind
    target: Target


@dataclass(frozen=True, slots=True)
class Scene:
    """A text, as it is and folded, and what was shown."""

    text: str
    plain: str
    shown: Shown

    def before(self, offset: int, width: int) -> str:
        """At most so many characters in front of an offset."""
        return self.plain[max(0, offset - width) : offset]

    def after(self, offset: int, width: int) -> str:
        """At most so many characters from an offset on."""
        return self.plain[offset : offset + width]


@dataclass(frozen=True, slots=True)
class Bare:
    """A role's name that may or may not mean a rollout; `stands_alone` if it needs no other role beside it."""

    start: int
    end: int
    label: Label
    stands_alone: bool


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a phrase holds, mentions or a name in doubt, and where the search goes on behind it."""

    end: int
    drafts: Sequence[Draft] = ()
    bare: Bare | None = None


def compiled(pattern: str) -> re.Pattern[str]:
    r"""Compile a pattern for folded text: a space in it matches a gap between words, `\x20` one character."""
    return re.compile(pattern.replace(" ", GAP), re.ASCII)
