"""Would one run beat the other on another collection, too? And where does the doubt come from?

Differences of runs over resampled documents, alone or with topics ([Cormack2006] §9), and how much
of the variance of a mean or of a difference comes from topics, from documents, and from both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from confir.arguments import as_choice, as_choices, as_flag, as_level, invalid
from confir.arrays import Floats, Integers
from confir.data.frames import columns_from_records, frame_from_records
from confir.data.scores import Record
from confir.errors import InvalidValueError, UnknownNameError
from confir.intervals.documents import check_margin, normal_quantile
from confir.intervals.quantiles import t_quantile
from confir.measures.summary import LOGIT_MARGIN, SUMMARIES
from confir.order import TIE
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.document_replicates import DocumentReplicates, check_sample, transform_of
from confir.resampling.variance_components import spread
from confir.studies.collection import check_bounded, summarise_topics
from confir.studies.corrections import adjust_p_values
from confir.studies.decisions import Estimates, judge_differences
from confir.studies.verdicts import Words

Pairing = Literal["paired", "independent"]
PAIRINGS: tuple[Pairing, ...] = ("paired", "independent")


class Variant(NamedTuple):
    """A way to look at a difference.

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


@dataclass(frozen=True, slots=True, eq=False)
class CollectionDifferences:
    """Differences from a baseline over collections: arrays are variants × measures × runs.

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
        Mean over standard deviation of the topics' differences: variants × measures × runs.
    wins, ties, losses
        Topics on which the run's score is higher, the same, lower: measures × runs.
    level, replicates
        Confidence level and number of replicates.
    """

    runs: tuple[str, ...]
    baseline: str
    measures: tuple[str, ...]
    variants: tuple[Variant, ...]
    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    p_adjusted: Floats
    verdict: Words
    effect_size: Floats
    wins: Integers
    ties: Integers
    losses: Integers
    level: float
    replicates: int

    def _repr_html_(self) -> str:
        from confir.report.notebook import notebook_html

        return notebook_html(self)

    def to_records(self) -> list[Record]:
        """Return a record per measure, run and variant, with the fields of `Comparison` and more."""
        return [
            {
                "measure": measure,
                "baseline": self.baseline,
                "run": run,
                "summary": variant.summary,
                "difference": float(self.difference[v, m, r]),
                "low": float(self.low[v, m, r]),
                "high": float(self.high[v, m, r]),
                "level": self.level,
                "method": "linear",
                "p": float(self.p[v, m, r]),
                "p_adjusted": float(self.p_adjusted[v, m, r]),
                "test": variant.test,
                "effect_size": float(self.effect_size[v, m, r]),
                "wins": int(self.wins[m, r]),
                "ties": int(self.ties[m, r]),
                "losses": int(self.losses[m, r]),
                "verdict": str(self.verdict[v, m, r]),
                "pairing": variant.pairing,
                "resampled": variant.resampled,
            }
            for m, measure in enumerate(self.measures)
            for r, run in enumerate(self.runs)
            for v, variant in enumerate(self.variants)
        ]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the records as columns."""
        return columns_from_records(self.to_records())

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)


def compare_on_collection(
    sample: DocumentReplicates,
    baseline: str,
    *,
    level: float = 0.95,
    variants: Sequence[Variant] = VARIANTS,
    margin: float = LOGIT_MARGIN,
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
    margin
        How far logits keep from 0 and 1.
    """
    check_sample(sample)
    sample.run_place(baseline)
    level = as_level(level)
    check_margin(margin)
    check_bounded(sample)
    _check_variants(variants)
    parts = [
        _difference(sample, measure, baseline, variant, margin)
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
        difference=d,
        low=d - half,
        high=d + half,
        p=p,
        p_adjusted=adjusted,
        verdict=_judge(d, half, adjusted, level),
        effect_size=effect,
        wins=wins,
        ties=ties,
        losses=losses,
        level=level,
        replicates=sample.replicates,
    )


def _check_variants(variants: Sequence[Variant]) -> None:
    """Raise where ways to look at a difference are none."""
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
    sample: DocumentReplicates, measure: str, baseline: str, variant: Variant, margin: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return differences of runs, their standard deviations and its df, and effect sizes."""
    paired = sample.difference_distribution(
        measure, baseline, variant.summary, with_topics=variant.with_topics, margin=margin
    )
    sd, df = paired.require("se"), paired.df
    if variant.pairing == "independent":
        alone = sample.summary_distribution(
            measure, variant.summary, with_topics=variant.with_topics, margin=margin
        )
        sd, df = _independent(alone, sample.run_place(baseline))
    by_topic = _topic_differences(sample, measure, baseline, variant.summary, margin)
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
    sample: DocumentReplicates, measure: str, baseline: str, summary: str, margin: float
) -> Floats:
    """Return the differences of transformed scores: other runs × topics."""
    score = transform_of(summary, margin)(sample.estimates(sample.measure_place(measure)))
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
        [_topic_differences(sample, m, baseline, "mean", LOGIT_MARGIN) for m in sample.measures]
    )
    return (
        (gaps > TIE).sum(axis=2),
        (np.abs(gaps) <= TIE).sum(axis=2),
        (gaps < -TIE).sum(axis=2),
    )


@dataclass(frozen=True, slots=True, eq=False)
class CollectionTopicDifferences:
    """Differences on every topic over collections: arrays are variants × measures × runs × topics.

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

    runs: tuple[str, ...]
    baseline: str
    topics: tuple[str, ...]
    measures: tuple[str, ...]
    variants: tuple[Variant, ...]
    difference: Floats
    sd: Floats
    low: Floats
    high: Floats
    verdict: Words
    level: float

    def to_records(self) -> list[Record]:
        """Return a record per measure, run, topic and variant."""
        return [
            {
                "measure": measure,
                "baseline": self.baseline,
                "run": run,
                "topic": topic,
                "scale": "logit" if variant.summary == "logit-mean" else "score",
                "difference": float(self.difference[v, m, r, t]),
                "low": float(self.low[v, m, r, t]),
                "high": float(self.high[v, m, r, t]),
                "level": self.level,
                "verdict": str(self.verdict[v, m, r, t]),
                "pairing": variant.pairing,
            }
            for m, measure in enumerate(self.measures)
            for r, run in enumerate(self.runs)
            for t, topic in enumerate(self.topics)
            for v, variant in enumerate(self.variants)
            if not np.isnan(self.difference[v, m, r, t])
        ]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the records as columns."""
        return columns_from_records(self.to_records())

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)


def compare_topics_on_collection(
    sample: DocumentReplicates,
    baseline: str,
    *,
    level: float = 0.95,
    variants: Sequence[Variant] = VARIANTS[:4],
    margin: float = LOGIT_MARGIN,
) -> CollectionTopicDifferences:
    """Return each topic's difference from the baseline, with its interval over collections.

    Independent differences of logits take the topics' small-R corrected spreads; parameters are
    those of `compare_on_collection`.
    """
    level = as_level(level)
    check_margin(margin)
    check_bounded(sample)
    if any(variant.with_topics for variant in variants):
        raise InvalidValueError("a single topic's difference cannot draw topics; leave that out")
    shape = (len(variants), len(sample.measures), len(sample.runs) - 1, len(sample.topics))
    d, sd = np.empty((2, *shape))
    other = sample.run_place(baseline)
    corrected = summarise_topics(sample, level=level, margin=margin).logit_sd
    for v, (summary, pairing, _) in enumerate(variants):
        forward = transform_of(summary, margin)
        for m, measure in enumerate(sample.measures):
            d[v, m] = _topic_differences(sample, measure, baseline, summary, margin)
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
        difference=d,
        sd=sd,
        low=d - half,
        high=d + half,
        verdict=_judge(d, half, _two_sided_p(d, sd, np.full(d.shape, np.inf)), level),
        level=level,
    )


@dataclass(frozen=True, slots=True, eq=False)
class CollectionVariance:
    """Where the variance of means comes from: arrays are summaries × measures × runs.

    Attributes
    ----------
    runs, measures, summaries
        Names.
    baseline
        Where differences from a run are meant; None for the means themselves.
    topics, documents, interaction
        Components of variance: some topics are easier than others; a collection changes all scores
        alike; a collection suits some topics.
    replicates
        Number of replicates.
    """

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    summaries: tuple[str, ...]
    baseline: str | None
    topics: Floats
    documents: Floats
    interaction: Floats
    replicates: int

    @property
    def total(self) -> Floats:
        """The sum of the components: the variance over new topics and a new collection."""
        return self.topics + self.documents + self.interaction

    def _repr_html_(self) -> str:
        from confir.report.notebook import notebook_html

        return notebook_html(self)

    def to_records(self) -> list[Record]:
        """Return a record per run, measure and summary."""
        return [
            {
                "run": run,
                "baseline": self.baseline,
                "measure": measure,
                "summary": summary,
                "topics": float(self.topics[s, m, r]),
                "documents": float(self.documents[s, m, r]),
                "interaction": float(self.interaction[s, m, r]),
                "total": float(self.total[s, m, r]),
            }
            for r, run in enumerate(self.runs)
            for m, measure in enumerate(self.measures)
            for s, summary in enumerate(self.summaries)
        ]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the records as columns."""
        return columns_from_records(self.to_records())

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)


def decompose_variance(
    sample: DocumentReplicates,
    *,
    baseline: str | None = None,
    summaries: Sequence[str] = ("mean", "logit-mean"),
    margin: float = LOGIT_MARGIN,
) -> CollectionVariance:
    """Return how much of the variance of means comes from topics, documents, and interaction.

    Parameters
    ----------
    sample
        What `resample_documents` returns.
    baseline
        A run whose differences to the others are meant; by default the means themselves.
    summaries
        Names in SUMMARIES.
    margin
        How far logits keep from 0 and 1.
    """
    check_sample(sample)
    check_margin(margin)
    check_bounded(sample)
    summaries = as_choices("summaries", summaries, SUMMARIES, "summary")
    if len(sample.topics) < 2:
        raise InvalidValueError("there is one topic; a variance over topics needs at least 2")
    parts = [
        sample.variance_components(measure, summary, baseline=baseline, margin=margin)
        for summary in summaries
        for measure in sample.measures
    ]

    def stack(name: str) -> Floats:
        shape = (len(summaries), len(sample.measures), -1)
        return np.stack([getattr(part, name) for part in parts]).reshape(shape)

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
