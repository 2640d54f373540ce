"""Commands that were removed, each with a sentence that says what to use now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FORMER: Final[Mapping[str, str]] = {
    "watch": "use `audit view DIR --follow`",
}
