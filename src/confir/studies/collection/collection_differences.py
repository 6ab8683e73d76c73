"""Differences between runs over similar collections ([Cormack2006] §9).

Differences of means, with documents resampled, or topics and documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from confir.arguments import as_choice, as_flag, as_level, invalid
from confir.arrays import Booleans, Floats, Integers
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.defaults import LEVEL, LOGIT_EPSILON
from confir.errors import UnknownNameError
from confir.intervals.quantiles import t_quantile
from confir.measures.summary import SUMMARIES
from confir.order import TIE
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.document_replicates import DocumentReplicates, transform_of
from confir.resampling.variance_components import spread
from confir.studies.collection.collection_topics import check_request
from confir.studies.comparison.families import adjust_p_values
from confir.studies.comparison.verdicts import IDENTICAL, Estimates, Words, judge_differences

Pairing = Literal["paired", "independent"]
PAIRINGS: tuple[Pairing, ...] = ("paired", "independent")


class Variant(NamedTuple):
    """How a difference is computed: what varies, and on which scale.

    Attributes
    ----------
    summary
        What is averaged over topics: "mean" or "logit-mean".
    pairing
        Whether both runs are evaluated on the same replicates or on independent ones.
    with_topics
        Whether topics vary as well as documents.
    """

    summary: str
    pairing: Pairing
    with_topics: bool = False

    @property
    def resampled(self) -> str:
        """What is resampled, as text."""
        return "topics and documents" if self.with_topics else "documents"

    @property
    def test(self) -> str:
        """The reference distribution of p-values and limits."""
        return "t" if self.with_topics else "normal"


VARIANTS = (
    Variant("mean", "paired"),
    Variant("mean", "independent"),
    Variant("logit-mean", "paired"),
    Variant("logit-mean", "independent"),
    Variant("logit-mean", "paired", with_topics=True),
)


def variants_for(pairing: str) -> tuple[Variant, ...]:
    """Return the variants with the given pairing, or with "both"."""
    if pairing not in (*PAIRINGS, "both"):
        raise UnknownNameError("pairing", pairing, (*PAIRINGS, "both"))
    return tuple(v for v in VARIANTS if pairing in (v.pairing, "both"))


@result
class CollectionDifferences(Result):
    """Differences from a baseline, over collections: arrays are variants × runs × measures.

    Attributes
    ----------
    runs, baseline, measures, variants
        The runs compared, their baseline, the measures, and the variants of the difference.
    difference, low, high
        Difference of means over topics, and its interval.
    p, p_adjusted
        Two-sided p-value, normal or by Student's t, and adjusted by Holm's method for all runs but
        identical ones.
    verdict
        better, worse, identical or inconclusive.
    effect_size
        Mean over standard deviation of the topics' differences: variants × runs × measures.
    wins, ties, losses
        Topics on which the run's score is higher, the same, lower: runs × measures.
    level, replicates
        Confidence level and number of replicates.
    """

    runs: tuple[str, ...] = axis("run")
    baseline: str = constant(column="against")
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
        "run",
        "against",
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
        How to compute the difference. The interval is d ± z·σ, with σ from the replicates of d
        (paired) or √(σ_x² + σ_y²) (independent). If topics vary as well, σ² is the sum of the
        variance components, and t replaces z.
    epsilon
        Distance from 0 and 1 to which scores are clipped before the logit.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> drawn = confir.resample_documents(sample.qrels, sample.runs[2:4], "AP", replicates=50)
    >>> confir.compare_on_collection(drawn, "dense")
    CollectionDifferences(run: 1, measure: 1, variant: 5, baseline='dense', level=0.95)
    """
    check_request(sample, epsilon)
    sample.run_place(baseline)
    level = as_level(level)
    _check_variants(variants)
    parts = [
        _difference(sample, measure, baseline, variant, epsilon)
        for variant in variants
        for measure in sample.measures
    ]
    shape = (len(variants), len(sample.measures), -1)
    d, sd, df, effect = np.array(parts).transpose(1, 0, 2).reshape(4, *shape)
    half = t_quantile(df, level) * sd
    p = two_sided_p(d, sd, df)
    identical = np.broadcast_to(identical_runs(sample, baseline), p.shape)
    tested = np.where(identical, np.nan, p).reshape(-1, p.shape[2])
    adjusted = np.where(identical, p, adjust_p_values(tested.T, "holm").T.reshape(p.shape))
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
        verdict=judge(d, half, adjusted, level, identical).swapaxes(1, 2),
        effect_size=effect.swapaxes(1, 2),
        wins=wins.T,
        ties=ties.T,
        losses=losses.T,
        level=level,
        replicates=sample.replicates,
    )


def _check_variants(variants: Sequence[Variant]) -> None:
    """Raise if a variant is invalid."""
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
    """Return differences, their standard deviations, degrees of freedom, and effect sizes."""
    paired = sample.difference_distribution(
        measure, baseline, variant.summary, with_topics=variant.with_topics, epsilon=epsilon
    )
    sd, df = paired.require("se"), paired.df
    if variant.pairing == "independent":
        alone = sample.summary_distribution(
            measure, variant.summary, with_topics=variant.with_topics, epsilon=epsilon
        )
        sd, df = _independent(alone, sample.run_place(baseline))
    by_topic = topic_differences(sample, measure, baseline, variant.summary, epsilon)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(spread(by_topic) > 0, paired.estimate / spread(by_topic), np.nan)
    return paired.estimate, sd, df, effect


def _independent(alone: SamplingDistribution, baseline: int) -> tuple[Floats, Floats]:
    """Return √(σ_x² + σ_y²), and its degrees of freedom by Welch and Satterthwaite."""
    variance = np.square(alone.require("se"))
    uncertainty = np.square(variance) / alone.df
    total, error = (np.delete(x, baseline) + x[baseline] for x in (variance, uncertainty))
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(error == 0, np.inf, np.square(total) / error)
    return np.sqrt(total), df


def topic_differences(
    sample: DocumentReplicates, measure: str, baseline: str, summary: str, epsilon: float
) -> Floats:
    """Return the differences of transformed scores: other runs × topics."""
    score = transform_of(summary, epsilon)(sample.estimates(sample.measure_place(measure)))
    other = sample.run_place(baseline)
    differences: Floats = np.delete(score, other, axis=0) - score[other]
    return differences


def judge(
    difference: Floats, half: Floats, p_adjusted: Floats, level: float, identical: Booleans
) -> Words:
    """Return the verdicts on differences with symmetric intervals."""
    constant = np.zeros(difference.shape, np.bool_)
    estimates = Estimates(difference, difference - half, difference + half, constant)
    verdict = judge_differences(estimates, np.sign(difference), p_adjusted, level)
    return np.where(identical, IDENTICAL, verdict)


def identical_runs(sample: DocumentReplicates, baseline: str) -> Booleans:
    """Return which runs score as the baseline on every replicate: measures × other runs."""
    other = sample.run_place(baseline)
    rest = [run for run in range(len(sample.runs)) if run != other]
    return np.array(
        [
            [np.array_equal(values[run], values[other], equal_nan=True) for run in rest]
            for values in sample.values
        ]
    )


def two_sided_p(difference: Floats, sd: Floats, df: Floats) -> Floats:
    """Return two-sided p-values; NaN for a constant difference, 1 if it is 0."""
    from scipy.special import ndtr, stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = -np.abs(difference) / sd
    tail = np.where(np.isinf(df), ndtr(statistic), stdtr(df, statistic))
    p: Floats = 2.0 * tail
    return np.where(sd == 0, np.where(difference == 0, 1.0, np.nan), p)


def _count_topics(sample: DocumentReplicates, baseline: str) -> tuple[Integers, Integers, Integers]:
    """Return the number of topics won, tied and lost, by measure and run."""
    gaps = np.stack(
        [topic_differences(sample, m, baseline, "mean", LOGIT_EPSILON) for m in sample.measures]
    )
    return (
        (gaps > TIE).sum(axis=2),
        (np.abs(gaps) <= TIE).sum(axis=2),
        (gaps < -TIE).sum(axis=2),
    )
