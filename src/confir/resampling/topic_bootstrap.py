"""The bootstrap over topics."""

from __future__ import annotations

from dataclasses import replace

from confir.arguments import as_generator, check_replicates
from confir.defaults import REPLICATES, SEED
from confir.parallel import run_in_threads
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.kinds import as_sample
from confir.resampling.replicates import Rng, own_seed
from confir.resampling.statistics import WeightedStatistic
from confir.resampling.topic_sample import ScoresLike


def bootstrap_topics(
    scores: ScoresLike,
    *,
    statistic: str | WeightedStatistic = "mean",
    baseline: str | None = None,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> SamplingDistribution:
    """Return the distribution of a statistic over resampled topics.

    It says how far the statistic would vary with other topics, also where no formula does; all runs
    and measures share the topics drawn. `confidence_interval` makes intervals of it.

    Parameters
    ----------
    scores
        Anything that `as_scores` takes, or an array of scores: topics, or topics × columns.
    statistic
        "mean", "geometric-mean" or "logit-mean" of each run; "difference", "ratio" or
        "logit-difference" of each run's mean against the baseline's; or a function of weights
        (replicates × topics, rows sum to 1) and scores (topics × columns) that returns
        replicates × columns.
    baseline
        The run that the others are compared with.
    replicates
        Number of replicates, B.
    rng
        Seed or generator.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.bootstrap_topics(scores, replicates=999).replicates.shape
    (999, 2)
    """
    sample = as_sample(scores, statistic=statistic, baseline=baseline)
    check_replicates(replicates)
    generator = as_generator(rng)
    seed = own_seed(generator)
    weights = sample.draw(replicates, generator)
    (distribution,) = run_in_threads(lambda w: sample.distribution(slice(None), w), [weights])
    return replace(distribution, seed=seed, draws=replicates)
