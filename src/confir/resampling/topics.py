"""The bootstrap over topics: what if other topics had been sampled?

All columns share the same replicate weights, so the bootstrap means of all runs and measures are one
matrix product, and runs stay paired.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from confir.arguments import as_choice, as_generator, as_integer, as_reals
from confir.arrays import Booleans, Floats, Integers
from confir.data.experiment import Experiment
from confir.data.files import PathLike
from confir.data.scores import Scores, lie_in_unit_interval
from confir.data.tables.score_objects import is_score_source
from confir.defaults import REPLICATES
from confir.errors import FormatError, InvalidValueError, UnsupportedMethodError
from confir.measures.bounds import bounded_measures, clip_to_range
from confir.measures.evaluation import as_scores, in_id_order
from confir.parallel import run_in_threads
from confir.resampling.clusters import Clusters, designed_distribution
from confir.resampling.distribution import SamplingDistribution, TopicColumns
from confir.resampling.moments import function_distribution, smooth_distribution
from confir.resampling.statistics import STATISTICS, Statistic, WeightedStatistic
from confir.resampling.topic_weights import TopicWeights, draw_topics

# With this many replicates the Monte-Carlo error is negligible.
MOST_REPLICATES = 10_000_000

Rng = int | np.random.Generator | None
ScoresLike = Scores | Experiment | Floats | Sequence[Any] | PathLike | Mapping[str, Any]


def replicate_weights(
    topics: int, clusters: Clusters | None, replicates: int, rng: np.random.Generator
) -> Floats | TopicWeights:
    """Return replicate weights of topics or, by a design, how often each cluster is drawn."""
    if clusters is None:
        return draw_topics(topics, replicates, rng)
    return cluster_counts(clusters, replicates, rng)


def cluster_counts(clusters: Clusters, replicates: int, rng: np.random.Generator) -> Floats:
    """Return how often each cluster is drawn: B × clusters.

    With one stratum, as many clusters as there are; with several, one less in each (Rao & Wu 1988),
    as plain resampling would halve the variance of strata with two clusters.
    """
    parts = []
    for size in clusters.sizes.tolist():
        draws = size if len(clusters.share) == 1 else size - 1
        parts.append(draw_topics(size, replicates, rng, draws).counts)
    return np.concatenate(parts, axis=1, dtype=np.float64)


def bootstrap_topics(
    scores: ScoresLike,
    *,
    statistic: str | WeightedStatistic = "mean",
    baseline: str | None = None,
    replicates: int = REPLICATES,
    rng: Rng = None,
) -> SamplingDistribution:
    """Return the distribution of a statistic over resampled topics.

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
    """
    from confir.resampling.human_judgements import any_sample

    sample = any_sample(scores, statistic=statistic, baseline=baseline)
    check_replicates(replicates)
    generator = as_generator(rng)
    seed = own_seed(generator)
    weights: Any = sample.draw(replicates, generator)  # what its kind draws
    (distribution,) = run_in_threads(lambda w: sample.distribution(slice(None), w), [weights])
    return replace(distribution, seed=seed, draws=replicates)


def own_seed(rng: np.random.Generator) -> int:
    """Return a seed for methods that draw their own random numbers; the generator is unchanged."""
    return int(rng.spawn(1)[0].integers(2**63))


def check_replicates(replicates: int) -> None:
    """Raise if the number of replicates is invalid."""
    if as_integer("replicates", replicates) > MOST_REPLICATES:
        raise InvalidValueError(
            f"replicates is {replicates:,}; expected at most {MOST_REPLICATES:,}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class TopicSample(TopicColumns):
    """Scores by topic, prepared for the bootstrap of a statistic.

    Attributes
    ----------
    labels
        (run, measure) of each column.
    shape
        The columns' shape in results: runs × measures, or that of an array.
    values
        The variables averaged, or the scores for a function: topics × columns, NaN where missing.
    statistic
        A statistic in STATISTICS, or a function of weights and scores.
    support
        Columns whose statistic lies in [0, 1].
    clusters
        The clusters of the topics' design; None for one simple random sample.
    """

    labels: tuple[tuple[str, str], ...]
    shape: tuple[int, ...]
    values: tuple[Floats, ...]
    statistic: Statistic | WeightedStatistic
    support: Booleans
    clusters: Clusters | None = None

    @property
    def topics(self) -> int:
        """Number of topics."""
        return len(self.values[0])

    @property
    def independent(self) -> bool:
        """Whether topics are one simple random sample."""
        return self.clusters is None

    @property
    def design_words(self) -> str:
        """What the topics' design is, in words; nothing where there is none."""
        return "" if self.clusters is None else self.clusters.words

    @property
    def averages(self) -> bool:
        """Whether the statistic is the plain mean of one variable without missing values."""
        linear = isinstance(self.statistic, Statistic) and self.statistic.linear
        return linear and self.independent and not bool(np.isnan(self.values[0]).any())

    def selected(self, columns: slice) -> TopicSample:
        """Return some columns, as a one-dimensional sample."""
        values = tuple(np.ascontiguousarray(value[:, columns]) for value in self.values)
        labels = self.labels[columns]
        support = self.support[columns]
        return replace(self, labels=labels, shape=(len(labels),), values=values, support=support)

    def draw(
        self, replicates: int, rng: np.random.Generator, _: Collection[str] = ()
    ) -> Floats | TopicWeights:
        """Return replicate weights of topics, or how often each cluster is drawn: B × these."""
        return replicate_weights(self.topics, self.clusters, replicates, rng)

    def drawn(self, topics: Integers) -> TopicSample:
        """Return the sample of some topics, which may be drawn more than once.

        Of a design, topics are some of those that it has, each once.
        """
        clusters = None if self.clusters is None else self.clusters.kept(topics)
        values = tuple(value[topics] for value in self.values)
        return replace(self, values=values, clusters=clusters)

    def drawn_often(self, topics: Integers) -> TopicSample:
        """Return several samples, one per row of topics, as columns of one."""
        samples, size = topics.shape
        values = tuple(value[topics.T].reshape(size, -1) for value in self.values)
        shape = (samples, *self.shape)
        support = np.tile(self.support, samples)
        return TopicSample(self.labels * samples, shape, values, self.statistic, support)

    def provides(self, need: str) -> bool:
        """Whether the distribution of this statistic has a field of this name."""
        if not isinstance(self.statistic, Statistic):
            return need in ("se", "acceleration", "replicates")
        if self.clusters is not None and need == "replicate_se":
            return self.clusters.studentises
        if self.clusters is not None and need in ("sample", "skewness", "replicate_skewness"):
            return False
        return self.statistic.linear or need not in ("sample", "skewness", "replicate_skewness")

    def distribution(
        self,
        columns: slice,
        weights: Floats | TopicWeights | None,
        needs: Collection[str] = ("replicates", "replicate_se", "replicate_skewness"),
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns.

        Parameters
        ----------
        columns
            Which columns.
        weights
            Replicate weights, as `draw` makes them; None if no method resamples.
        needs
            The fields of the distribution that must be filled.
        """
        values = tuple(value[:, columns] for value in self.values)
        labels, support = self.labels[columns], self.support[columns]
        if self.clusters is not None:
            if not isinstance(self.statistic, Statistic):
                raise UnsupportedMethodError("a statistic given as a function takes no design")
            return designed_distribution(
                self.clusters, self.statistic, values, _all_at_once(weights), needs, labels, support
            )
        if isinstance(self.statistic, Statistic):
            return smooth_distribution(self.statistic, values, weights, needs, labels, support)
        whole = _all_at_once(weights)
        return function_distribution(self.statistic, values[0], whole, labels, support)


def _all_at_once(weights: Floats | TopicWeights | None) -> Floats | None:
    return weights.shares() if isinstance(weights, TopicWeights) else weights


def topic_sample(
    scores: ScoresLike, *, statistic: str | WeightedStatistic = "mean", baseline: str | None = None
) -> TopicSample:
    """Return scores prepared for the bootstrap of a statistic over topics."""
    chosen: Statistic | WeightedStatistic
    if callable(statistic) and not isinstance(statistic, type):
        chosen = statistic
    else:
        chosen = STATISTICS[as_choice("statistic", statistic, STATISTICS)]
    if isinstance(scores, Experiment) or is_score_source(scores):
        scores = as_scores(scores)
    compares = isinstance(chosen, Statistic) and chosen.compares
    if compares and (baseline is None or not isinstance(scores, Scores)):
        raise InvalidValueError(f"{statistic!r} compares runs: it needs Scores and a baseline")
    if baseline is not None and not compares:
        raise InvalidValueError(f"{statistic!r} compares no runs: it takes no baseline")
    if not isinstance(scores, Scores):
        return _array_sample(scores, chosen)
    scores = clip_to_range(in_id_order(scores))
    reference = scores.values
    if baseline is not None:
        as_choice("baseline", baseline, scores.runs, "run")
        reference = scores.select(run=[baseline]).values
        scores = scores.select(run=[run for run in scores.runs if run != baseline])
        if not scores.runs:
            raise InvalidValueError(f"there is no run to compare with the baseline {baseline!r}")
    flat = scores.values.reshape(len(scores.topics), -1)
    other = np.broadcast_to(reference, scores.values.shape).reshape(flat.shape)
    labels = tuple((run, measure) for run in scores.runs for measure in scores.measures)
    support = np.tile(bounded_measures(scores), len(scores.runs))
    sample = _prepare(chosen, labels, scores.values.shape[1:], flat, other, support)
    clusters = None if scores.design is None else Clusters.of(scores.design)
    return sample if clusters is None else replace(sample, clusters=clusters)


def _array_sample(scores: Any, statistic: Statistic | WeightedStatistic) -> TopicSample:
    array = as_reals(
        "scores", scores, "anything that as_scores takes, or an array, topics × columns"
    )
    if array.ndim == 0 or array.size == 0:
        raise FormatError(f"scores have shape {array.shape}; expected topics, or topics × columns")
    flat = array.reshape(len(array), -1)
    labels = tuple((f"column {i + 1}", "score") for i in range(flat.shape[1]))
    # An unknown measure: bounded if all of its scores are, as in a table.
    bounded = bool(lie_in_unit_interval(flat).all())
    flat = np.clip(flat, 0.0, 1.0) if bounded else flat
    support = np.full(flat.shape[1], bounded)
    return _prepare(statistic, labels, array.shape[1:], flat, flat, support)


def _prepare(
    statistic: Statistic | WeightedStatistic,
    labels: tuple[tuple[str, str], ...],
    shape: tuple[int, ...],
    scores: Floats,
    reference: Floats,
    support: Booleans,
) -> TopicSample:
    if np.isinf(scores).any() or np.isinf(reference).any():
        raise FormatError("a score is infinite; expected finite numbers, NaN where missing")
    if not isinstance(statistic, Statistic):
        if np.isnan(scores).any():
            raise InvalidValueError("a statistic given as a function takes no missing scores")
        return TopicSample(labels, shape, (scores,), statistic, np.zeros_like(support))
    variables = statistic.variables(scores, reference)
    missing = np.isnan(scores) | np.isnan(reference)
    values = tuple(np.where(missing, np.nan, variable) for variable in variables)
    return TopicSample(labels, shape, values, statistic, support & statistic.bounded)
