"""Commands that were removed, each with a sentence that says what to use now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FORMER: Final[Mapping[str, str]] = {
    "mentions": "`audit sql DIR 'from mentions'` prints the relation.",
    "topics": "`audit sql DIR 'from topics where rank <= 10'` prints the relation.",
}
