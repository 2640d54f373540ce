"""Computes the relation `noise`: every revision compared with no change at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.measures.permutation import no_change, no_change_paired
from audit.output.numbers import known
from audit.python_models.batches import identity, lines, write_read

if TYPE_CHECKING:
    import duckdb

AT_ONCE: Final = 5_000
"""Revisions that are tested at once."""

Row = dict[str, Any]


def write_noise(returns: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Test every revision for no change, and write a line of JSON for each.

    Args:
        returns: a query for all of the relation `revision_returns`, which was executed and not yet fetched.
        path: the file to write.
    """
    write_read(path, returns, tested, AT_ONCE)


def tested(revisions: Sequence[Row]) -> bytes:
    """The lines of some revisions."""
    return lines(compared(revisions))


def compared(revisions: Sequence[Row]) -> Iterator[Row]:
    """The rows of some revisions, given theirs of `revision_returns`; not in their order."""
    groups: dict[tuple[int, bool], list[Row]] = defaultdict(list)
    for revision in revisions:
        before, after = revision["before"] or (), revision["after"] or ()
        if before and len(before) == len(after):
            groups[len(before), revision["same_examples"]].append(revision)
        else:  # a log that lost rollouts, or knows means alone: there is nothing to exchange
            yield _line(revision, None, None, None)
    for (_, is_paired), group in groups.items():
        test = no_change_paired if is_paired else no_change
        found = test([revision["before"] for revision in group], [revision["after"] for revision in group])
        for revision, p, pooled, initial in zip(group, *found, strict=True):
            # On the same seeds an unchanged policy does the same again; a model on the same examples need not.
            yield _line(revision, float(p), float(pooled), 0.0 if revision["same_seeds"] else known(float(initial)))


def _line(revision: Row, p: float | None, pooled: float | None, initial: float | None) -> Row:
    chances = {"p_no_change": p, "chance_pooled": pooled, "chance_initial": initial}
    return identity(revision) | chances
