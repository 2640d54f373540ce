"""When does a critic's answer refer to the worst rollout? Each detector is a pattern, tried on the answer alone.

Patterns are RE2 (the regular expressions of DuckDB) and ignore case. `word` is the paper's detector; `phrase` asks for
more, and finds neither "worst-case behaviour" nor "the worst point of the trace".
"""

from __future__ import annotations

from typing import Final

DETECTORS: Final[dict[str, str]] = {
    "word": r"worst",
    "phrase": r"\bworst\s+(?:rollout|trajectory)\b",
}
