"""A sweep divided among processes that know nothing of each other: each collects the runs of its own shard."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from collector.errors import StorageError, cannot_write
from collector.prompts import templates
from collector.records.grids import Cell, Grid, encode_grid
from collector.spec import RunSpec, by_cell


class Division:
    """The runs of a sweep, dealt out into shards, one of which is collected here.

    Runs are dealt out in turn, sorted by condition, task, method and number. Any cell, and any task under a condition,
    is thus spread over the shards as evenly as possible. The result depends on the sweep alone: neither on the order in
    which it is asked for, nor on what is complete already, nor on the machine.

    Args:
        specs: all runs of the sweep.
        number: the shard that is collected here, from 1.
        shards: how many there are.
    """

    def __init__(self, specs: Iterable[RunSpec], number: int, shards: int) -> None:
        self.number = number
        self.shards = shards
        dealt = (spec.folder for members in _cells(specs).values() for spec in members)
        self.shard_of = {folder: place % shards + 1 for place, folder in enumerate(dealt)}

    def mine(self, specs: Iterable[RunSpec]) -> list[RunSpec]:
        """Those of some runs that are in the shard, in the same order."""
        return [spec for spec in specs if self.shard_of[spec.folder] == self.number]

    def line(self, specs: Sequence[RunSpec]) -> str:
        """How many of some runs are in the shard, for people."""
        return f"shard {self.number} of {self.shards}: {len(self.mine(specs)) or 'none'} of {len(specs)} runs"

    def grid(self, specs: Sequence[RunSpec]) -> Grid:
        """What some of the sweep's cells are as a whole, whichever shard asks."""
        folder = next((spec.prompt_folder for spec in specs if spec.prompt_folder is not None), None)
        cells = [_cell(members, self.shard_of) for members in _cells(specs).values()]
        return Grid(shards=self.shards, prompts=templates.hashes(folder), cells=cells)


def write_grid(grid: Grid, out: Path) -> Path:
    """Write a grid into the output folder, under a name that its content decides.

    Several shards may write at once: each renames a complete file of its own into place, and all have the same bytes.
    Different sweeps have different names, so folders can be copied together in any order.

    Returns:
        The file, `grid-DIGEST.json`.

    Raises:
        StorageError: it cannot be written.
    """
    data = encode_grid(grid)
    target = out / f"grid-{hashlib.sha256(data).hexdigest()[:12]}.json"
    draft = out / f".{target.name}.{secrets.token_hex(8)}.part"
    try:
        out.mkdir(parents=True, exist_ok=True)
        if target.is_file() and target.read_bytes() == data:
            return target
        try:
            with draft.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(cannot_write(target, error, "--out")) from None
    return target


def _cells(specs: Iterable[RunSpec]) -> dict[tuple[str, str, str], list[RunSpec]]:
    """The runs of each condition, task and method, in the order of their names."""
    return dict(sorted(by_cell((spec.cell, spec) for spec in specs).items()))


def _cell(members: Sequence[RunSpec], shard_of: Mapping[Path, int]) -> Cell:
    first = members[0]
    assert [spec.run for spec in members] == list(range(1, len(members) + 1))
    condition, env, variant = first.cell
    shards = [shard_of[spec.folder] for spec in members]
    return Cell(condition=condition, env=env, variant=variant, shards=shards, warmup=first.warmup, **first.settings)
