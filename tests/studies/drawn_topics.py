"""The topics that a seed draws for families of comparisons, for plain loops over them."""

import numpy as np

from confir.pairs.run_pairs import compare_all_runs
from confir.resampling.replicates import draw_topics, own_seed


def draws_of(topics, replicates, seed):
    """The topics drawn with a seed: replicates × topics."""
    rng = np.random.default_rng(own_seed(np.random.default_rng(seed)))
    weights = draw_topics(topics, replicates, rng).shares()
    return np.array(
        [np.repeat(np.arange(topics), np.rint(topics * w).astype(int)) for w in weights]
    )


def draws_of_runs(scores, replicates, seed, level):
    """The topics drawn for each run's own comparisons, and for all pairs, where more may be.

    Scores are of one measure.
    """
    (pairs,) = compare_all_runs(scores, replicates, seed, what="ranks", level=level)
    counts = pairs.maxima.above.shape[1], len(pairs.maxima.largest)
    return [draws_of(pairs.topics, count, seed) for count in counts]
