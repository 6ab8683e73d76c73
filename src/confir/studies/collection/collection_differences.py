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
from confir.data.table_columns import (
    LIMITS,
    MEASURE_AND_RUN,
    Role,
    TableColumn,
    TableColumns,
)
from confir.defaults import LEVEL, LOGIT_EPSILON
from confir.errors import UnknownNameError, counted
from confir.intervals.quantiles import t_quantile
from confir.intervals.standard_error import check_document_replicates
from confir.number_text import percent, topics_text
from confir.pairs.decisions import (
    BETTER,
    IDENTICAL,
    WORSE,
    Estimates,
    Words,
    judge_differences,
)
from confir.pairs.families import adjust_p_values
from confir.resampling.collection_sample import CollectionSample
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.kinds import against
from confir.resampling.statistics import SUMMARIES
from confir.resampling.variance_components import spread
from confir.studies.collection.collection_means import summary_name

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


# A verdict, bold where it is significant.
VERDICT_COLUMN = TableColumn(Role.VERDICT, bold=lambda record: record["verdict"] in (BETTER, WORSE))


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
        *("measure", "run", "against", "summary", "difference", "low", "high", "level"),
        *("method", "p", "p_adjusted", "test", "effect_size", "wins", "ties", "losses"),
        *("verdict", "pairing", "resampled"),
    )

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        summaries = {one.summary: summary_name(one.summary, self.measures) for one in self.variants}
        return {
            **MEASURE_AND_RUN,
            "summary": TableColumn(Role.NAME, "mean of", words=summaries),
            "resampled": TableColumn(Role.NAME),
            "pairing": TableColumn(Role.NAME, if_several=True),
            "verdict": VERDICT_COLUMN,
            "difference": TableColumn(Role.DIFFERENCE, others=LIMITS),
            "p_adjusted": TableColumn(Role.P, "adj. p"),
            "wins": TableColumn(Role.WINS, "w/t/l", ("ties", "losses")),
        }

    def note(self) -> str:
        """Return what the columns are."""
        pairings = {variant.pairing for variant in self.variants}
        tested = int((self.verdict != IDENTICAL).any(axis=(0, 2)).sum())
        return (
            f"difference of means over {topics_text(self.wins + self.ties + self.losses)} from "
            f"{self.baseline} with {percent(self.level)} interval over collections, runs "
            f"{'both ways' if len(pairings) > 1 else next(iter(pairings))}; p normal, by Student's t "
            f"where topics vary too, adjusted by Holm's correction for {counted(tested, 'run')}"
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
    check_document_replicates(sample, epsilon)
    level = as_level(level)
    _check_variants(variants)
    plain = against(CollectionSample.of(sample), baseline)
    parts = [_difference(sample, baseline, variant, epsilon) for variant in variants]
    d, sd, df, effect = np.array(parts).swapaxes(0, 1).reshape(4, len(variants), *plain.shape)
    half = t_quantile(df, level) * sd
    p = two_sided_p(d, sd, df)
    identical = np.broadcast_to(identical_runs(plain), p.shape)
    holm = [adjust_p_values(one, "holm") for one in np.where(identical, np.nan, p)]
    adjusted = np.where(identical, p, np.stack(holm))
    wins, ties, losses = (count.reshape(plain.shape) for count in plain.wins())
    return CollectionDifferences(
        runs=tuple(run for run in sample.runs if run != baseline),
        baseline=baseline,
        measures=sample.measures,
        variants=tuple(variants),
        difference=d,
        low=d - half,
        high=d + half,
        p=p,
        p_adjusted=adjusted,
        verdict=judge(d, half, adjusted, level, identical),
        effect_size=effect,
        wins=wins,
        ties=ties,
        losses=losses,
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
    drawn: DocumentReplicates, baseline: str, variant: Variant, epsilon: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return differences, their standard deviations, degrees of freedom, and effect sizes."""
    alone = CollectionSample.of(drawn, variant.summary, epsilon)
    apart = against(alone, baseline)
    found = _distribution(apart, variant)
    sd, df = found.require("se"), found.df
    if variant.pairing == "independent":
        place, measures = drawn.run_place(baseline), len(drawn.measures)
        sd, df = _independent(_distribution(alone, variant), place, measures)
    by_topic = spread(apart.scores)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(by_topic > 0, found.estimate / by_topic, np.nan)
    return found.estimate, sd, df, effect


def _distribution(sample: CollectionSample, variant: Variant) -> SamplingDistribution:
    return (
        sample.distribution_with_topics()
        if variant.with_topics
        else sample.distribution(slice(None))
    )


def _independent(
    alone: SamplingDistribution, baseline: int, measures: int
) -> tuple[Floats, Floats]:
    """Return √(σ_x² + σ_y²), and its degrees of freedom by Welch and Satterthwaite."""
    variance = np.square(alone.require("se")).reshape(-1, measures)
    uncertainty = np.square(variance) / alone.df.reshape(-1, measures)
    parts = (variance, uncertainty)
    total, error = ((np.delete(x, baseline, axis=0) + x[baseline]).reshape(-1) for x in parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(error == 0, np.inf, np.square(total) / error)
    return np.sqrt(total), df


def judge(
    difference: Floats, half: Floats, p_adjusted: Floats, level: float, identical: Booleans
) -> Words:
    """Return the verdicts on differences with symmetric intervals."""
    constant = np.zeros(difference.shape, np.bool_)
    estimates = Estimates(difference, difference - half, difference + half, constant)
    verdict = judge_differences(estimates, np.sign(difference), p_adjusted, level)
    return np.where(identical, IDENTICAL, verdict)


def identical_runs(differences: CollectionSample) -> Booleans:
    """Return which runs score as the baseline on every topic and replicate: runs × measures."""
    least, most = differences.extremes()
    identical: Booleans = np.logical_and(least == 0, most == 0).reshape(differences.shape)
    return identical


def two_sided_p(difference: Floats, sd: Floats, df: Floats) -> Floats:
    """Return two-sided p-values; NaN for a constant difference, 1 if it is 0."""
    from scipy.special import ndtr, stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = -np.abs(difference) / sd
    tail = np.where(np.isinf(df), ndtr(statistic), stdtr(df, statistic))
    p: Floats = 2.0 * tail
    return np.where(sd == 0, np.where(difference == 0, 1.0, np.nan), p)
