"""The states elsewhere of files of which there are copies on this machine."""

from __future__ import annotations

from typing import Final

STATES: Final[dict[str, str]] = {}
"""By the name of the copy, as its server states it: those that this process has seen."""


def state_of(local: str) -> str | None:
    """The state elsewhere of a file of a copy; None for other files, and where its server states nothing."""
    return STATES.get(local)
