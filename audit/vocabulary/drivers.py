"""What a revision can be chiefly justified by."""

from __future__ import annotations

from typing import Final, Literal, get_args

DriverName = Literal["worst", "shared", "median", "best", "history", "structure", "none"]
DRIVERS: Final[tuple[DriverName, ...]] = get_args(DriverName)
