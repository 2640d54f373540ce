"""Random numbers by purpose.

Every draw has a key made from what it is for (task, method, run, iteration, role …), never from what was drawn
before. The same seed therefore gives the same numbers whatever else runs, ran or was resumed.
"""

from __future__ import annotations

import hashlib

import numpy as np


def _word(part: str | int) -> int:
    """A 32-bit word for one part of a key. Text goes through BLAKE2, as Python's own hash changes between processes."""
    if isinstance(part, int):
        return part
    return int.from_bytes(hashlib.blake2b(part.encode(), digest_size=4).digest(), "little")


def seed_sequence(seed: int, *purpose: str | int) -> np.random.SeedSequence:
    """The seed sequence for one purpose.

    Args:
        seed: the seed that the user gave.
        purpose: what the draw is for, for example `("cartpole", "r2po", 1, 17, "initial")`; whole numbers are not
            negative.
    """
    return np.random.SeedSequence(seed, spawn_key=tuple(_word(part) for part in purpose))


def seeds(seed: int, count: int, *purpose: str | int) -> list[int]:
    """`count` 32-bit seeds for one purpose."""
    return [int(word) for word in seed_sequence(seed, *purpose).generate_state(count, np.uint32)]


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """A generator for one purpose."""
    return np.random.default_rng(seed_sequence(seed, *purpose))
