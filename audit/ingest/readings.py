"""The result of reading a record file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from audit.sources.intake import RecordFile


class Fault(msgspec.Struct, frozen=True):
    """Something in a record file that is left out.

    `line` counts from 1, None for the whole file. `origin` is where a translated record comes from, whose line
    only the translator knows; else None.
    """

    line: int | None
    message: str
    origin: str | None = None


class Reading(msgspec.Struct, frozen=True):
    """The result of reading a record file: its rows are those at `place` of `segment`."""

    segment: str
    place: int
    faults: Sequence[Fault] = ()


Readings = Mapping[RecordFile, Reading]
