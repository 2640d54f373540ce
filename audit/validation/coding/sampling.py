"""Which revisions are drawn for coding: evenly over strata, by chance within them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from audit.vocabulary.keys import RevisionKey

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
    from collector.seeding import generator

    chosen: list[RevisionKey] = []
    for name, share in shares({name: len(members) for name, members in strata.items()}, sample).items():
        members = sorted(strata[name])
        order = generator(seed, "sample", *name).permutation(len(members))
        chosen += [members[place] for place in order[:share]]
    return sorted(chosen)


def shuffled(chosen: Sequence[RevisionKey], coder: str, seed: int) -> list[RevisionKey]:
    """A coder's own order of the revisions, by a draw of its own, so that it does not reveal strata."""
    from collector.seeding import generator

    return [chosen[place] for place in generator(seed, "order of a sample", coder).permutation(len(chosen))]
