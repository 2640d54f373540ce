"""What tasks, methods, patterns and structures are called where people read them, and in which order they are.

An id that is not listed here is shown as it is, after the known ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from audit.output.escaping import in_line
from audit.output.names import METHODS, TASKS
from audit.vocabulary.patterns import by_stake

LONGEST: Final = 100
"""Characters that tables and notes show of a name; CSV files have all."""

REGRESSIONS: Final[Mapping[str, str]] = {pattern.id: pattern.name for pattern in by_stake("regression")}
IMPROVEMENTS: Final[Mapping[str, str]] = {pattern.id: pattern.name for pattern in reversed(by_stake("improvement"))}
NO_CHANGE: Final = "no_change"
UNCLASSIFIED: Final = "unclassified"

# From what hurt most to what helped most; what lies between changed nothing.
PATTERNS: Final[Mapping[str, str]] = {
    **REGRESSIONS,
    NO_CHANGE: "no change",
    UNCLASSIFIED: "unclassified",
    **IMPROVEMENTS,
}

STRUCTURES: Final[Mapping[str, str]] = {
    "failure_confirmed": "failure confirmed (worst = median < best)",
    "preservation_favored": "preservation favored (worst < median = best)",
    "all_diverse": "all diverse (worst < median < best)",
    "identical": "identical (worst = median = best)",
}

ALL: Final[Mapping[str, str]] = {**TASKS, **METHODS, **PATTERNS, **STRUCTURES}


def label(text: str, longest: int = LONGEST) -> str:
    """A name from records as people read it: in one line, control characters spelled out, shortened in the middle."""
    shown = in_line(text)
    end = longest // 3
    return shown if len(shown) <= longest else f"{shown[: longest - end - 1]}…{shown[-end:]}"


def name(identifier: str) -> str:
    """What an id is called, or the id itself."""
    return ALL.get(identifier) or label(identifier)


def ordered(identifiers: Iterable[str], known: Mapping[str, str]) -> list[str]:
    """Each id once: the known ones in their order, then the others alphabetically."""
    return sorted(set(identifiers), key=lambda identifier: position(identifier, known))


def position(identifier: str, known: Mapping[str, str]) -> tuple[int, str]:
    """Sort key of an id: its place among the known ones, or after them."""
    return (list(known).index(identifier) if identifier in known else len(known), identifier)
