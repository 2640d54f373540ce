"""The log formats that can be read, and what their logs can state, by the name in a run's `source`.

To add a format: write a module with a class that implements `Source`, and add the class to `FORMATS`.
"""

from __future__ import annotations

from typing import Final, Protocol

from audit.records.locating import Found
from audit.sources.gepa import GepaSource
from audit.sources.intake import Intake
from audit.sources.iterations import Capabilities, Translated
from audit.sources.native import NativeSource
from audit.sources.openevolve import OpenEvolveSource
from audit.sources.r2po_release import ReleaseSource
from audit.sources.shinkaevolve import ShinkaEvolveSource


class Source(Protocol):
    """Reads one log format: it takes every file once, in no particular order, and finishes when there are no more."""

    looked_for: str
    """What its logs look like, in words, for the message that nothing was found."""

    def claims(self, found: Found) -> bool:
        """Whether a file belongs to this format, judged by its name and its folders' names."""

    def take(self, found: Found, intake: Intake) -> None:
        """Read a claimed file, or remember it for later."""

    def finish(self, intake: Intake) -> None:
        """Hand over what is known only at the end: what belongs together, and what is missing."""


FORMATS: Final = (NativeSource, ReleaseSource, GepaSource, OpenEvolveSource, ShinkaEvolveSource)
CAPABILITIES: Final[dict[str, Capabilities]] = {
    name: each for source in FORMATS for name, each in source.capabilities.items()
}
REMARKS: Final[dict[str, tuple[str, ...]]] = {
    name: each for source in FORMATS for name, each in getattr(source, "remarks", {}).items()
}
"""What logs of a source cannot state, and which revisions they are limited to, in sentences."""


def is_translated(source: str) -> bool:
    """Whether lines of a source are made while its logs are read."""
    return CAPABILITIES[source].lines is Translated
