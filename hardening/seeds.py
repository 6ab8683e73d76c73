"""Comparison of verdicts, best sets and rank limits of real tables between several seeds.

    CONFIR_DATA=data python hardening/seeds.py --seeds 4

Each decision that differs between two seeds must be marked as borderline by every one of them: a reader
sees the output of one seed alone. The program ends with an error if one is unmarked. The tables: 42 runs
of TREC Deep Learning 2021 by five measures, and 197 embedding models on the 15 datasets of BEIR, whose
means are those of MTEB, also as a leaderboard.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import confir
from confir.arrays import Booleans, Integers
from confir.errors import ConfirWarning
from confir.pairs.decisions import NOT_COMPARED, VERDICTS

LEVELS = (0.9, 0.95, 0.99)


class Decisions(NamedTuple):
    """Decisions of one kind by one seed, and which of them are marked as borderline."""

    values: Integers
    marked: Booleans


def main() -> None:
    """Print how many decisions differ between seeds; end with an error if one is not marked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--replicates", type=int, default=9_999)
    parser.add_argument("--data", type=Path, default=os.environ.get("CONFIR_DATA"))
    options = parser.parse_args()
    if options.data is None:
        parser.error("expected --data, or a folder in CONFIR_DATA")
    warnings.simplefilter("ignore", ConfirWarning)
    unmarked = 0
    for name, decide in tables(options.data):
        found = [dict(decide(seed, options.replicates)) for seed in range(1, options.seeds + 1)]
        for kind in found[0]:
            differ, bad, marked = compare([one[kind] for one in found])
            unmarked += bad
            count = found[0][kind].values.size
            print(
                f"{name}, {kind}: of {count:,} decisions {differ} differ between {options.seeds} "
                f"seeds, {bad} of them unmarked by a seed; marked {marked:.1f} per seed",
                flush=True,
            )
    if unmarked:
        sys.exit(f"{unmarked} decisions differ between seeds and are not marked by all of them")


def compare(seeds: list[Decisions]) -> tuple[int, int, float]:
    """Return how many decisions differ, how many of them a seed leaves unmarked, and how many it marks."""
    values = np.stack([one.values for one in seeds])
    marked = np.stack([one.marked for one in seeds])
    differ = (values != values[0]).any(axis=0)
    return (
        int(differ.sum()),
        int((differ & ~marked.all(axis=0)).sum()),
        float(marked.sum() / len(seeds)),
    )


Decide = Callable[[int, int], Iterator[tuple[str, Decisions]]]


def tables(data: Path) -> Iterator[tuple[str, Decide]]:
    """Yield what decides on each table."""
    folder = data / "trec-dl-2021"
    runs = sorted((folder / "runs").iterdir())
    measures = ["AP", "nDCG@10", "P@10", "RR", "R@100"]
    scores = confir.evaluate(folder / "qrels.nist.txt", runs, measures)
    yield "DL 2021", lambda seed, replicates: decisions(scores, seed, replicates)
    means = confir.read_scores(data / "mteb-beir" / "ndcg_at_10.csv")
    yield "MTEB", lambda seed, replicates: decisions(means, seed, replicates)
    yield "MTEB leaderboard", lambda seed, replicates: board_decisions(means, seed, replicates)


def decisions(scores: confir.Scores, seed: int, replicates: int) -> Iterator[tuple[str, Decisions]]:
    """Yield verdicts on pairs, best sets and rank limits, at several levels."""
    number = {verdict: place for place, verdict in enumerate((*VERDICTS, NOT_COMPARED))}
    for level in LEVELS:
        pairs = confir.compare_runs(scores, level=level, replicates=replicates, rng=seed)
        words = np.vectorize(number.__getitem__, otypes=[np.int64])(pairs.verdict)
        yield f"verdicts at {level:g}", Decisions(words, pairs.borderline)
        best = confir.find_best(scores, level=level, replicates=replicates, rng=seed)
        yield f"best set at {level:g}", Decisions(best.in_set.astype(np.int64), best.borderline)
        ranks = confir.rank_runs(scores, level=level, replicates=replicates, rng=seed)
        for kind, limits in (
            ("rank limits", (ranks.low, ranks.high)),
            ("simultaneous rank limits", (ranks.simultaneous_low, ranks.simultaneous_high)),
        ):
            both = Decisions(np.stack(limits), np.stack([ranks.borderline] * 2))
            yield f"{kind} at {level:g}", both


def board_decisions(
    means: confir.Scores, seed: int, replicates: int
) -> Iterator[tuple[str, Decisions]]:
    """Yield ranks, best set and separable neighbours of a leaderboard; limits of Borda counts describe replicates."""
    board = confir.make_leaderboard(means, replicates=replicates, rng=seed)
    ranks = np.stack([board.rank_low, board.rank_high])
    yield "rank limits", Decisions(ranks, np.stack([board.borderline] * 2))
    yield "best set", Decisions(board.may_be_best.astype(np.int64), board.best_borderline)
    yield "separable", Decisions(board.separable.astype(np.int64), board.borderline)


if __name__ == "__main__":
    main()
