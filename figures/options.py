"""What users choose of how figures are drawn: names alone, so that nothing heavy is loaded to list them."""

from __future__ import annotations

from enum import StrEnum


class Band(StrEnum):
    """What the band around a mean curve shows."""

    std = "std"
    bootstrap = "bootstrap"
