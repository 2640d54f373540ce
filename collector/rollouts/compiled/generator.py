"""NumPy's default generator, compiled: seeding one in NumPy costs more than many a rollout.

The algorithms are those of `numpy.random.SeedSequence` (M. E. O'Neill, "Developing a seed_seq alternative", 2015),
`numpy.random.PCG64` (M. E. O'Neill, "PCG: A family of simple fast space-efficient statistically good algorithms for
random number generation", 2014) and, for whole numbers in a range, of D. Lemire, "Fast random integer generation in an
interval", 2019. Their numbers are NumPy's to the bit.

A generator is an array of six 64-bit words: the state and the increment, high word first, whether half of an output is
still to be used, and that half.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.extending import overload

from collector.tasks import draws

WORDS = 6

_POOL = 4
_INIT_A, _MULT_A = np.uint32(0x43B0D7E5), np.uint32(0x931E8875)
_INIT_B, _MULT_B = np.uint32(0x8B51F9DD), np.uint32(0x58F38DED)
_MIX_LEFT, _MIX_RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
_HALF = np.uint32(16)

_PCG_HIGH, _PCG_LOW = np.uint64(2549297995355413924), np.uint64(4865540595714422341)
_MASK = np.uint64(0xFFFFFFFF)
_U1, _U11, _U32, _U58, _U63, _U64 = (np.uint64(number) for number in (1, 11, 32, 58, 63, 64))


@njit
def _hashed(value: Any, constant: Any, factor: Any) -> Any:
    value = np.uint32(value ^ constant)
    constant = np.uint32(constant * factor)
    value = np.uint32(value * constant)
    return np.uint32(value ^ (value >> _HALF)), constant


@njit
def _mixed(x: Any, y: Any) -> Any:
    result = np.uint32(np.uint32(_MIX_LEFT * x) - np.uint32(_MIX_RIGHT * y))
    return np.uint32(result ^ (result >> _HALF))


@njit
def seed_generator(generator: Any, seed: Any) -> None:
    """Put a generator into the state that `numpy.random.PCG64(seed)` starts in; `seed` is a 64-bit number."""
    pool = generator[4:].view(np.uint32)  # an array of its own would cost a fifth more
    pool[0], pool[1] = np.uint32(seed & _MASK), np.uint32(seed >> _U32)
    pool[2] = pool[3] = np.uint32(0)
    constant = _INIT_A
    for i in range(_POOL):
        pool[i], constant = _hashed(pool[i], constant, _MULT_A)
    for source in range(_POOL):
        for target in range(_POOL):
            if source != target:
                value, constant = _hashed(pool[source], constant, _MULT_A)
                pool[target] = _mixed(pool[target], value)
    constant = _INIT_B
    for word in range(4):
        low, constant = _hashed(pool[2 * word % _POOL], constant, _MULT_B)
        high, constant = _hashed(pool[(2 * word + 1) % _POOL], constant, _MULT_B)
        generator[word] = np.uint64(low) | (np.uint64(high) << _U32)
    first_high, first_low = generator[0], generator[1]
    generator[2] = (generator[2] << _U1) | (generator[3] >> _U63)
    generator[3] = (generator[3] << _U1) | _U1
    generator[0] = generator[1] = np.uint64(0)
    _advance(generator)
    low = generator[1] + first_low
    generator[0] += first_high + np.uint64(low < first_low)
    generator[1] = low
    _advance(generator)
    generator[4] = generator[5] = np.uint64(0)


@njit
def _high_product(a: Any, b: Any) -> Any:
    """The upper 64 bits of a product of two 64-bit numbers."""
    a_low, a_high, b_low, b_high = a & _MASK, a >> _U32, b & _MASK, b >> _U32
    low, middle = a_low * b_low, a_high * b_low
    middle += low >> _U32
    other = a_low * b_high + (middle & _MASK)
    return a_high * b_high + (middle >> _U32) + (other >> _U32)


@njit
def _advance(generator: Any) -> None:
    high, low = generator[0], generator[1]
    product_low = low * _PCG_LOW
    product_high = _high_product(low, _PCG_LOW) + high * _PCG_LOW + low * _PCG_HIGH
    generator[1] = product_low + generator[3]
    generator[0] = product_high + generator[2] + np.uint64(generator[1] < product_low)


@njit
def _next_64(generator: Any) -> Any:
    _advance(generator)
    value = generator[0] ^ generator[1]
    turn = generator[0] >> _U58
    return (value >> turn) | (value << ((_U64 - turn) & _U63))


@njit
def _next_32(generator: Any) -> Any:
    """Half an output; the other half is kept for the next time."""
    if generator[4]:
        generator[4] = np.uint64(0)
        return generator[5]
    value = _next_64(generator)
    generator[4], generator[5] = _U1, value >> _U32
    return value & _MASK


@overload(draws.uniform)
def _uniform(generator: Any, low: Any, high: Any) -> Any:
    def compiled(generator: Any, low: Any, high: Any) -> Any:
        return low + (high - low) * (np.float64(_next_64(generator) >> _U11) * (1.0 / 9007199254740992.0))

    return compiled


@overload(draws.integer)
def _integer(generator: Any, low: Any, high: Any) -> Any:
    def compiled(generator: Any, low: Any, high: Any) -> Any:
        count = np.uint64(high - low)
        if count == _U1:  # nothing to choose, and NumPy draws nothing
            return np.int64(low)
        product = _next_32(generator) * count
        if (product & _MASK) < count:
            uneven = (_MASK + _U1 - count) % count
            while (product & _MASK) < uneven:
                product = _next_32(generator) * count
        return np.int64(low) + np.int64(product >> _U32)

    return compiled
