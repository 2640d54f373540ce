"""Commands that were removed, each with a sentence that says what to use now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FORMER: Final[Mapping[str, str]] = {
    "watch": "new revisions are announced on the pages of `audit view DIR --follow`",
}
