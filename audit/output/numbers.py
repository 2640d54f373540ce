"""Numbers as results hold them."""

from __future__ import annotations

import math


def known(value: float) -> float | None:
    """A number, or None for what is not defined or infinite: JSON has neither."""
    return float(value) if math.isfinite(value) else None
