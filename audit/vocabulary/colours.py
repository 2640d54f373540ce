"""The colours of methods, directions and structures in figures and on the viewer's pages.

Those of methods are with their names in `audit.output.names`, those of edit patterns with their rules in
`audit.vocabulary.patterns`.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final

from audit.output.names import METHOD_COLOURS

DIRECTION_COLOURS: Final[Mapping[str, str]] = {
    "regression": "#C74A02",
    "improvement": "#1764AB",
    "no_change": "#6E6E6E",
}
STRUCTURE_COLOURS: Final[Mapping[str, str]] = {
    "failure_confirmed": "#A33E00",
    "all_diverse": "#F2A93B",
    "preservation_favored": "#2C78B5",
    "identical": "#9A9A9A",
}
STRICT: Final = "#B03A00"
PERMISSIVE: Final = "#F3B58A"


def method_colour(method: str) -> str:
    """Colour of a method; one that is not known gets a fixed one of its own, from its name."""
    if method in METHOD_COLOURS:
        return METHOD_COLOURS[method]
    colours = sorted(set(METHOD_COLOURS.values()))
    return colours[zlib.crc32(method.encode()) % len(colours)]
