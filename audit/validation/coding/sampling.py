"""Which revisions are drawn for coding: those that a critic answered for, evenly over strata, by chance within them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from audit.vocabulary.keys import RevisionKey
from collector.seeding import generator

if TYPE_CHECKING:
    import duckdb

STRATA: Final = ("env", "variant", "condition", "direction", "pattern", "structure", "references_worst")
"""Columns of the relation `revisions` that one can stratify by."""

Stratum = tuple[str, ...]
"""The values that the revisions of a stratum share; empty where there is but one."""

Name = TypeVar("Name", bound=tuple[str, ...])


def shares(sizes: Mapping[Name, int], sample: int) -> dict[Name, int]:
    """How many to draw from each stratum: equal shares, what does not divide going to larger strata.

    A stratum that is smaller than its share is taken whole, and the others share what it leaves.

    Args:
        sizes: revisions in each stratum.
        sample: how many to draw in all; every one, if there are fewer.
    """
    result: dict[Name, int] = {}
    left = sample
    # From small to large, so that what a small stratum leaves is shared among all that are not dealt with yet.
    for place, name in enumerate(sorted(sizes, key=lambda name: (sizes[name], name))):
        result[name] = min(sizes[name], left // (len(sizes) - place))
        left -= result[name]
    return {name: result[name] for name in sizes}


def draw(strata: Mapping[Stratum, Sequence[RevisionKey]], sample: int, seed: int) -> list[RevisionKey]:
    """Draw revisions, each equally likely within its stratum.

    The draw depends on the seed and on the set of revisions, not on the order in which they are given. A larger sample
    from the same revisions contains a smaller one.

    Args:
        strata: the revisions of each stratum.
        sample: how many to draw in all.
        seed: of the draw.

    Returns:
        In the order of their identities, which reveals nothing about their strata.
    """
    chosen: list[RevisionKey] = []
    for name, share in shares({name: len(members) for name, members in strata.items()}, sample).items():
        members = sorted(strata[name])
        order = generator(seed, "sample", *name).permutation(len(members))
        chosen += [members[place] for place in order[:share]]
    return sorted(chosen)


def shuffled(chosen: Sequence[RevisionKey], coder: str, seed: int) -> list[RevisionKey]:
    """A coder's own order of the revisions, by a draw of its own, so that it does not reveal strata."""
    return [chosen[place] for place in generator(seed, "order of a sample", coder).permutation(len(chosen))]


def strata(details: duckdb.DuckDBPyRelation, columns: Sequence[str]) -> dict[Stratum, list[RevisionKey]]:
    """The revisions that a critic answered for, by the values of some columns, in the order of these values.

    Args:
        details: the relation `revisions`, or some of its rows.
        columns: among `STRATA`; none for a single stratum.
    """
    # Only where a critic answered is it known whether the answer refers to anything.
    wanted = ", ".join((*RevisionKey._fields, *columns))
    result: dict[Stratum, list[RevisionKey]] = {}
    for row in details.filter('"cites" is not null').select(wanted).fetchall():
        name = tuple(_text(value) for value in row[len(RevisionKey._fields) :])
        result.setdefault(name, []).append(RevisionKey(*row[: len(RevisionKey._fields)]))
    return dict(sorted(result.items()))


def named(columns: Sequence[str], stratum: Stratum) -> str:
    """A stratum in words: `direction regression, env pong`."""
    return ", ".join(f"{column} {value}" for column, value in zip(columns, stratum, strict=True))


def _text(value: object) -> str:
    if value is None:
        return "none"
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
