"""A sweep divided among processes that know nothing of each other: each collects the runs of its own shard."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collector.spec import RunSpec

MOST_SHARDS: Final = 1_000_000


class Shard(NamedTuple):
    """One of so many shares of a sweep's runs; the first is number 1."""

    number: int
    of: int

    def folders(self, specs: Iterable[RunSpec]) -> set[Path]:
        """The folders of the shard's runs.

        Runs are dealt out in turn, sorted by condition, task, method and number. Any cell, and any task under a
        condition, is thus spread over the shards as evenly as possible. The result depends on the sweep alone: neither
        on the order in which it is asked for, nor on what is complete already, nor on the machine.

        Args:
            specs: all runs of the sweep.
        """
        dealt = sorted(specs, key=lambda spec: (spec.cell, spec.run))
        return {spec.folder for spec in dealt[self.number - 1 :: self.of]}

    def line(self, mine: int, every: int) -> str:
        """How many of some runs are in the shard, for people."""
        return f"shard {self.number} of {self.of}: {mine or 'none'} of {every} runs"
