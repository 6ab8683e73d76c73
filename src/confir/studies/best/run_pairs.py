"""How far apart are all runs, pair by pair, on the topics that all of them have?

The best run and the ranks of runs are two readings of the same pairs: these are computed here once.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confir.arguments import as_generator
from confir.arrays import Booleans, Floats, Integers
from confir.data.common_topics import LEAST_COMMON_TOPICS, common_topics, have_same_topics
from confir.data.sampling.judged_scores import Judged, JudgedScores
from confir.data.scores import Scores
from confir.data.streams.pair_totals import PairTotals
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning, warn_caller
from confir.intervals.simultaneous import variance_floor
from confir.measures.score_summary import ScoreSummary
from confir.order import TIE
from confir.parallel import run_in_threads
from confir.resampling.clusters import Clusters, Ratios
from confir.resampling.drawn_pairs import draw_normal_means
from confir.resampling.human_judgements import clip_parts, judged_weights, resample_judged
from confir.resampling.judged_pairs import varying
from confir.resampling.studentised_maxima import (
    Maxima,
    RunCovariance,
    studentised_maxima,
)
from confir.resampling.topic_weights import draw_topics
from confir.resampling.topics import Rng, check_replicates, cluster_counts, own_seed, topic_sample


@dataclass(frozen=True, eq=False)
class RunPairs:
    """All pairs of runs by one measure, on the topics that all of them have.

    Attributes
    ----------
    scored
        Which runs have scores; all else is of these alone.
    mean
        Their means.
    difference
        Runs × runs: the mean of the column's run less that of the row's; 0 up to rounding.
    se
        Its standard error, at least that of the family's least variance, as in a comparison of all
        pairs; 0 where the difference is the same on all topics.
    topics
        Number of topics; of those that people judged, where a model judged others.
    units, df
        Number of independent units, topics or clusters, and degrees of freedom of the standard
        errors, the fewest of all pairs.
    maxima
        The largest t* of each run against the others, over replicates.
    share_first
        Share of replicates in which each run has the highest mean; ties are shared out.
    """

    scored: Booleans
    mean: Floats
    difference: Floats
    se: Floats
    topics: int
    units: float
    df: float
    maxima: Maxima
    share_first: Floats

    @property
    def runs(self) -> int:
        """Number of runs that have scores."""
        return len(self.mean)

    @cached_property
    def above_in_order(self) -> Floats:
        """The largest t* of other runs above each run, ascending: runs × replicates."""
        return np.sort(self.maxima.above, axis=1)

    @property
    def t(self) -> Floats:
        """Differences over their standard errors; 0 where there is none."""
        varies = self.se > 0
        return np.divide(self.difference, self.se, out=np.zeros_like(self.se), where=varies)

    @property
    def constant(self) -> Booleans:
        """Pairs with the same difference, other than 0, on all topics: they have no t."""
        pairs: Booleans = (self.se == 0) & (self.difference != 0)
        return pairs

    def constant_p(self, comparisons: int) -> float:
        """Return the p-value of a constant difference: one-sided sign-flip test, Bonferroni."""
        return min(1.0, comparisons * float(np.exp2(-self.units)))


def pair_runs(
    scores: Scores | ScoreSummary, replicates: int, rng: Rng, *, what: str
) -> list[RunPairs]:
    """Return all pairs of runs by each measure.

    Parameters
    ----------
    scores
        Scores of the runs; only topics that all runs have count, with a warning.
    replicates, rng
        Number of replicates, and seed or generator: the same seed draws the same maxima as in
        `compare_runs`, and the same means as in `confidence_interval`.
    what
        What is wanted of the pairs, for messages: "ranks".
    """
    check_replicates(replicates)
    if len(scores.topics) < 2:
        raise InvalidValueError(f"there is one topic; {what} over topics need at least 2")
    generator = as_generator(rng)
    seed = own_seed(generator)
    if isinstance(scores, ScoreSummary):
        return _summarised_pairs(scores, replicates, generator, seed, what)
    common = common_topics(scores.values)
    _check_common_topics(scores, common, what)
    if isinstance(scores, JudgedScores):
        return _judged_pairs(scores, replicates, generator, seed)
    sample = topic_sample(scores)
    generators = {
        count: _generator(count, len(common), generator, seed)
        for count in sorted(set(common.sum(axis=0).tolist()))
    }
    weights = {}
    if sample.clusters is None:
        weights = {count: draw_topics(count, replicates, own) for count, own in generators.items()}

    def task(measure: int) -> RunPairs:
        kept = np.flatnonzero(common[:, measure])
        own = sample.selected(slice(measure, None, len(scores.measures))).drawn(kept)
        values = own.values[0]
        scored = np.logical_not(np.isnan(values).all(axis=0))
        values = np.ascontiguousarray(values[:, scored])
        rng = np.random.default_rng(seed)  # as in a comparison of all pairs
        clusters = own.clusters
        if clusters is None:
            mean, resampled = values.mean(axis=0), weights[len(kept)].means(values).T
            difference, se, floor = _differences(values)
            units = float(len(values))
        else:
            ratios = Ratios(clusters, (values,))
            own_rng = copy.deepcopy(generators[len(kept)])
            mean, counts = ratios.means[0], cluster_counts(clusters, replicates, own_rng)
            resampled = mean + ratios.moves(counts)
            difference, se, floor, units = _cluster_differences(clusters, values)
        return RunPairs(
            scored=scored,
            mean=mean,
            difference=difference,
            se=se,
            topics=len(values),
            units=units,
            df=units - 1.0,
            maxima=studentised_maxima(values, replicates, rng, floor=floor, clusters=clusters),
            share_first=share_first(resampled),
        )

    return run_in_threads(task, range(len(scores.measures)))


def _judged_pairs(
    scores: JudgedScores, replicates: int, generator: np.random.Generator, seed: int
) -> list[RunPairs]:
    """Return all pairs of runs by a model's judgements and people's: corrected differences.

    Each pair has its own weight of the model, each run's mean its own.
    """
    parts = clip_parts(scores)
    weights = judged_weights(parts, replicates, copy.deepcopy(generator))

    def task(measure: int) -> RunPairs:
        values = Judged(*(np.ascontiguousarray(part[:, :, measure]) for part in parts))
        difference, se, floor, df = _corrected_differences(values)
        rng = np.random.default_rng(seed)  # as in a comparison of all pairs
        return RunPairs(
            scored=np.ones(len(scores.runs), np.bool_),
            mean=values.corrected().mean,
            difference=difference,
            se=se,
            topics=len(values.human),
            units=float(len(values.human)),
            df=df,
            maxima=studentised_maxima(values, replicates, rng, floor=floor),
            share_first=share_first(resample_judged(values, weights).mean),
        )

    return run_in_threads(task, range(len(scores.measures)))


def _corrected_differences(values: Judged) -> tuple[Floats, Floats, float, float]:
    """Return corrected differences and standard errors, the family's least variance, and the fewest df."""
    topics, runs = values.human.shape
    difference, se = np.zeros((runs, runs)), np.zeros((runs, runs))
    df = topics - 1.0
    for run in range(runs):
        apart = Judged(*(part - part[:, [run]] for part in values))
        found = apart.corrected()
        difference[run] = found.mean
        se[run] = np.where(varying(apart, found.se), found.se, 0.0)
        df = min(df, float(found.df.min()))
    return *_with_floor(difference, se, topics), df


def _summarised_pairs(
    summary: ScoreSummary, replicates: int, rng: np.random.Generator, seed: int, what: str
) -> list[RunPairs]:
    """Return all pairs of runs by each measure; replicates are of normal means."""
    common = summary.over_common_topics()
    measures = len(summary.measures)
    counts = common.topic_counts()
    _check_counts(summary, counts.max(axis=0), what)
    found = []
    for m in range(measures):
        scored = counts[:, m] > 0
        topics = int(counts[:, m].max())
        kept = common.select(
            run=[run for run, there in zip(summary.runs, scored, strict=True) if there],
            measure=[summary.measures[m]],
        )
        own = _generator(topics, len(summary.topics), rng, seed)  # as for scores of every topic
        first, second = (side.astype(np.int64) for side in np.triu_indices(int(scored.sum()), 1))
        mean = kept.mean()[:, 0]
        if not len(first):
            none = np.zeros((len(mean), len(mean)))
            empty = np.empty((len(mean), 0))
            maxima, first_share = Maxima(empty, empty), np.ones(len(mean))
            sizes = topics, float(topics), topics - 1.0
            found.append(RunPairs(scored, mean, none, none, *sizes, maxima, first_share))
            continue
        totals = kept.pair_totals(first, second)
        difference, se, floor = _summarised_differences(totals, first, second, len(mean))
        covariance = RunCovariance(totals.runs.products[0] / (topics - 1), topics)
        drawn = draw_normal_means(covariance.matrix / topics, replicates, own)
        found.append(
            RunPairs(
                scored=scored,
                mean=mean,
                difference=difference,
                se=se,
                topics=topics,
                units=float(topics),
                df=topics - 1.0,
                maxima=studentised_maxima(
                    covariance, replicates, np.random.default_rng(seed), floor=floor
                ),
                share_first=share_first((mean[:, None] + drawn).T),
            )
        )
    return found


def _summarised_differences(
    totals: PairTotals, first: Integers, second: Integers, runs: int
) -> tuple[Floats, Floats, float]:
    """Return differences and standard errors of all pairs, and the family's least variance."""
    moments = totals.differences
    topics = moments.count
    difference, se = np.zeros((runs, runs)), np.zeros((runs, runs))
    varies = totals.least < totals.most
    error = np.where(varies, np.sqrt(moments.second / (topics * (topics - 1.0))), 0.0)
    mean = np.where(np.abs(moments.mean) <= TIE, 0.0, moments.mean)
    difference[first, second], difference[second, first] = mean, -mean
    floor = variance_floor(np.where(varies, topics * np.square(error), np.nan))
    error = np.where(varies, np.maximum(error, np.sqrt(floor / topics)), 0.0)
    se[first, second] = se[second, first] = error
    return difference, se, floor


def _check_common_topics(scores: Scores, common: Booleans, what: str) -> None:
    """Raise where runs share too few topics to be ranked; warn where they do not share all."""
    counts = common.sum(axis=0)
    _check_counts(scores, counts, what)
    for run, m in np.argwhere(np.isnan(scores.values).all(axis=0)).tolist():
        warn_caller(
            f"run {scores.runs[run]!r} has no score by {scores.measures[m]}: it counts as the last, "
            "without evidence",
            TopicWarning,
        )
    for m in np.flatnonzero(~have_same_topics(scores.values)).tolist():
        warn_caller(
            f"runs are ranked by {scores.measures[m]} on the {counts[m]} topics that all of them "
            f"have, of {len(scores.topics)}",
            TopicWarning,
        )


def _check_counts(scores: Scores | ScoreSummary, counts: Integers, what: str) -> None:
    """Raise where runs share too few topics to be ranked, by a measure."""
    for measure, count in zip(scores.measures, counts.tolist(), strict=True):
        if count < LEAST_COMMON_TOPICS:
            raise TopicMismatchError(
                f"{what} by {measure} need {LEAST_COMMON_TOPICS} topics that all runs have; there "
                f"{'is 1' if count == 1 else 'are none'}"
            )


def _generator(
    count: int, topics: int, generator: np.random.Generator, seed: int
) -> np.random.Generator:
    """Return where replicates of the common topics are drawn from.

    Where no topic is missing, they are those of `confidence_interval`. Those of fewer topics come
    from a seed of their own, so that no measure's shares depend on the other measures.
    """
    return copy.deepcopy(generator) if count == topics else np.random.default_rng([seed, count])


def _differences(values: Floats) -> tuple[Floats, Floats, float]:
    """Return differences and standard errors of all pairs, and the family's least variance."""
    topics, runs = values.shape
    difference, se = np.zeros((runs, runs)), np.zeros((runs, runs))
    for run in range(runs):
        apart = values - values[:, [run]]
        difference[run] = apart.mean(axis=0)
        apart -= difference[run]
        varies = np.abs(apart).max(axis=0) > TIE
        se[run] = np.where(
            varies, np.sqrt((apart * apart).sum(axis=0) / (topics * (topics - 1))), 0
        )
    return _with_floor(difference, se, topics)


def _cluster_differences(clusters: Clusters, values: Floats) -> tuple[Floats, Floats, float, float]:
    """Return what `_differences` does by a design, and the units of its standard errors."""
    runs = values.shape[1]
    difference, se = np.zeros((runs, runs)), np.zeros((runs, runs))
    df = np.inf
    for run in range(runs):
        apart = values - values[:, [run]]
        ratios = Ratios(clusters, (apart,))
        difference[run] = ratios.means[0]
        variance, own = ratios.variance(ratios.influence([np.ones(1)]))
        varies = np.ptp(apart, axis=0) > TIE
        se[run] = np.where(varies, np.sqrt(variance), 0.0)
        df = min(df, own[varies].min(initial=np.inf))
    units = 1.0 + min(df, clusters.count - len(clusters.share))
    return *_with_floor(difference, se, units), units


def _with_floor(difference: Floats, se: Floats, units: float) -> tuple[Floats, Floats, float]:
    """Return differences, 0 up to rounding; standard errors not below the least; and that variance."""
    difference[np.abs(difference) <= TIE] = 0.0
    variance = units * np.square(se[np.triu_indices(len(se), 1)])
    floor = variance_floor(np.where(variance > 0, variance, np.nan))
    least = np.where(se > 0, np.sqrt(floor / units), 0.0)
    return difference, np.maximum(se, least), floor


def share_first(means: Floats) -> Floats:
    """Return the share of replicates in which each run is first: from replicates × runs."""
    first = means >= means.max(axis=1, keepdims=True, initial=-np.inf) - TIE
    share: Floats = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    return share


def over_all_runs(scored: Booleans, values: Floats | Integers, missing: float) -> Floats:
    """Return values of the runs that have scores among all runs; another value for the others."""
    spread = np.full(scored.shape + np.shape(values)[1:], missing)
    spread[scored] = values
    return spread
