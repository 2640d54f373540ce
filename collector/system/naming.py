"""Names as people type them: case, blanks, hyphens and underscores count for nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

_BLANK: Final = re.compile(r"[\s_\-\u2010-\u2015]+")
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def folded(name: str) -> str:
    """A name without what people type in different ways."""
    return _BLANK.sub("", unicodedata.normalize("NFKC", name)).casefold()


def meant(given: str, identifiers: Iterable[str], names: Mapping[str, str] = _NONE) -> str:
    """The id that a name stands for: itself, or the only id that is written alike or is called so.

    Args:
        given: as a user typed it.
        identifiers: those there are.
        names: what ids are called in tables, where that is another word.

    Returns:
        The id; the name as given where it stands for none or for several.
    """
    known = list(identifiers)
    wanted = folded(given)
    if given in known or not wanted:
        return given
    found = [each for each in known if wanted in (folded(each), folded(names.get(each, each)))]
    return found[0] if len(found) == 1 else given
