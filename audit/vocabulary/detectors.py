"""The audit's own detectors: when does a critic's answer refer to the item of its evidence that is asked about?

All look at the answer alone. Patterns are RE2 (the regular expressions of DuckDB) and ignore case. `word` is the
paper's detector; `phrase` asks for more, and finds neither "worst-case behaviour" nor "the worst point of the trace".
The others are relations with the columns of `references`: `resolved` asks which rollouts the text talks about, by
whatever name (`audit/references`); `judge` asks whether a model coded the item as what the main change is chiefly
justified by (`audit judge`). A user's own are read by `audit/detectors`.
"""

from __future__ import annotations

from typing import Final

_SPACE: Final = r"[\s\v\x1c-\x1f\x85\p{Z}]"
"""All white space of Unicode: models write non-breaking spaces, and RE2's `\\s` matches ASCII only."""


def patterns_for(name: str) -> dict[str, str]:
    """The detectors that are patterns, for an item that answers call by a name.

    Args:
        name: of the item, as a regular expression.
    """
    return {"word": name, "phrase": rf"\b{name}{_SPACE}+(?:rollout|trajectory)\b"}


PATTERNS: Final = patterns_for("worst")
RELATIONS: Final = {
    "resolved": "resolved_references",
    "judge": "judged_references",
}
DETECTORS: Final = (*PATTERNS, *RELATIONS)
DEFAULT: Final = "word"
DEFAULT_OF_TEXTS: Final = "resolved"
"""Where candidates are texts: items of a batch are called by their headings, and none of them the worst."""
