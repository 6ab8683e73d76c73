"""Scores by human judgements of some topics, and by a model's judgements of all.

n topics are judged by people and by the model, N further ones by the model alone. With scores y by
people and f by the model, the mean is ``mean_n(y - λ(f - mean_N f))`` ([Angelopoulos2023], PPI++), each
topic's λ from the other topics: consistent for the mean by people whatever the model is worth, and the
more precise the better it is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import field, fields, replace
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Floats, Integers
from confir.data.result import result
from confir.data.sampling.design import Datasets, Design, DesignSource, as_design
from confir.data.scores import Scores
from confir.defaults import LEVEL
from confir.errors import InvalidValueError, TopicMismatchError, counted

RANDOM_TOPICS, RANDOM_DOCUMENTS = "random-topics", "random-documents"
ALL_TOPICS, CHOSEN = "all", "chosen"
# How the human-judged topics were sampled: only a random sample speaks for the others.
HUMAN_SAMPLES = (RANDOM_TOPICS, RANDOM_DOCUMENTS, ALL_TOPICS, CHOSEN)

# The residual of two estimated numbers, mean and weight, needs as many topics to vary.
LEAST_HUMAN_TOPICS = 3

# A variance below this is rounding error.
_ROUNDING = 1e-13

# With fewer topics, the others say too little of the weight.
_LEAST_TO_LEAVE_OUT = 4

# Whatever the model, an interval of the default level is at most this many times as wide as that by
# people alone.
_WIDEST = 1.05


class CorrectedMoments(NamedTuple):
    """What follows from the moments of scores by people and by a model: arrays of one shape."""

    mean: Floats
    weight: Floats
    se: Floats
    df: Floats


class Judged(NamedTuple):
    """Scores by people and by a model: topics × any columns.

    Attributes
    ----------
    human, model
        On the n topics that people judged, by people and by the model.
    rest
        On the N topics that only the model judged.
    """

    human: Floats
    model: Floats
    rest: Floats

    def columns(self, columns: Any) -> Judged:
        """Return some columns."""
        return Judged(*(np.ascontiguousarray(part[:, columns]) for part in self))

    def apart(self, plus: Integers, minus: Integers) -> Judged:
        """Return the differences between columns."""
        return Judged(*(np.ascontiguousarray(part[:, plus] - part[:, minus]) for part in self))

    def flat(self) -> Judged:
        """Return all columns along one axis."""
        columns = math.prod(self.human.shape[1:])
        return Judged(*(part.reshape(len(part), columns) for part in self))

    def corrected(self) -> CorrectedMoments:
        """Return the corrected means, the weights of the model, and standard errors.

        A weight from the topics that it corrects biases the mean by O(1/n): each topic has that of the
        others. Such means vary more, where scores are skewed: the standard error is at least that of
        the topics so corrected. Where the weight of all topics is 0, the mean is people's.
        """
        n, more = len(self.human), len(self.rest)
        if n < _LEAST_TO_LEAVE_OUT or not more:
            return self.with_one_weight()
        y, f, g = (centre(part) for part in self)
        moments, gap = self._moments(y, f, g)
        squares = n * moments[1], more * moments[2]
        weights = left_out_weights((n, more), (y.apart, f.apart), moments[3], *squares, gap)
        each = y.apart - weights * (f.apart - gap)
        found = correct_moments((n, more), *moments, gap, each.var(axis=0, ddof=1) / n)
        mean = np.where(found.weight > 0, each.mean(axis=0), 0.0)
        return found._replace(mean=y.mean + mean)

    def with_one_weight(self) -> CorrectedMoments:
        """Return what `corrected` does with the weight of all topics alone (PPI++ as published)."""
        y, f, g = (centre(part) for part in self)
        moments, gap = self._moments(y, f, g)
        found = correct_moments((len(self.human), len(self.rest)), *moments, gap)
        return found._replace(mean=y.mean + found.mean)

    def _moments(
        self, y: Centred, f: Centred, g: Centred
    ) -> tuple[tuple[Floats, Floats, Floats, Floats], Floats]:
        """Return variances by people and by the model on both parts, covariance, and the gap."""
        moments = (
            np.square(y.apart).mean(axis=0),
            np.square(f.apart).mean(axis=0),
            np.square(g.apart).sum(axis=0) / max(len(self.rest), 1),
            (y.apart * f.apart).mean(axis=0),
        )
        return moments, g.mean - f.mean if len(self.rest) else np.zeros(y.mean.shape)


class Centred(NamedTuple):
    """Scores apart from their mean, and the mean; 0 where there is no topic."""

    apart: Floats
    mean: Floats


def centre(values: Floats) -> Centred:
    """Return scores apart from their mean over topics."""
    mean: Floats = values.sum(axis=0) / max(len(values), 1)
    return Centred(values - mean, mean)


def correct_moments(
    topics: tuple[int, int],
    variance_y: Floats,
    variance_f: Floats,
    variance_g: Floats,
    covariance: Floats,
    gap: Floats,
    left_out: Floats | float = 0.0,
) -> CorrectedMoments:
    """Return the correction of the mean by people, the model's weight λ, and the standard error.

    ``λ = cov(y, f) / ((1 + n/N) var f)``, clipped to [0, 1], var f over all n + N topics;
    ``Var = λ² var f/N + (1 + gap²/s²_f) s²_{y-λf}/n`` ([Angelopoulos2023] §6) with n - 2 degrees of
    freedom: as λ is estimated, too, it varies, and the gap with it (Cochran 1977, §7.4); s²_f over the
    n. With λ = 0 it is the variance by people, with n - 1. So it is, times 1.05², where an interval
    would be wider than that: few topics can make a useless model look like one that does harm.

    Parameters
    ----------
    topics
        n and N.
    variance_y, variance_f, variance_g, covariance
        Of scores by people and by the model on the n topics, and by the model on the N: ddof 0.
    gap
        Mean by the model on the N topics minus that on the n.
    left_out
        Variance of the mean of topics that are each corrected with the weight of the others; the last
        term of Var is at least as large.
    """
    n, more = topics
    pooled = _joint_squares(topics, n * variance_f, more * variance_g, gap) / (n + more - 1.0)
    constant = pooled <= _ROUNDING
    slope = more / (n + more) * covariance / np.where(constant, 1.0, pooled)
    weight = np.where(constant, 0.0, np.clip(slope, 0.0, 1.0))
    rest = variance_y - 2.0 * weight * covariance + np.square(weight) * variance_f
    rest = np.where(rest <= _ROUNDING * variance_y, 0.0, rest) / (n - 2.0)
    spread = n / (n - 1.0) * variance_f
    varied = np.square(gap) / np.where(spread > _ROUNDING, spread, np.inf)
    by_both = np.square(weight) * pooled / max(more, 1)
    by_both = by_both + np.maximum((1.0 + varied) * rest, left_out)
    alone = variance_y / (n - 1.0)
    widest = np.where(weight > 0, _WIDEST**2, 1.0) * alone
    narrow = (weight > 0) & (by_both <= widest * _quantile_ratio(n) ** 2)
    variance, df = np.where(narrow, by_both, widest), np.where(narrow, n - 2.0, n - 1.0)
    return CorrectedMoments(weight * gap, weight, np.sqrt(variance), df)


def left_out_weights(
    topics: tuple[int, int],
    apart: tuple[Floats, Floats],
    covariance: Floats,
    squares_f: Floats,
    squares_g: Floats,
    gap: Floats,
) -> Floats:
    """Return the weight λ that the other topics suggest, for each of the n: topics × ….

    What one topic adds to sums of products and of squares about a mean is taken away from them.

    Parameters
    ----------
    topics
        n and N.
    apart
        Scores by people and by the model on the n topics, less their means: topics × ….
    covariance
        Of the two: ddof 0.
    squares_f, squares_g
        Sums of squares of the model's scores about their means, on the n topics and on the N.
    gap
        Mean by the model on the N topics minus that on the n.
    """
    n, more = topics
    every = n + more
    y, f = apart
    products = n * covariance - n / (n - 1.0) * (y * f)
    joint = _joint_squares(topics, squares_f, squares_g, gap)
    squares = joint - every / (every - 1.0) * np.square(f - more / every * gap)
    constant = squares <= _ROUNDING * np.maximum(joint, every)
    slope = products / (n - 1.0) / (np.where(constant, 1.0, squares) / (every - 2.0))
    return np.where(constant, 0.0, np.clip(more / (every - 1.0) * slope, 0.0, 1.0))


def _joint_squares(
    topics: tuple[int, int], squares_f: Floats, squares_g: Floats, gap: Floats
) -> Floats:
    """Return the sum of squares of the model's scores about their mean over all n + N topics."""
    n, more = topics
    joint: Floats = squares_f + squares_g + n * more / (n + more) * np.square(gap)
    return joint


@cache
def _quantile_ratio(topics: int) -> float:
    """Return Student's quantile with n - 1 degrees of freedom relative to that with n - 2."""
    from scipy.special import stdtrit

    more, fewer = stdtrit([topics - 1.0, topics - 2.0], (1.0 + LEVEL) / 2.0).tolist()
    return float(more / fewer)


@result
class JudgedScores(Scores):
    """Scores by people on some topics, and by a model on these and others.

    As `Scores`, it is people's; means are those by people, estimated from both (PPI++).

    Attributes
    ----------
    model
        Scores of the same runs by the model's judgements, on all topics.
    human_sample
        How the human-judged topics were sampled.
    """

    corrected: ClassVar[bool] = True
    by_one_judge: ClassVar[bool] = False

    model: Scores = field(kw_only=True)
    human_sample: str = field(kw_only=True, default=RANDOM_TOPICS)

    def __post_init__(self) -> None:
        Scores.__post_init__(self)
        if (self.runs, self.measures) != (self.model.runs, self.model.measures):
            raise InvalidValueError(
                "people's and the model's scores are of different runs or measures; expected the "
                "same, in the same order"
            )
        if np.isnan(self.values).any() or np.isnan(self.model.values).any():
            raise InvalidValueError(
                "a run lacks topics; corrected means need all of them: expected missing topics to "
                "score 0 (--missing zero)"
            )

    @property
    def human(self) -> Scores:
        """People's scores alone."""
        return Scores(**self.plain())

    @property
    def model_topics(self) -> int:
        """Number of topics that only the model judged."""
        return len(self.model.topics) - len(self.topics)

    @property
    def all_topics(self) -> tuple[str, ...]:
        """Topics that people or the model judged."""
        return self.model.topics

    def on_topics(self, topics: Collection[str]) -> Self:
        """Return the scores by people and by the model on some topics."""
        wanted = set(topics)
        kept = [topic for topic in self.topics if topic in wanted]
        design = as_design(self.design, kept, {})
        model = self.model.on_topics(wanted)
        part = replace(self, design=None).select(topic=kept)
        return replace(part, design=design, model=model)

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets that the model's topics are of."""
        return self.model.datasets

    @property
    def dataset_design(self) -> Design:
        """How the model's topics of several datasets were drawn; raises where there are no datasets."""
        return self.model.dataset_design

    def on_dataset(self, name: str) -> Self:
        """Return the scores by people and by the model on one dataset; raise where people judged too few."""
        model = self.model.on_dataset(name)
        part = self.on_topics(model.topics)
        if len(part.topics) < LEAST_HUMAN_TOPICS:
            raise TopicMismatchError(
                f"people judged {counted(len(part.topics), 'topic')} of dataset {name!r}; expected "
                f"{LEAST_HUMAN_TOPICS} or more of each dataset, whose correction is its own"
            )
        return replace(part, design=as_design(model.design, part.topics, {}), model=model)

    def with_design(
        self, design: DesignSource, *, datasets: Datasets = "fixed", **columns: str | None
    ) -> Self:
        """Return the scores with a design of the topics of both judges, as in `Scores`."""
        human, model = (
            part.with_design(design, datasets=datasets, **columns)
            for part in (self.human, self.model)
        )
        return replace(self, design=human.design, model=model)

    def with_repeats(self, pattern: str | None = None) -> Any:
        """Return the scores of systems by both judges, whose repeats the runs are, as in `Scores`."""
        from confir.data.sampling.judged_repeats import group_judged_repeats

        return group_judged_repeats(self, pattern)

    def with_datasets(self, datasets: Datasets) -> Self:
        """Return the scores with the datasets of both judges fixed, or a sample."""
        return self.with_design(replace(self.dataset_design, datasets=datasets))

    def in_id_order(self) -> Self:
        """Return the scores with the topics of both judges in bytewise order of the ids."""
        model = self.model.in_id_order()
        moved = self if model is self.model else replace(self, model=model)
        return Scores.in_id_order(moved)

    def pair_means(self, first: int, second: int) -> Floats | None:
        """Return nothing: each difference has a weight of the model of its own."""
        del first, second
        return None

    def difference_spread(
        self, first: Integers, second: Integers, difference: Floats, se: Floats, topics: Integers
    ) -> Floats:
        """Return the standard deviation of differences over the topics that people judged."""
        if self.design is not None:
            return Scores.difference_spread(self, first, second, difference, se, topics)
        apart = self.values[:, second] - self.values[:, first]
        return np.where(np.isnan(se), np.nan, apart.std(axis=0, ddof=1))

    def judged(self) -> Judged:
        """Return the scores of both: topics × runs × measures."""
        places = {topic: place for place, topic in enumerate(self.model.topics)}
        both = np.array([places[topic] for topic in self.topics])
        rest = np.setdiff1d(np.arange(len(places)), both)
        return Judged(self.values, self.model.values[both], self.model.values[rest])

    def mean(self) -> Floats:
        """Return the means by people, estimated from both, on each dataset by itself: runs × measures."""
        if self.datasets:
            means = [self.on_dataset(name).mean() for name in self.datasets]
            return np.asarray(np.mean(means, axis=0))
        return self.judged().corrected().mean

    def rescaled(
        self, moves: Mapping[str, tuple[float, float]], measures: tuple[str, ...]
    ) -> JudgedScores:
        """Return the scores of both judges on a scale of each dataset, as in `Scores`."""
        human, model = (Scores.rescaled(one, moves, measures) for one in (self.human, self.model))
        kept = {one.name: getattr(human, one.name) for one in fields(human)}
        return JudgedScores(**kept, model=model, human_sample=self.human_sample)


# As `over` declares fields, for one that follows fields with defaults.
_BY_TOPIC = {"over": ("topic", "run", "measure"), "column": "variance", "flat": False}

_BY_PAIR = {"over": ("", "run", "run", "measure"), "column": "covariance", "flat": False}


@result
class SampledScores(Scores):
    """Scores by people's judgements of documents drawn at random, and a model's of all.

    They are estimates of the scores by people, and may leave [0, 1].

    Attributes
    ----------
    document_variance
        Variance of each score over the documents that could have been drawn: in closed form for P and
        RBP, by replicates of the draw for R, AP and nDCG.
    human_documents, model_documents
        Documents that people judged, of those that the model judged.
    draw_replicates
        Replicates of the draw; 0 where no score needed them.
    draw_rates, draw_documents
        Factors of all probabilities of being drawn (1 at most each), ascending, the second 1; and how
        many documents of a topic people would judge.
    draw_covariance
        Covariance of the runs' scores of a topic over draws, at each rate, its mean over topics.
    """

    by_one_judge: ClassVar[bool] = False
    in_range: ClassVar[bool] = False

    document_variance: Floats = field(kw_only=True, metadata=_BY_TOPIC)
    human_documents: int = field(kw_only=True)
    model_documents: int = field(kw_only=True)
    draw_replicates: int = field(kw_only=True)
    draw_rates: Floats = field(kw_only=True)
    draw_documents: Floats = field(kw_only=True)
    draw_covariance: Floats = field(kw_only=True, metadata=_BY_PAIR)

    def document_share(self) -> Floats:
        """Return the share of each mean's variance that is due to drawn documents.

        Of a mean over datasets: of its variance over the topics of these datasets.
        """
        parts = [self.on_dataset(name) for name in self.datasets] or [self]
        if min(len(part.topics) for part in parts) < 2:
            return np.full(self.values.shape[1:], np.nan)
        noise, whole = np.zeros((2, *self.values.shape[1:]))
        for part in parts:
            topics = len(part.topics)
            noise += part.document_variance.sum(axis=0) / topics**2
            whole += np.square(part.values.std(axis=0, ddof=1)) / topics
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.minimum(noise / whole, 1.0))

    def sampling_note(self, seed: int | None = None) -> str:
        """Return which documents people judged, and how much their draw adds to the variance."""
        share = self.document_share()
        known = share[np.isfinite(share)]
        part = (
            f"; the draw makes up {100 * known.mean():.0f}% of the variance of means"
            if len(known)
            else ""
        )
        if part and self.draw_replicates:
            by = counted(self.draw_replicates, "replicate")
            part += f" (by {by} of it{'' if seed is None else f', seed {seed}'})"
        return (
            f"by people's judgements of {self.human_documents:,} of "
            f"{counted(self.model_documents, 'document')}, drawn at random, and the model's of "
            f"all{part}"
        )


def as_judged(scores: Scores) -> JudgedScores:
    """Return scores by a model and by people; raise for those of one judge."""
    if not isinstance(scores, JudgedScores):
        raise InvalidValueError(
            "the scores are by one judge; expected those by a model and by people: evaluate(…, human=…)"
        )
    return scores


def as_sampled(scores: Scores) -> SampledScores:
    """Return scores by people's judgements of documents drawn at random; raise for others."""
    if not isinstance(scores, SampledScores):
        raise InvalidValueError(
            "people's judgements are not of documents drawn at random; expected scores of "
            "evaluate(…, human_sample='random-documents')"
        )
    return scores


def check_sample(human_sample: Any) -> str:
    """Return how the human-judged topics were sampled; raise where they are no random sample."""
    as_choice("human_sample", human_sample, HUMAN_SAMPLES, "way to choose human topics")
    if human_sample == CHOSEN:
        raise InvalidValueError(
            "topics that were chosen for human judging say nothing of the others, and nothing "
            f"corrects that; expected topics or documents drawn at random ({RANDOM_TOPICS}, "
            f"{RANDOM_DOCUMENTS})"
        )
    return str(human_sample)
