"""What a critic was shown, as far as a log states it."""

from __future__ import annotations

import msgspec

from collector.records import Count, RolloutLabel


class ShownRollout(msgspec.Struct, frozen=True):
    """A rollout that a critic was shown; `rollout` is its index among the K. What a log does not state is None.

    `name` is the heading that it was shown under, where that is not its label.
    """

    label: RolloutLabel
    rollout: Count | None = None
    return_: float | None = msgspec.field(name="return", default=None)
    length: Count | None = None
    name: str | msgspec.UnsetType | None = msgspec.UNSET
