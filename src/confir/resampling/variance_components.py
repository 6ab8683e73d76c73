"""Where does the variance of a mean over topics come from: topics, documents, or both at once?

Two-way random effects: the score of topic t on collection c is ``μ + a_t + b_c + e_tc``. There is one
collection, so that the variance s² of its T scores is that of a plus that of e. The document
bootstrap gives the variance of each topic's score, b plus e, and that of their mean, b plus e/T.
Replicates that draw topics and documents at once would count e three times ([Owen2007]).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confir.arrays import Floats, Integers

# Numbers that are copied at once where there are many.
_CELLS = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class VarianceComponents:
    """Components of the variance of means over new topics and a new collection, by column.

    Attributes
    ----------
    topics
        ``σ_a²/T``: some topics are easier than others.
    documents
        ``σ_b²``: what a collection changes for all topics alike.
    interaction
        ``σ_e²/T``: what a collection changes for each topic by itself.
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
    """Return the components of variance of means over topics; NaN for a single topic.

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
    scores: Floats, means: Floats, weights: Floats, components: VarianceComponents
) -> Floats:
    """Return replicates of means over topics and collections: their variance is the total.

    Each is a mean of topics drawn from the observed scores, which vary by topics and interaction
    already, plus the deviation of a resampled collection, scaled to the part of documents alone.

    Parameters
    ----------
    scores
        The observed scores: columns × topics.
    means
        Their mean on each resampled collection: columns × replicates.
    weights
        Weights of the topics drawn for each replicate: replicates × topics.
    components
        The components of variance of the means.
    """
    defined = ~np.isnan(scores)
    mean = mean_over_topics(scores.T)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = (np.where(defined, scores, 0.0) @ weights.T) / (defined @ weights.T)
        unbiased = np.sqrt(components.count / (components.count - 1.0))[:, None]
        topics = unbiased * (drawn - mean)
        share = np.sqrt(components.documents) / spread(means)
    share = np.where(components.documents == 0, 0.0, share)[:, None]
    collection = share * (means - mean_over_topics(means.T)[:, None])
    replicates: Floats = mean + topics + collection
    return replicates


def mean_over_topics(values: Floats) -> Floats:
    """Return the mean over the first axis, NaN left out; NaN where there is nothing else."""
    defined = ~np.isnan(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean: Floats = np.where(defined, values, 0.0).sum(axis=0) / defined.sum(axis=0)
    return mean


def spread(values: Floats) -> Floats:
    """Return the standard deviation over the last axis, NaN left out; NaN for fewer than two."""
    if len(values) > 1 and values.size > _CELLS and values.ndim > 1:
        half = len(values) // 2  # copies are made of a part at a time
        return np.concatenate((spread(values[:half]), spread(values[half:])))
    defined = ~np.isnan(values)
    count = defined.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(defined, values, 0.0).sum(axis=-1, keepdims=True) / count
        squares = np.where(defined, np.square(values - mean), 0.0).sum(axis=-1)
        sd: Floats = np.sqrt(squares / (count[..., 0] - 1.0))
    # All values equal: what is left is the rounding of their mean.
    low = np.where(defined, values, np.inf).min(axis=-1)
    high = np.where(defined, values, -np.inf).max(axis=-1)
    return np.where((low == high) & ~np.isnan(sd), 0.0, sd)
