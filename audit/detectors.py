"""When does a critic's answer refer to the worst rollout? All detectors look at the answer alone.

Patterns are RE2 (the regular expressions of DuckDB) and ignore case. `word` is the paper's detector; `phrase` asks for
more, and finds neither "worst-case behaviour" nor "the worst point of the trace". `resolved` has no pattern: it asks
which rollouts the text talks about (`audit/references`), by whatever name. `judge` has none either: it asks whether the
worst rollout is the driver that a model coded (`audit judge`), whatever the answer mentions.
"""

from __future__ import annotations

from typing import Final

DETECTORS: Final[dict[str, str | None]] = {
    "word": r"worst",
    "phrase": r"\bworst\s+(?:rollout|trajectory)\b",
    "resolved": None,
    "judge": None,
}
