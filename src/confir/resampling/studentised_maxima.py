"""Studentised maxima over replicates: how far the differences between runs vary together.

The largest t* of many pairs is distributed as chance alone makes it, correlations included.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import partial

import numpy as np

from confir.arrays import Floats
from confir.parallel import run_blocks
from confir.resampling.normal_draws import RunCovariance
from confir.resampling.pair_draws import BorrowedVariance, Maxima, PairDraws
from confir.resampling.replicates import SHARED
from confir.resampling.sample import Sample

# Replicates taken together, so that the t* of one run against all others stay in the cache.
REPLICATES_AT_ONCE = 512

# Weights and means held at once: replicates × topics or runs.
_NUMBERS_AT_ONCE = 1 << 24


def studentised_maxima(
    sample: Sample | RunCovariance,
    replicates: int,
    rng: np.random.Generator,
    every: BorrowedVariance,
    one: BorrowedVariance,
) -> Maxima:
    """Return the largest t* of each run against all others, and of all pairs, by one measure.

    Pairs without variance, the same difference on all topics, are left out.

    Parameters
    ----------
    sample
        One column per run.
    replicates, rng
        Number of replicates, and where they are drawn from.
    every, one
        What variances borrow in the family of all pairs, and in that of one run's pairs.
    """
    runs = len(sample.matrix if isinstance(sample, RunCovariance) else sample.labels)
    empty = np.empty((runs, 0))
    parts = [Maxima(empty, empty, np.empty(0))]
    shared = SHARED.get()
    for pairs, size in sample.pair_draws(replicates, rng):
        key = None if shared is None else _identity(pairs, every)
        compiled = pairs.kernels_pay_off(None, (every, one), size)
        blocks = run_blocks(partial(pairs.maxima, every, one, compiled), _blocks(size))
        if shared is not None and key is not None:
            shared.maxima[key] = np.concatenate([block.largest for block in blocks])
        parts += blocks
    return Maxima(*(np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)))


def largest_statistics(
    sample: Sample | RunCovariance,
    replicates: int,
    rng: np.random.Generator,
    borrowed: BorrowedVariance,
    runs: Sequence[int] | None = None,
) -> Floats:
    """Return the largest |t*| of all pairs in each replicate: that of `studentised_maxima`, faster.

    Parameters are those of `studentised_maxima`; ``runs`` are the numbers of those to compare with
    the others, by default all of them.
    """
    chosen = None if runs is None else np.asarray(runs)
    shared = SHARED.get()
    parts = [np.empty(0)]
    for pairs, size in sample.pair_draws(replicates, rng):
        kept = None
        if shared is not None and chosen is None:
            kept = shared.maxima.get(_identity(pairs, borrowed))
        if kept is None:
            compiled = pairs.kernels_pay_off(chosen, (borrowed,), size)
            part = partial(pairs.largest, borrowed, chosen, compiled)
            kept = np.concatenate(run_blocks(part, _blocks(size)))
        parts.append(kept)
    return np.concatenate(parts)


def _identity(pairs: PairDraws, borrowed: BorrowedVariance) -> tuple[bytes, int, str]:
    """Return what equal differences whose variances borrow the same have in common, and others have not.

    A median that is summed in another order may round otherwise. Arrays are not copied.
    """
    import hashlib

    buffers: list[pickle.PickleBuffer] = []
    digest = hashlib.blake2b(pickle.dumps(pairs, protocol=5, buffer_callback=buffers.append))
    shared = SHARED.get()
    for buffer in buffers:
        raw = buffer.raw()
        if shared is None or raw.nbytes < 1 << 20:
            digest.update(raw)
            continue
        held = raw.obj
        if id(held) not in shared.digests:  # held: its id stays its own
            shared.digests[id(held)] = held, hashlib.blake2b(raw).digest()
        digest.update(shared.digests[id(held)][1])
    return digest.digest(), borrowed.comparisons, f"{borrowed.median:.12g}"


def sizes_in_memory(replicates: int, units: int, runs: int) -> list[int]:
    """Return numbers of replicates that fit into memory together."""
    most = _NUMBERS_AT_ONCE // max(units, runs)
    most = max(1, most // REPLICATES_AT_ONCE) * REPLICATES_AT_ONCE
    return [min(most, replicates - start) for start in range(0, replicates, most)]


def _blocks(replicates: int) -> list[slice]:
    """Return the replicates in blocks, fixed by their number alone."""
    starts = range(0, replicates, REPLICATES_AT_ONCE)
    return [slice(start, min(start + REPLICATES_AT_ONCE, replicates)) for start in starts]
