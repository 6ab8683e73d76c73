"""How often each document occurs in a resampled collection, and the ranks that follow.

Counts come from a counter-based generator: one word per (seed, docid, replicate), so a document has
the same count in every topic, run and measure, whatever else is computed. Each kernel is a plain
function that numba compiles, with a numpy version that gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from confir.arrays import Booleans, Bytes, Floats, Integers
from confir.compilation import Compile, compile_with_numba
from confir.data.ids import (
    FIRST_FACTOR,
    S27,
    S30,
    S31,
    S32,
    SECOND_FACTOR,
    STEP,
    Docids,
    Words,
    mix_words,
)
from confir.parallel import run_in_threads
from confir.resampling.key_kernels import KEY_BYTES, LONGEST_HASHED, compile_kernel

# A Poisson(1) count exceeds this less than once in 2³² draws.
MOST_COPIES = 12


# ``2³² · P(count >= j)`` for j = 1, 2, …: a count is the number of these above a 32-bit draw.
_CHANCES = [math.exp(-1) / math.factorial(k) for k in range(40)]
_TAILS = [sum(_CHANCES[:j:-1]) + _CHANCES[j] for j in range(1, MOST_COPIES + 1)]
THRESHOLDS = np.array([round(2**32 * tail) for tail in _TAILS], np.uint32)

# From this many docids on, loading the compiled kernel of their keys pays off.
_WORTH_COMPILING = 250_000

# Docids whose keys one task computes.
_KEYS_AT_ONCE = 1 << 16


def document_keys(docids: Docids, in_all: int = 0) -> Words:
    """Return a key for each docid, 64 bits that are the same on every machine: its BLAKE2b digest.

    hashlib computes it docid by docid; where there are many, a kernel computes many at a time.

    Parameters
    ----------
    docids
        The docids.
    in_all
        Number of docids expected over all calls, if more.
    """
    loaded = compile_kernel.cache_info().currsize > 0
    worth = max(len(docids), in_all) >= _WORTH_COMPILING
    kernel = compile_kernel() if loaded or worth else None
    keys, others = np.empty(len(docids), np.uint64), np.arange(len(docids))
    if kernel is not None:

        def fill(first: int) -> None:
            block = slice(first, first + _KEYS_AT_ONCE)
            some = docids[block]
            kernel(some.content, some.starts, some.sizes, keys[block])

        run_in_threads(fill, range(0, len(docids), _KEYS_AT_ONCE))
        others = np.flatnonzero(docids.sizes > LONGEST_HASHED)
    encoded = map(docids.encoded, others.tolist())
    digests = b"".join(blake2b(one, digest_size=KEY_BYTES).digest() for one in encoded)
    keys[others] = np.frombuffer(digests, "<u8")
    return keys


def seeded_keys(keys: Words, seed: int) -> Words:
    """Return the start of each document's own stream of words under a seed."""
    start = mix_words(np.array([seed], np.uint64))
    return mix_words(keys ^ start)


class DocumentKernels(NamedTuple):
    """Functions for some topics and a block of replicates.

    Attributes
    ----------
    draw_counts
        Seeded keys, the first replicate, the thresholds → counts, documents × replicates.
    place_documents
        Counts, lists, which documents are recorded → documents above each recorded one, its
        copies, and the lists' lengths.
    average_precisions
        Counts, lists, which documents are relevant, relevant copies by topic, cutoff, harmonic
        numbers → AP of each list and replicate. Lists of each run are in the order of the topics.
    """

    draw_counts: Callable[[Words, int, npt.NDArray[np.uint32], Bytes], None]
    place_documents: Callable[
        [Bytes, Integers, Integers, Booleans, Integers, Integers, Integers], None
    ]
    average_precisions: Callable[
        [Bytes, Integers, Integers, Booleans, Integers, int, Floats, Floats], None
    ]

    def __reduce__(self) -> tuple[Any, ...]:
        return _find_kernels, (self is not PLAIN_KERNELS,)


# In numpy


def _draw_counts(
    keys: Words, first: int, thresholds: npt.NDArray[np.uint32], counts: Bytes
) -> None:
    """Fill the counts (documents × replicates) of replicates from ``first`` on."""
    steps = np.arange(first + 1, first + 1 + counts.shape[1], dtype=np.uint64) * STEP
    drawn = (mix_words(keys[:, None] + steps) >> S32).astype(np.uint32)
    counts[:] = 0
    for threshold in thresholds:  # in descending order: faster than a search for each draw
        above = drawn < threshold
        if not above.any():
            break
        counts += above


def _place_documents(
    counts: Bytes,
    offsets: Integers,
    documents: Integers,
    recorded: Booleans,
    before: Integers,
    copies: Integers,
    depth: Integers,
) -> None:
    """Fill in the positions of the recorded documents of each list, in rank order."""
    row = 0
    for place in range(len(offsets) - 1):
        listed = documents[offsets[place] : offsets[place + 1]]
        held = counts[listed].astype(np.int64)
        below = np.cumsum(held, axis=0)
        kept = recorded[listed]
        stop = row + int(kept.sum())
        before[row:stop] = (below - held)[kept]
        copies[row:stop] = held[kept]
        depth[place] = below[-1] if len(listed) else 0
        row = stop


def _average_precisions(
    counts: Bytes,
    offsets: Integers,
    documents: Integers,
    relevant: Booleans,
    total: Integers,
    cutoff: int,
    harmonic: Floats,
    scores: Floats,
) -> None:
    """Fill in AP (lists × replicates); NaN where a replicate has no relevant document."""
    with np.errstate(invalid="ignore"):
        for place in range(len(offsets) - 1):
            listed = documents[offsets[place] : offsets[place + 1]]
            other, found = np.zeros((2, counts.shape[1]), np.int64)
            score = np.zeros(counts.shape[1])
            done = 0
            for rank in np.flatnonzero(relevant[listed]).tolist():
                other += counts[listed[done:rank]].sum(axis=0, dtype=np.int64)
                copies = counts[listed[rank]].astype(np.int64)
                above = other + found
                kept = np.clip(cutoff - above, 0, copies)
                score += kept - other * (harmonic[above + kept] - harmonic[above])
                found += copies
                done = rank + 1
            of_topic = total[place % len(total)]
            scores[place] = np.where(of_topic > 0, score, np.nan) / np.maximum(of_topic, 1)


# For numba. Replicates are the inner loop, which vectorises.


def _draw_counts_loop(
    keys: Words, first: int, thresholds: npt.NDArray[np.uint32], counts: Bytes
) -> None:
    size = counts.shape[1]
    drawn, above = np.empty(size, np.uint32), np.empty(size, np.uint32)
    for document in range(len(keys)):
        key = keys[document] + np.uint64(first) * STEP
        row = counts[document]
        for b in range(size):
            word = key + np.uint64(b + 1) * STEP
            word = (word ^ (word >> S30)) * FIRST_FACTOR
            word = (word ^ (word >> S27)) * SECOND_FACTOR
            drawn[b] = np.uint32((word ^ (word >> S31)) >> S32)
            above[b] = 0
        least = drawn.min()
        j = 0
        while j < len(thresholds) and least < thresholds[j]:
            threshold = thresholds[j]
            for b in range(size):
                above[b] += np.uint32(drawn[b] < threshold)
            j += 1
        for b in range(size):
            row[b] = np.uint8(above[b])


def _place_documents_loop(
    counts: Bytes,
    offsets: Integers,
    documents: Integers,
    recorded: Booleans,
    before: Integers,
    copies: Integers,
    depth: Integers,
) -> None:
    size = counts.shape[1]
    above = np.empty(size, np.int32)
    row = 0
    for place in range(len(offsets) - 1):
        above[:] = 0
        for entry in range(offsets[place], offsets[place + 1]):
            held = counts[documents[entry]]
            if recorded[documents[entry]]:
                for b in range(size):
                    before[row, b] = above[b]
                    copies[row, b] = held[b]
                row += 1
            for b in range(size):
                above[b] += held[b]
        for b in range(size):
            depth[place, b] = above[b]


def _average_precisions_loop(
    counts: Bytes,
    offsets: Integers,
    documents: Integers,
    relevant: Booleans,
    total: Integers,
    cutoff: int,
    harmonic: Floats,
    scores: Floats,
) -> None:
    size = counts.shape[1]
    other, found = np.empty(size, np.int32), np.empty(size, np.int32)
    score = np.empty(size, np.float64)
    for place in range(len(offsets) - 1):
        other[:] = 0
        found[:] = 0
        score[:] = 0.0
        stop = offsets[place + 1]
        while stop > offsets[place] and not relevant[documents[stop - 1]]:
            stop -= 1
        for entry in range(offsets[place], stop):
            held = counts[documents[entry]]
            if not relevant[documents[entry]]:
                for b in range(size):
                    other[b] += held[b]
                continue
            for b in range(size):
                above = int(other[b]) + int(found[b])
                kept = min(max(cutoff - above, 0), int(held[b]))
                score[b] += kept - other[b] * (harmonic[above + kept] - harmonic[above])
                found[b] += held[b]
        of_topic = total[place % len(total)]
        for b in range(size):
            scores[place, b] = score[b] / of_topic[b] if of_topic[b] > 0 else np.nan


PLAIN_KERNELS = DocumentKernels(_draw_counts, _place_documents, _average_precisions)


@cache
def compile_kernels() -> DocumentKernels | None:
    """Return the compiled kernels, or None if numba is missing or disabled."""
    return compile_with_numba(_build)


def _find_kernels(compiled: bool) -> DocumentKernels:
    """Return the kernels of this process, for pickled ones: compiled, where numba is here, too."""
    return (compile_kernels() if compiled else None) or PLAIN_KERNELS


def _build(numba: Any, compiled: Compile) -> DocumentKernels:
    number, real, flag = numba.int64, numba.float64, numba.boolean
    counts, lists = numba.uint8[:, ::1], (number[::1], number[::1], flag[::1])

    return DocumentKernels(
        compiled(_draw_counts_loop, numba.uint64[::1], number, numba.uint32[::1], counts),
        compiled(_place_documents_loop, counts, *lists, *[number[:, ::1]] * 3),
        compiled(
            _average_precisions_loop,
            counts,
            *lists,
            number[:, ::1],
            number,
            real[::1],
            real[:, ::1],
        ),
    )
