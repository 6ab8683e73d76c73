"""How far apart are all runs, pair by pair, on the topics that all of them have?

The best run and the ranks of runs are two readings of the same pairs: these are computed here once.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from confir.arguments import as_generator
from confir.arrays import Booleans, Floats, Integers
from confir.data.common_topics import LEAST_COMMON_TOPICS, common_topics, have_same_topics
from confir.data.sampling.judged_scores import Judged, JudgedScores
from confir.data.scores import Scores
from confir.data.streams.pair_totals import PairTotals
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning, warn_caller
from confir.intervals.simultaneous import (
    MONTE_CARLO_ERRORS,
    ComparisonFamily,
    is_significant,
    positive,
    self_normalised,
    self_normalised_sums,
)
from confir.measures.evaluation import in_id_order
from confir.measures.score_summary import ScoreSummary
from confir.order import TIE
from confir.parallel import run_in_threads
from confir.resampling.borrowed_variance import BorrowedVariance, median_variance
from confir.resampling.clusters import Clusters, Ratios, cluster_contributions
from confir.resampling.drawn_pairs import draw_normal_means
from confir.resampling.further_replicates import FURTHER, can_draw_further, levels_to_settle
from confir.resampling.human_judgements import clip_parts, judged_weights, resample_judged
from confir.resampling.judged_pairs import varying
from confir.resampling.studentised_maxima import (
    Maxima,
    RunCovariance,
    studentised_maxima,
)
from confir.resampling.topic_weights import draw_topics
from confir.resampling.topics import Rng, check_replicates, cluster_counts, own_seed, topic_sample
from confir.studies.ranks.rank_tests import borderline_ranks, marginal_rank_p


@dataclass(frozen=True, eq=False)
class RunPairs:
    """All pairs of runs by one measure, on the topics that all of them have.

    Attributes
    ----------
    scored
        Which runs have scores; all else is of these alone.
    mean
        Their means.
    differences
        Runs × runs: those of the column's run less the row's.
    topics
        Number of topics; of those with human judgements, where a model judged others.
    units, df
        Number of independent units, topics or clusters, and degrees of freedom of the standard
        errors, the fewest of all pairs.
    maxima
        The largest t* of each run against the others, and of all pairs, over replicates.
    share_first
        Share of replicates in which each run has the highest mean; ties are shared out.
    """

    scored: Booleans
    mean: Floats
    differences: RunDifferences
    topics: int
    units: float
    df: float
    maxima: Maxima
    share_first: Floats

    @property
    def runs(self) -> int:
        """Number of runs that have scores."""
        return len(self.mean)

    @property
    def difference(self) -> Floats:
        """Mean differences: runs × runs, the column's mean less the row's; 0 up to rounding."""
        return self.differences.mean

    @cached_property
    def above_in_order(self) -> Floats:
        """The largest t* of other runs above each run, ascending: runs × replicates."""
        return np.sort(self.maxima.above, axis=1)

    @cached_property
    def every(self) -> ComparisonFamily:
        """The family of all pairs, as in a comparison of all pairs."""
        borrowed = self.differences.borrowed_by_every(self.units)
        return ComparisonFamily.of(borrowed.comparisons, self.maxima.largest, borrowed=borrowed)

    @cached_property
    def best_errors(self) -> Floats:
        """Standard errors in the families of one run's pairs: runs × runs; 0 where there is none."""
        borrowed = self.differences.borrowed_by_one(self.units)
        family = ComparisonFamily(self.runs - 1, np.empty(0), borrowed=borrowed)
        return np.nan_to_num(
            family.standard_errors(self.difference, self.differences.se, self.units, self.df)
        )

    @cached_property
    def t(self) -> Floats:
        """Differences over their standard errors in the families of one run's pairs; 0 without."""
        varies = self.best_errors > 0
        return np.divide(
            self.difference, self.best_errors, out=np.zeros_like(self.difference), where=varies
        )

    @cached_property
    def pair_p(self) -> Floats:
        """p-values of all pairs, adjusted for all of them as in a comparison: runs × runs."""
        return self._pair_p(0.0)

    def borderline_pairs(self, level: float) -> Booleans:
        """Return which decisions on pairs might change with other replicates: runs × runs."""
        lower, upper = (
            is_significant(self._pair_p(errors), level)
            for errors in (-MONTE_CARLO_ERRORS, MONTE_CARLO_ERRORS)
        )
        unclear: Booleans = lower != upper
        return unclear

    def _pair_p(self, errors: float) -> Floats:
        sums = self.differences.self_normalised
        t = self.difference / self.every.standard_errors(
            self.difference, self.differences.se, self.units, self.df
        )
        p = self.every.p_values(t, self.df, sums, errors)
        exact = np.isnan(t) & ((self.every.size < 2) | (sums == 0))
        p = np.where(exact, min(1.0, 2.0 * max(self.every.size, 1) * self.constant_p), p)
        return np.where(self.difference == 0, 1.0, p)

    @cached_property
    def exact(self) -> Booleans:
        """Pairs that differ by the same on all units, and have neither t nor a sum to judge by."""
        constant = (self.best_errors == 0) & (self.difference != 0)
        no_sum = self.differences.self_normalised == 0
        exact: Booleans = constant & ((self.runs == 2) | no_sum)
        return exact

    @property
    def constant_p(self) -> float:
        """The p-value of the one-sided sign-flip test where all units show the same difference."""
        return float(np.exp2(-self.units))


class RunDifferences(NamedTuple):
    """Mean differences between all runs: arrays are runs × runs, column less row.

    Attributes
    ----------
    mean
        The difference of the means; 0 up to rounding.
    se
        Its standard error; 0 where the difference is the same on all topics.
    self_normalised
        Sum of the differences over the root of the sum of their squares; 0 where it does not exist.
    """

    mean: Floats
    se: Floats
    self_normalised: Floats

    def borrowed_by_every(self, units: float) -> BorrowedVariance:
        """Return what variances borrow in the family of all pairs; identical ones are not in it."""
        above = np.triu_indices(len(self.mean), 1)
        differ = (self.mean[above] != 0) | (self.se[above] > 0)
        return BorrowedVariance(int(differ.sum()), self._median(units))

    def borrowed_by_one(self, units: float) -> BorrowedVariance:
        """Return what variances borrow in the family of the pairs of one run."""
        return BorrowedVariance(len(self.mean) - 1, self._median(units))

    def _median(self, units: float) -> float:
        variance = units * np.square(self.se[np.triu_indices(len(self.se), 1)])
        return median_variance(variance)


def pair_runs(
    scores: Scores | ScoreSummary, replicates: int, rng: Rng, *, what: str, level: float
) -> list[RunPairs]:
    """Return all pairs of runs by each measure.

    Where a decision on a pair, on a run that may be the best, or on a run's rank is borderline at
    the level, ten times as many replicates are drawn.

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
        return _summarised_pairs(scores, replicates, generator, seed, what=what, level=level)
    scores = in_id_order(scores)  # as `topic_sample` has them
    common = common_topics(scores.values)
    _check_common_topics(scores, common, what)
    if isinstance(scores, JudgedScores):
        return _judged_pairs(scores, replicates, generator, seed, level)
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
        clusters = own.clusters
        if clusters is None:
            mean, resampled = values.mean(axis=0), weights[len(kept)].means(values).T
            differences, units = _differences(values), float(len(values))
            df = units - 1.0
        else:
            ratios = Ratios(clusters, (values,))
            own_rng = copy.deepcopy(generators[len(kept)])
            mean, counts = ratios.means[0], cluster_counts(clusters, replicates, own_rng)
            resampled = mean + ratios.moves(counts)
            differences, df = _cluster_differences(clusters, values)
            units = float(clusters.count)

        def draw(size: int) -> RunPairs:
            return RunPairs(
                scored=scored,
                mean=mean,
                differences=differences,
                topics=len(values),
                units=units,
                df=df,
                maxima=_draw_maxima(values, size, seed, differences, units, clusters),
                share_first=share_first(resampled),
            )

        return _settled(draw, replicates, level)

    return run_in_threads(task, range(len(scores.measures)))


def _draw_maxima(
    values: Floats | Judged | RunCovariance,
    replicates: int,
    seed: int,
    differences: RunDifferences,
    units: float,
    clusters: Clusters | None = None,
) -> Maxima:
    """Return the largest t* over replicates: those of a comparison of all pairs."""
    return studentised_maxima(
        values,
        replicates,
        np.random.default_rng(seed),
        differences.borrowed_by_every(units),
        differences.borrowed_by_one(units),
        clusters,
    )


def _settled(draw: Callable[[int], RunPairs], replicates: int, level: float) -> RunPairs:
    """Return pairs with ten times as many replicates where a decision is borderline without.

    Those of all pairs are drawn again for the sake of pairs alone, as in a comparison.
    """
    pairs = draw(replicates)
    if not can_draw_further(pairs.every.size, int(pairs.units), replicates):
        return pairs
    levels = levels_to_settle(level)
    if any(pairs.borderline_pairs(one).any() for one in levels):
        return draw(FURTHER * replicates)
    rank_p, draws = marginal_rank_p(pairs), pairs.maxima.above.shape[1]
    if any(
        borderline_best(pairs, one).any() or borderline_ranks(rank_p, one, draws).any()
        for one in levels
    ):
        further = draw(FURTHER * replicates)
        return replace(further, maxima=further.maxima._replace(largest=pairs.maxima.largest))
    return pairs


def best_families(pairs: RunPairs) -> list[ComparisonFamily]:
    """Return each run's family: all others against it, one-sided."""
    others = pairs.runs - 1
    ordered = pairs.above_in_order if others > 1 else np.empty((pairs.runs, 0))
    return [ComparisonFamily(others, above, sides=1) for above in ordered]


def best_p_values(pairs: RunPairs, errors: float = 0.0) -> Floats:
    """Return p-values of no other run being better than each, moved by some Monte-Carlo errors."""
    if pairs.runs < 2:
        return np.ones(pairs.runs)
    largest = pairs.t.max(axis=1)  # at least 0, a run's difference from itself
    sums = pairs.differences.self_normalised.max(axis=1)
    p = np.array(
        [
            family.p_values(t, pairs.df, own, errors)
            for family, t, own in zip(best_families(pairs), largest, sums, strict=True)
        ]
    )
    exact = (pairs.exact & (pairs.difference > 0)).any(axis=1)
    p = np.where(exact, np.minimum(p, min(1.0, (pairs.runs - 1) * pairs.constant_p)), p)
    p = np.where((largest > 0) | (pairs.difference > 0).any(axis=1), p, 1.0)
    least: Floats = positive(p)
    return least


def borderline_best(pairs: RunPairs, level: float) -> Booleans:
    """Return for which runs other replicates might change whether they may be the best."""
    lower, upper = (
        is_significant(best_p_values(pairs, errors), level)
        for errors in (-MONTE_CARLO_ERRORS, MONTE_CARLO_ERRORS)
    )
    unclear: Booleans = lower != upper
    return unclear


def _judged_pairs(
    scores: JudgedScores,
    replicates: int,
    generator: np.random.Generator,
    seed: int,
    level: float,
) -> list[RunPairs]:
    """Return all pairs of runs by human and model judgements: corrected differences.

    Each pair has its own weight of the model, each run's mean its own.
    """
    parts = clip_parts(scores)
    weights = judged_weights(parts, replicates, copy.deepcopy(generator))

    def task(measure: int) -> RunPairs:
        values = Judged(*(np.ascontiguousarray(part[:, :, measure]) for part in parts))
        differences, df = _corrected_differences(values)
        units = float(len(values.human))
        resampled = resample_judged(values, weights).mean

        def draw(size: int) -> RunPairs:
            return RunPairs(
                scored=np.ones(len(scores.runs), np.bool_),
                mean=values.corrected().mean,
                differences=differences,
                topics=len(values.human),
                units=units,
                df=df,
                maxima=_draw_maxima(values, size, seed, differences, units),
                share_first=share_first(resampled),
            )

        return _settled(draw, replicates, level)

    return run_in_threads(task, range(len(scores.measures)))


def _corrected_differences(values: Judged) -> tuple[RunDifferences, float]:
    """Return corrected differences and standard errors, and the fewest degrees of freedom."""
    topics, runs = values.human.shape
    difference, se = np.zeros((runs, runs)), np.zeros((runs, runs))
    df = topics - 1.0
    for run in range(runs):
        apart = Judged(*(part - part[:, [run]] for part in values))
        found = apart.corrected()
        difference[run] = found.mean
        se[run] = np.where(varying(apart, found.se), found.se, 0.0)
        df = min(df, float(found.df.min()))
    return RunDifferences(_rounded(difference), se, np.zeros((runs, runs))), df


def _summarised_pairs(
    summary: ScoreSummary,
    replicates: int,
    rng: np.random.Generator,
    seed: int,
    *,
    what: str,
    level: float,
) -> list[RunPairs]:
    """Return all pairs of runs by each measure; replicates are of normal means."""
    common = summary.over_common_topics()
    counts = common.topic_counts()
    _check_counts(summary, counts.max(axis=0), what)

    def task(m: int) -> RunPairs:
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
            maxima, first_share = Maxima(empty, empty, np.empty(0)), np.ones(len(mean))
            apart = RunDifferences(none, none, none)
            sizes = topics, float(topics), topics - 1.0
            return RunPairs(scored, mean, apart, *sizes, maxima, first_share)
        totals = kept.pair_totals(first, second)
        differences = _summarised_differences(totals, first, second, len(mean))
        covariance = RunCovariance(totals.runs.products[0] / (topics - 1), topics)
        drawn = draw_normal_means(covariance.matrix / topics, replicates, own)

        def draw(size: int) -> RunPairs:
            return RunPairs(
                scored=scored,
                mean=mean,
                differences=differences,
                topics=topics,
                units=float(topics),
                df=topics - 1.0,
                maxima=_draw_maxima(covariance, size, seed, differences, float(topics)),
                share_first=share_first((mean[:, None] + drawn).T),
            )

        return _settled(draw, replicates, level)

    return [task(m) for m in range(len(summary.measures))]


def _summarised_differences(
    totals: PairTotals, first: Integers, second: Integers, runs: int
) -> RunDifferences:
    """Return differences and standard errors of all pairs, from their moments."""
    moments = totals.differences
    topics = moments.count
    varies = totals.least < totals.most
    error = np.where(varies, np.sqrt(moments.second / (topics * (topics - 1.0))), 0.0)
    mean = _rounded(moments.mean)
    sums = self_normalised_sums(mean, error, topics)
    return pairs_as_table(mean, error, sums, first, second, runs)


def pairs_as_table(
    mean: Floats, se: Floats, sums: Floats, first: Integers, second: Integers, runs: int
) -> RunDifferences:
    """Return differences of pairs, second less first, as those between all runs."""
    table = RunDifferences(*(np.zeros((runs, runs)) for _ in range(3)))
    table.mean[first, second], table.mean[second, first] = mean, -mean
    table.se[first, second] = table.se[second, first] = se
    table.self_normalised[first, second], table.self_normalised[second, first] = sums, -sums
    return table


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


def _differences(values: Floats) -> RunDifferences:
    """Return differences and standard errors of all pairs."""
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
    difference = _rounded(difference)
    return RunDifferences(difference, se, self_normalised_sums(difference, se, topics))


def _cluster_differences(clusters: Clusters, values: Floats) -> tuple[RunDifferences, float]:
    """Return what `_differences` does by a design, and the fewest degrees of freedom."""
    runs = values.shape[1]
    difference, se, sums = (np.zeros((runs, runs)) for _ in range(3))
    df = np.inf
    for run in range(runs):
        apart = values - values[:, [run]]
        ratios = Ratios(clusters, (apart,))
        difference[run] = ratios.means[0]
        variance, own = ratios.variance(ratios.influence([np.ones(1)]))
        varies = np.ptp(apart, axis=0) > TIE
        se[run] = np.where(varies, np.sqrt(variance), 0.0)
        sums[run] = self_normalised(cluster_contributions(clusters, apart))
        df = min(df, own[varies].min(initial=np.inf))
    fewest = min(df, float(clusters.count - len(clusters.share)))
    return RunDifferences(_rounded(difference), se, sums), fewest


def _rounded(difference: Floats) -> Floats:
    """Return differences that are 0 up to rounding as 0."""
    return np.where(np.abs(difference) <= TIE, 0.0, difference)


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
