"""What the shards of a sweep are together: `grid-….json`, the same bytes whichever shard writes it."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from collector.records.fields import Count, Number, Seed
from collector.records.lines import RecordError, decode
from collector.records.runs import TauRule

FORMAT: Final = 1
"""The newest form of the file that is read, and the one that is written."""
MOST_SHARDS: Final = 1_000_000

_encoder = msgspec.json.Encoder(order="deterministic")


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one method on one task under one condition, with the settings of their `run.json`.

    Attributes:
        warmup: number of random trials.
        shards: the shard of each run, that of run 1 first.
    """

    condition: str
    env: str
    variant: str
    iterations: Number
    shards: list[Number]
    seed: Seed
    rollouts: Number
    warmup: Count
    tau_c: float | None
    tau_rule: TauRule | msgspec.UnsetType = msgspec.UNSET
    backend: str
    model: str | None
    options: dict[str, Any]
    switches: dict[str, Any]

    @property
    def key(self) -> tuple[str, str, str]:
        """Condition, task and method."""
        return (self.condition, self.env, self.variant)


class Grid(msgspec.Struct, frozen=True, kw_only=True):
    """All runs of a sweep.

    Attributes:
        shards: how many shards they are divided among.
        prompts: SHA-256 of each template.
    """

    format: int = FORMAT
    shards: Number
    prompts: dict[str, str]
    cells: list[Cell]


def encode_grid(grid: Grid) -> bytes:
    """A grid as JSON, a line per cell."""
    opening = _encoder.encode(msgspec.structs.replace(grid, cells=[])).removesuffix(b"]}")
    return b"%s\n%s\n]}\n" % (opening, b",\n".join(map(_encoder.encode, grid.cells)))


def decode_grid(data: bytes) -> Grid:
    """Read a grid.

    Raises:
        RecordError: it is not JSON, misses a field, contradicts itself, or was written by a newer version.
    """
    form = decode(data, _Form).format
    if form > FORMAT:
        raise RecordError(f"format {form} is newer than this version reads ({FORMAT}); update salience-audit")
    grid = decode(data, Grid)
    if len({cell.key for cell in grid.cells}) < len(grid.cells):
        raise RecordError("cells: a task and method is given twice under one condition")
    if grid.shards > MOST_SHARDS:
        raise RecordError(f"shards: {grid.shards} is more than {MOST_SHARDS}")
    if any(shard > grid.shards for cell in grid.cells for shard in cell.shards):
        raise RecordError(f"cells: a shard is above {grid.shards}, the number of shards")
    return grid


class _Form(msgspec.Struct):
    format: int
