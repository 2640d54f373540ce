"""What a critic was shown, as far as a log states it."""

from __future__ import annotations

import msgspec

from collector.records import Count, ItemLabel


class ShownRollout(msgspec.Struct, frozen=True):
    """A rollout, or another item with a score, that a critic was shown; what a log does not state is None.

    `rollout` is its index among the K, `name` the heading that it was shown under, where that is not its label, and
    `text` what was shown of it.
    """

    label: ItemLabel
    rollout: Count | None = None
    return_: float | None = msgspec.field(name="return", default=None)
    length: Count | None = None
    name: str | msgspec.UnsetType | None = msgspec.UNSET
    text: str | msgspec.UnsetType | None = msgspec.UNSET
