"""Components of the variance of a mean over topics: topics, documents, and their interaction.

Two-way random effects: the score of topic t on collection c is ``μ + a_t + b_c + e_tc``. With one
collection, the variance s² of its T scores is that of a plus that of e. The document bootstrap gives
the variance of each topic's score, b plus e, and that of their mean, b plus e/T. Replicates that draw
topics and documents together would count e three times ([Owen2007]).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.resampling.replicates import TopicWeights, resampled_means

# Size of arrays that are copied at once.
_CELLS = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class VarianceComponents:
    """Variance components of means over new topics and a new collection, by column.

    Attributes
    ----------
    topics
        ``σ_a²/T``: some topics are easier than others.
    documents
        ``σ_b²``: a collection shifts all topics alike.
    interaction
        ``σ_e²/T``: a collection suits some topics better than others.
    count
        The number T of topics.
    """

    topics: Floats
    documents: Floats
    interaction: Floats
    count: Integers

    @property
    def total(self) -> Floats:
        """The variance of the mean: ``s²/T + σ_b²``."""
        return self.topics + self.interaction + self.documents

    @property
    def df(self) -> Floats:
        """Degrees of freedom of the total: only s² is estimated from the few topics."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.total / (self.topics + self.interaction)
            df: Floats = np.square(ratio) * (self.count - 1.0)
        return np.where(self.topics + self.interaction == 0, np.inf, df)


def estimate_components(
    between: Floats, within: Floats, of_mean: Floats, count: Integers
) -> VarianceComponents:
    """Return the variance components of means over topics; NaN for a single topic.

    Parameters
    ----------
    between
        Variance s² of each column's scores over topics (ddof 1).
    within
        Variance of a topic's score over collections, averaged over topics.
    of_mean
        Variance of the mean over collections.
    count
        Topics of each column.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        both = np.maximum(0.0, count / (count - 1.0) * (within - of_mean))
        interaction = np.minimum(between, both) / count
        documents = np.maximum(0.0, of_mean - interaction)
        return VarianceComponents(between / count - interaction, documents, interaction, count)


def joint_replicates(
    scores: Floats, means: Floats, weights: Floats | TopicWeights, components: VarianceComponents
) -> Floats:
    """Return replicates of means over topics and collections, with the total variance.

    Each is a mean of topics drawn from the observed scores, which already vary by topic and
    interaction, plus the deviation of a resampled collection, scaled to the documents component.

    Parameters
    ----------
    scores
        The observed scores: columns × topics.
    means
        Their mean on each resampled collection: columns × replicates.
    weights
        Weights of the topics drawn for each replicate.
    components
        The variance components of the means.
    """
    defined = ~np.isnan(scores)
    mean = mean_over_topics(scores.T)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = resampled_means(np.where(defined, scores, 0.0).T, weights)
        drawn /= resampled_means(defined.T.astype(np.float64), weights)
        unbiased = np.sqrt(components.count / (components.count - 1.0))[:, None]
        topics = unbiased * (drawn - mean)
        share = np.sqrt(components.documents) / spread(means)
    share = np.where(components.documents == 0, 0.0, share)[:, None]
    collection = share * (means - mean_over_topics(means.T)[:, None])
    replicates: Floats = mean + topics + collection
    return replicates


def mean_over_topics(values: Floats, defined: Booleans | None = None) -> Floats:
    """Return the mean over the first axis of the defined values, by default all but NaN."""
    defined = ~np.isnan(values) if defined is None else defined
    with np.errstate(divide="ignore", invalid="ignore"):
        mean: Floats = values.sum(axis=0, where=defined) / defined.sum(axis=0)
    return mean


def spread(values: Floats) -> Floats:
    """Return the standard deviation over the last axis, ignoring NaN; NaN for fewer than two."""
    if len(values) > 1 and values.size > _CELLS and values.ndim > 1:
        half = len(values) // 2  # to limit the memory of copies
        return np.concatenate((spread(values[:half]), spread(values[half:])))
    defined = ~np.isnan(values)
    count = defined.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(defined, values, 0.0).sum(axis=-1, keepdims=True) / count
        squares = np.where(defined, np.square(values - mean), 0.0).sum(axis=-1)
        sd: Floats = np.sqrt(squares / (count[..., 0] - 1.0))
    # All values are equal: the rest is rounding error of the mean.
    low = np.where(defined, values, np.inf).min(axis=-1)
    high = np.where(defined, values, -np.inf).max(axis=-1)
    return np.where((low == high) & ~np.isnan(sd), 0.0, sd)
