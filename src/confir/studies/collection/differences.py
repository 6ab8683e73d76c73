"""Would a run be better on another collection, too? And what makes that uncertain?

Differences of runs over resampled documents, alone or with topics ([Cormack2006] §9), and how much
of the variance of a mean or of a difference comes from topics, from documents, and from both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from confir.arguments import as_choice, as_choices, as_flag, as_level, invalid
from confir.arrays import Floats, Integers
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.defaults import LEVEL, LOGIT_EPSILON
from confir.errors import InvalidValueError, UnknownNameError
from confir.intervals.documents import check_epsilon, normal_quantile
from confir.intervals.quantiles import t_quantile
from confir.measures.summary import SUMMARIES
from confir.order import TIE
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.document_replicates import DocumentReplicates, check_sample, transform_of
from confir.resampling.variance_components import spread
from confir.studies.collection.collection import check_bounded, summarise_topics
from confir.studies.comparison.corrections import adjust_p_values
from confir.studies.comparison.significance import Estimates, judge_differences
from confir.studies.comparison.verdicts import Words

Pairing = Literal["paired", "independent"]
PAIRINGS: tuple[Pairing, ...] = ("paired", "independent")


class Variant(NamedTuple):
    """A variant of a difference: what varies, and on which scale.

    Attributes
    ----------
    summary
        What is averaged over topics: "mean" or "logit-mean".
    pairing
        Whether both runs see the same replicates, or each its own.
    with_topics
        Whether topics vary as well as documents.
    """

    summary: str
    pairing: Pairing
    with_topics: bool = False

    @property
    def resampled(self) -> str:
        """What varies, in words."""
        return "topics and documents" if self.with_topics else "documents"

    @property
    def test(self) -> str:
        """The distribution that p-values and limits come from."""
        return "t" if self.with_topics else "normal"


VARIANTS = (
    Variant("mean", "paired"),
    Variant("mean", "independent"),
    Variant("logit-mean", "paired"),
    Variant("logit-mean", "independent"),
    Variant("logit-mean", "paired", with_topics=True),
)


@result
class CollectionDifferences(Result):
    """Differences from a baseline over collections: arrays are variants × runs × measures.

    Attributes
    ----------
    runs, baseline, measures, variants
        The runs compared, the one they are compared with, the measures, the ways to look.
    difference, low, high
        Difference of means over topics, and its interval.
    p, p_adjusted
        Two-sided p-value, normal or by Student's t, and that corrected by Holm for all runs.
    verdict
        better, worse or inconclusive.
    effect_size
        Mean over standard deviation of the topics' differences: variants × runs × measures.
    wins, ties, losses
        Topics on which the run's score is higher, the same, lower: runs × measures.
    level, replicates
        Confidence level and number of replicates.
    """

    runs: tuple[str, ...] = axis("run")
    baseline: str = constant()
    measures: tuple[str, ...] = axis("measure")
    variants: tuple[Variant, ...] = axis("variant")
    difference: Floats = over("variant", "run", "measure")
    low: Floats = over("variant", "run", "measure")
    high: Floats = over("variant", "run", "measure")
    p: Floats = over("variant", "run", "measure")
    p_adjusted: Floats = over("variant", "run", "measure")
    verdict: Words = over("variant", "run", "measure")
    effect_size: Floats = over("variant", "run", "measure")
    wins: Integers = over("run", "measure")
    ties: Integers = over("run", "measure")
    losses: Integers = over("run", "measure")
    level: float = constant()
    replicates: int

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {"variant": Variant._fields}
    row_order = ("measure", "run", "variant")
    record_columns = (
        "measure",
        "baseline",
        "run",
        "summary",
        "difference",
        "low",
        "high",
        "level",
        "method",
        "p",
        "p_adjusted",
        "test",
        "effect_size",
        "wins",
        "ties",
        "losses",
        "verdict",
        "pairing",
        "resampled",
    )

    def derived(self) -> Iterator[Variable]:
        """Yield the method, the test, and what is resampled."""
        yield Variable("method", (), "linear")
        yield Variable("test", ("variant",), [variant.test for variant in self.variants])
        yield Variable("resampled", ("variant",), [variant.resampled for variant in self.variants])


def compare_on_collection(
    sample: DocumentReplicates,
    baseline: str,
    *,
    level: float = LEVEL,
    variants: Sequence[Variant] = VARIANTS,
    epsilon: float = LOGIT_EPSILON,
) -> CollectionDifferences:
    """Return each run's difference from the baseline, with its interval over collections.

    Parameters
    ----------
    sample
        What `resample_documents` returns.
    baseline
        The run that all others are compared with.
    level
        Confidence level.
    variants
        Ways to look at a difference; the interval is d ± z·σ, σ from the replicates of d itself
        (paired), or √(σ_x² + σ_y²) (independent). Where topics vary too, σ² is the total of the
        components of variance, and t takes the place of z.
    epsilon
        How far logits keep from 0 and 1.
    """
    check_sample(sample)
    sample.run_place(baseline)
    level = as_level(level)
    check_epsilon(epsilon)
    check_bounded(sample)
    _check_variants(variants)
    parts = [
        _difference(sample, measure, baseline, variant, epsilon)
        for variant in variants
        for measure in sample.measures
    ]
    shape = (len(variants), len(sample.measures), -1)
    d, sd, df, effect = np.array(parts).transpose(1, 0, 2).reshape(4, *shape)
    half = t_quantile(df, level) * sd
    p = _two_sided_p(d, sd, df)
    adjusted = adjust_p_values(p.reshape(-1, p.shape[2]).T, "holm").T.reshape(p.shape)
    wins, ties, losses = _count_topics(sample, baseline)
    runs = tuple(run for run in sample.runs if run != baseline)
    return CollectionDifferences(
        runs=runs,
        baseline=baseline,
        measures=sample.measures,
        variants=tuple(variants),
        difference=d.swapaxes(1, 2),
        low=(d - half).swapaxes(1, 2),
        high=(d + half).swapaxes(1, 2),
        p=p.swapaxes(1, 2),
        p_adjusted=adjusted.swapaxes(1, 2),
        verdict=_judge(d, half, adjusted, level).swapaxes(1, 2),
        effect_size=effect.swapaxes(1, 2),
        wins=wins.T,
        ties=ties.T,
        losses=losses.T,
        level=level,
        replicates=sample.replicates,
    )


def _check_variants(variants: Sequence[Variant]) -> None:
    """Raise where a variant is unknown or given twice."""
    expected = "one Variant or more"
    if not isinstance(variants, list | tuple) or not variants:
        raise invalid("variants", variants, expected)
    for variant in variants:
        if not isinstance(variant, Variant):
            raise invalid("variants", variants, expected)
        as_choice("the summary of variants", variant.summary, SUMMARIES)
        as_choice("the pairing of variants", variant.pairing, PAIRINGS)
        as_flag("with_topics of variants", variant.with_topics)


def _difference(
    sample: DocumentReplicates, measure: str, baseline: str, variant: Variant, epsilon: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return differences of runs, their standard deviations and its df, and effect sizes."""
    paired = sample.difference_distribution(
        measure, baseline, variant.summary, with_topics=variant.with_topics, epsilon=epsilon
    )
    sd, df = paired.require("se"), paired.df
    if variant.pairing == "independent":
        alone = sample.summary_distribution(
            measure, variant.summary, with_topics=variant.with_topics, epsilon=epsilon
        )
        sd, df = _independent(alone, sample.run_place(baseline))
    by_topic = _topic_differences(sample, measure, baseline, variant.summary, epsilon)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(spread(by_topic) > 0, paired.estimate / spread(by_topic), np.nan)
    return paired.estimate, sd, df, effect


def _independent(alone: SamplingDistribution, baseline: int) -> tuple[Floats, Floats]:
    """Return √(σ_x² + σ_y²), and its degrees of freedom by Welch and Satterthwaite."""
    variance = np.square(alone.require("se"))
    uncertainty = np.square(variance) / alone.df
    total, doubt = (np.delete(x, baseline) + x[baseline] for x in (variance, uncertainty))
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(doubt == 0, np.inf, np.square(total) / doubt)
    return np.sqrt(total), df


def _topic_differences(
    sample: DocumentReplicates, measure: str, baseline: str, summary: str, epsilon: float
) -> Floats:
    """Return the differences of transformed scores: other runs × topics."""
    score = transform_of(summary, epsilon)(sample.estimates(sample.measure_place(measure)))
    other = sample.run_place(baseline)
    differences: Floats = np.delete(score, other, axis=0) - score[other]
    return differences


def _judge(difference: Floats, half: Floats, p_adjusted: Floats, level: float) -> Words:
    """Return the verdicts on differences with symmetric intervals."""
    constant = np.zeros(difference.shape, np.bool_)
    estimates = Estimates(difference, difference - half, difference + half, constant)
    return judge_differences(estimates, np.sign(difference), p_adjusted, level)


def _two_sided_p(difference: Floats, sd: Floats, df: Floats) -> Floats:
    """Return two-sided p-values; NaN for a difference that does not vary, unless it is 0."""
    from scipy.special import ndtr, stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = -np.abs(difference) / sd
    tail = np.where(np.isinf(df), ndtr(statistic), stdtr(df, statistic))
    p: Floats = 2.0 * tail
    return np.where(sd == 0, np.where(difference == 0, 1.0, np.nan), p)


def _count_topics(sample: DocumentReplicates, baseline: str) -> tuple[Integers, Integers, Integers]:
    """Return topics won, tied and lost by each measure and run."""
    gaps = np.stack(
        [_topic_differences(sample, m, baseline, "mean", LOGIT_EPSILON) for m in sample.measures]
    )
    return (
        (gaps > TIE).sum(axis=2),
        (np.abs(gaps) <= TIE).sum(axis=2),
        (gaps < -TIE).sum(axis=2),
    )


@result
class CollectionTopicDifferences(Result):
    """Differences on every topic over collections: arrays are variants × topics × runs × measures.

    Attributes
    ----------
    runs, baseline, topics, measures, variants
        Names; the variants' summary says whether scores or their logits are subtracted.
    difference, sd
        The difference and its standard deviation, NaN or 0 where the bootstrap shows none.
    low, high
        Its interval; NaN where nothing varies.
    verdict
        better, worse or inconclusive, for each topic by itself.
    level
        Confidence level.
    """

    runs: tuple[str, ...] = axis("run")
    baseline: str = constant()
    topics: tuple[str, ...] = axis("topic")
    measures: tuple[str, ...] = axis("measure")
    variants: tuple[Variant, ...] = axis("variant")
    difference: Floats = over("variant", "topic", "run", "measure")
    sd: Floats = over("variant", "topic", "run", "measure")
    low: Floats = over("variant", "topic", "run", "measure")
    high: Floats = over("variant", "topic", "run", "measure")
    verdict: Words = over("variant", "topic", "run", "measure")
    level: float = constant()

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {"variant": Variant._fields}
    row_order = ("measure", "run", "topic", "variant")
    record_columns = (
        "measure",
        "baseline",
        "run",
        "topic",
        "scale",
        "difference",
        "low",
        "high",
        "level",
        "verdict",
        "pairing",
    )

    def derived(self) -> Iterator[Variable]:
        """Yield the scale on which scores are subtracted."""
        logits = [variant.summary == "logit-mean" for variant in self.variants]
        yield Variable("scale", ("variant",), np.where(logits, "logit", "score"))

    def rows(self) -> Integers:
        """Return the rows of the differences that are there."""
        return np.flatnonzero(~np.isnan(self.difference.transpose(3, 2, 1, 0)))


def compare_topics_on_collection(
    sample: DocumentReplicates,
    baseline: str,
    *,
    level: float = LEVEL,
    variants: Sequence[Variant] = VARIANTS[:4],
    epsilon: float = LOGIT_EPSILON,
) -> CollectionTopicDifferences:
    """Return each topic's difference from the baseline, with its interval over collections.

    Independent differences of logits take the topics' small-R corrected spreads; parameters are
    those of `compare_on_collection`.
    """
    level = as_level(level)
    check_epsilon(epsilon)
    check_bounded(sample)
    if any(variant.with_topics for variant in variants):
        raise InvalidValueError("a single topic's difference cannot draw topics; leave that out")
    shape = (len(variants), len(sample.measures), len(sample.runs) - 1, len(sample.topics))
    d, sd = np.empty((2, *shape))
    other = sample.run_place(baseline)
    corrected = summarise_topics(sample, level=level, epsilon=epsilon).logit_sd.T
    for v, (summary, pairing, _) in enumerate(variants):
        forward = transform_of(summary, epsilon)
        for m, measure in enumerate(sample.measures):
            d[v, m] = _topic_differences(sample, measure, baseline, summary, epsilon)
            if pairing == "paired":
                values = forward(sample.values[m])
                sd[v, m] = spread(np.delete(values, other, axis=0) - values[other])
            else:
                alone = corrected[m] if summary == "logit-mean" else spread(sample.values[m])
                sd[v, m] = np.hypot(np.delete(alone, other, axis=0), alone[other])
    half = np.where(sd > 0, normal_quantile(level) * sd, np.nan)
    return CollectionTopicDifferences(
        runs=tuple(run for run in sample.runs if run != baseline),
        baseline=baseline,
        topics=sample.topics,
        measures=sample.measures,
        variants=tuple(variants),
        difference=d.transpose(0, 3, 2, 1),
        sd=sd.transpose(0, 3, 2, 1),
        low=(d - half).transpose(0, 3, 2, 1),
        high=(d + half).transpose(0, 3, 2, 1),
        verdict=_judge(d, half, _two_sided_p(d, sd, np.full(d.shape, np.inf)), level).transpose(
            0, 3, 2, 1
        ),
        level=level,
    )


@result
class CollectionVariance(Result):
    """Where the variance of means comes from: arrays are runs × measures × summaries.

    Attributes
    ----------
    runs, measures, summaries
        Names.
    baseline
        The run that differences are from; None for the means themselves.
    topics, documents, interaction
        Components of variance: some topics are easier than others; a collection changes all scores
        alike; a collection suits some topics.
    replicates
        Number of replicates.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    summaries: tuple[str, ...] = axis("summary")
    baseline: str | None = constant()
    topics: Floats = over("run", "measure", "summary")
    documents: Floats = over("run", "measure", "summary")
    interaction: Floats = over("run", "measure", "summary")
    replicates: int

    record_columns = (
        "run",
        "baseline",
        "measure",
        "summary",
        "topics",
        "documents",
        "interaction",
        "total",
    )

    @property
    def total(self) -> Floats:
        """The sum of the components: the variance over new topics and a new collection."""
        return self.topics + self.documents + self.interaction

    def derived(self) -> Iterator[Variable]:
        """Yield the sum of the components."""
        yield Variable("total", ("run", "measure", "summary"), self.total)


def decompose_variance(
    sample: DocumentReplicates,
    *,
    baseline: str | None = None,
    summaries: Sequence[str] = ("mean", "logit-mean"),
    epsilon: float = LOGIT_EPSILON,
) -> CollectionVariance:
    """Return how much of the variance of means comes from topics, documents, and interaction.

    Parameters
    ----------
    sample
        What `resample_documents` returns.
    baseline
        A run to decompose differences from; by default the means themselves.
    summaries
        Names in SUMMARIES.
    epsilon
        How far logits keep from 0 and 1.
    """
    check_sample(sample)
    check_epsilon(epsilon)
    check_bounded(sample)
    summaries = as_choices("summaries", summaries, SUMMARIES, "summary")
    if len(sample.topics) < 2:
        raise InvalidValueError("there is one topic; a variance over topics needs at least 2")
    parts = [
        sample.variance_components(measure, summary, baseline=baseline, epsilon=epsilon)
        for summary in summaries
        for measure in sample.measures
    ]

    def stack(name: str) -> Floats:
        shape = (len(summaries), len(sample.measures), -1)
        return np.stack([getattr(part, name) for part in parts]).reshape(shape).T

    return CollectionVariance(
        runs=tuple(run for run in sample.runs if run != baseline),
        measures=sample.measures,
        summaries=tuple(summaries),
        baseline=baseline,
        topics=stack("topics"),
        documents=stack("documents"),
        interaction=stack("interaction"),
        replicates=sample.replicates,
    )


def variants_for(pairing: str) -> tuple[Variant, ...]:
    """Return the ways to look at a difference that pair runs as named: one way, or "both"."""
    if pairing not in (*PAIRINGS, "both"):
        raise UnknownNameError("pairing", pairing, (*PAIRINGS, "both"))
    return tuple(v for v in VARIANTS if pairing in (v.pairing, "both"))
