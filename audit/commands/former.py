"""Commands that were removed, each with a sentence that says what to use now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FORMER: Final[Mapping[str, str]] = {
    "anchor": "nothing measures behavioural anchoring any longer; audit rescore runs recorded policies again",
    "import-interventions": "audit intervene plan asks a critic again under changed evidence",
    "obedience": "use audit sql; docs/sql.md has the query on the revision rule",
    "mentions": "`audit sql DIR 'from mentions'` prints the relation",
    "topics": "`audit sql DIR 'from topics where rank <= 10'` prints the relation",
    "watch": "use `audit view DIR --follow`",
}
