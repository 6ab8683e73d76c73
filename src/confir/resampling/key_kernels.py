"""BLAKE2b digests of 8 bytes, without a secret (RFC 7693), of many docids at a time: a kernel for numba."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from confir.arrays import Bytes, Integers, Numbers
from confir.compilation import Compile, compile_with_numba, inline_parts
from confir.data.ids import Words

KeyKernel: TypeAlias = Callable[[Bytes, Integers, Numbers, Words], None]

# Docids that are hashed at a time: what these need stays in the fastest cache.
_LANES = 64

# RFC 7693, section 2. A docid is hashed by the kernel if it fits into one block of 16 words.
KEY_BYTES = 8  # bytes
LONGEST_HASHED = 128  # bytes
_WORD = 8  # bytes
_ROUNDS = 12
# The first 64 bits after the point of the square roots of the first eight primes.
_START = np.array(
    [math.isqrt(prime << 128) % (1 << 64) for prime in (2, 3, 5, 7, 11, 13, 17, 19)], np.uint64
)
# What the first word starts from: digest of so many bytes, no secret, one leaf.
_PARAMETERS = np.uint64(0x01010000 | KEY_BYTES)
# The words of the message in the order in which each round takes them.
_SCHEDULE = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
    ]
)
_BYTE = np.uint64(8)  # bits
_R16, _R24, _R32, _R63, _R1, _R40, _R48 = (np.uint64(n) for n in (16, 24, 32, 63, 1, 40, 48))


# For numba. Docids are the inner loop, which vectorises.


def _hash_loop(content: Bytes, starts: Integers, sizes: Numbers, keys: Words) -> None:
    """Fill in the keys of docids; those longer than a block get one without meaning."""
    message, state = np.empty((16, _LANES), np.uint64), np.empty((16, _LANES), np.uint64)
    for first in range(0, len(keys), _LANES):
        lanes = min(_LANES, len(keys) - first)
        block = slice(first, first + lanes)
        _start_hashing(content, starts[block], sizes[block], message, state)
        for turn in range(_ROUNDS):
            order = _SCHEDULE[turn % len(_SCHEDULE)]
            for step in range(8):
                _mix_rows(state, step, message[order[2 * step]], message[order[2 * step + 1]])
        for n in range(lanes):
            keys[first + n] = _START[0] ^ _PARAMETERS ^ state[0, n] ^ state[8, n]


def _start_hashing(
    content: Bytes, starts: Integers, sizes: Numbers, message: Words, state: Words
) -> None:
    """Fill in the words of docids, padded with zeros, and those that are to be mixed with them."""
    for word in range(16):
        for n in range(_LANES):
            message[word, n], state[word, n] = 0, _START[word % 8]
    for n in range(_LANES):
        state[0, n] ^= _PARAMETERS
        state[14, n] = ~state[14, n]  # no block follows
    for n in range(len(starts)):
        size = min(sizes[n], LONGEST_HASHED)
        state[12, n] ^= np.uint64(size)
        for place in range(size):
            shift = np.uint64(place % _WORD) * _BYTE
            message[place // _WORD, n] |= np.uint64(content[starts[n] + place]) << shift


def _mix_rows(state: Words, step: int, x: Words, y: Words) -> None:
    """Mix two words of each docid into a column of its 4 × 4 state; from step 4 on, a diagonal."""
    column, turned = step % 4, step // 4
    a, b = state[column], state[4 + (column + turned) % 4]
    c, d = state[8 + (column + 2 * turned) % 4], state[12 + (column + 3 * turned) % 4]
    for n in range(_LANES):
        p = a[n] + b[n] + x[n]
        s = d[n] ^ p
        s = (s >> _R32) | (s << _R32)
        r = c[n] + s
        q = b[n] ^ r
        q = (q >> _R24) | (q << _R40)
        p += q + y[n]
        s ^= p
        s = (s >> _R16) | (s << _R48)
        r += s
        q ^= r
        a[n], b[n], c[n], d[n] = p, (q >> _R63) | (q << _R1), r, s


@cache
def compile_kernel() -> KeyKernel | None:
    """Return the compiled kernel, or None if numba is missing or disabled."""
    return compile_with_numba(_build)


def _build(numba: Any, compiled: Compile) -> KeyKernel:
    inline_parts(_start_hashing, _mix_rows)
    kinds = (numba.uint8, numba.int64, numba.int32, numba.uint64)
    kernel: KeyKernel = compiled(_hash_loop, *(kind[::1] for kind in kinds))
    return kernel
