"""All runs compared with each other on the topics that all of them have; tests of the best run and of ranks.

The best run and the ranks of runs are two readings of the same pairs, which are computed here once.

If run i has rank r, then r - 1 runs are better than it and K - r are not (a tied run counts as not
better). So of each pair only one direction is wrong, and rank r is wrongly rejected only if one of
the K - r seems significantly better, or one of the r - 1 significantly worse. Rank r is rejected
where r runs are better by more than c standard errors, or K - r + 1 worse.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_generator, check_replicates
from confir.arrays import TIE, Booleans, Floats, Integers
from confir.data.scores import Scores
from confir.errors import InvalidValueError, TopicWarning, warn_caller
from confir.measures.score_summary import ScoreSummary
from confir.measures.strengths import Strengths
from confir.pairs.decisions import warn_of_few_clusters
from confir.pairs.differences import MOST_NUMBERS, check_differences, sign_flips
from confir.pairs.families import check_collections
from confir.pairs.sign_flips import flip_limits
from confir.pairs.simultaneous import (
    MONTE_CARLO_ERRORS,
    ComparisonFamily,
    Evidence,
    borderline_decisions,
    is_significant,
    monte_carlo_error,
    positive,
    symmetric_bound,
)
from confir.parallel import run_in_threads
from confir.resampling.kinds import as_sample
from confir.resampling.pair_draws import BorrowedVariance, Maxima, median_variance
from confir.resampling.replicates import (
    FURTHER,
    Rng,
    can_draw_further,
    levels_to_settle,
    own_seed,
    shared_draws,
)
from confir.resampling.sample import MeasureSample, Sample, names
from confir.resampling.studentised_maxima import studentised_maxima


@dataclass(frozen=True, eq=False)
class RunPairs:
    """All pairs of runs by one measure, on the topics that all of them have.

    Arrays of pairs are runs × runs: the column's run less the row's.

    Attributes
    ----------
    scored
        Which runs have scores; all else is of these alone.
    runs, mean
        Their number, and their means.
    difference, se
        Mean differences, 0 up to rounding; and their standard errors, 0 where the difference is the
        same on all topics.
    self_normalised
        Sum of the differences over the root of the sum of their squares; 0 where it does not exist.
    topics
        Number of topics; of those with human judgements, where a model judged others.
    units, df
        Number of independent units, topics or clusters, and degrees of freedom of the standard
        errors, the fewest of all pairs.
    borrowed, borrowed_by_one
        What variances borrow in the family of all pairs, and in that of one run's pairs.
    best_errors, t
        Standard errors in the families of one run's pairs, 0 where there is none; and the differences
        over them, 0 there.
    flips
        Share of the sign flips of units that give as large a difference on its side, where units are few;
        else NaN.
    parts, weights
        What each cluster adds to the difference, and what it weighs, where sign flips of clusters decide:
        runs × runs × clusters; else of no clusters.
    by_flips
        Whether they decide.
    maxima
        The largest t* of each run against the others, and of all pairs, over replicates.
    share_first
        Share of replicates in which each run has the highest mean; ties are shared out.
    sample
        The runs that have scores, a column each.
    """

    scored: Booleans
    runs: int
    mean: Floats
    difference: Floats
    se: Floats
    self_normalised: Floats
    topics: int
    units: float
    df: float
    borrowed: BorrowedVariance
    borrowed_by_one: BorrowedVariance
    best_errors: Floats
    t: Floats
    flips: Floats
    parts: Floats
    weights: Floats
    by_flips: bool
    maxima: Maxima
    share_first: Floats
    sample: Sample

    @cached_property
    def above_in_order(self) -> Floats:
        """The largest t* of other runs above each run, ascending: runs × replicates."""
        return np.sort(self.maxima.above, axis=1)

    @property
    def evidence(self) -> Evidence:
        """What decisions rest on."""
        return Evidence(
            self.difference, self.se, self.units, self.df, self.self_normalised, self.flips
        )

    @cached_property
    def every(self) -> ComparisonFamily:
        """The family of all pairs, as in a comparison of all pairs."""
        size = self.borrowed.comparisons
        ordered = np.sort(self.maxima.largest) if size > 1 else np.empty(0)
        return ComparisonFamily(size, ordered, borrowed=self.borrowed, by_flips=self.by_flips)

    def against_others(self, run: int | None = None) -> ComparisonFamily:
        """Return the family of one run's pairs, one-sided; without a run, that of any, for sign flips."""
        several = run is not None and self.runs > 2
        return ComparisonFamily(
            self.runs - 1,
            self.above_in_order[run] if several else np.empty(0),
            sides=1,
            borrowed=self.borrowed_by_one,
            by_flips=self.by_flips,
        )

    def pair_p(self, errors: float = 0.0) -> Floats:
        """Return p-values adjusted for all pairs as in a comparison, moved by some Monte-Carlo errors."""
        return self.every.adjusted(self.evidence, errors)

    def low_limits(self, level: float) -> Floats:
        """Return the lower limits of differences in one-sided families of one run's pairs; NaN without."""
        if self.by_flips:
            share = (1.0 - level) / max(self.runs - 1, 1)
            units = self.parts.shape[-1]
            found = flip_limits(
                self.parts.reshape(-1, units), self.weights.reshape(-1, units), share
            )
            return np.where(self.se > 0, found.low.reshape(self.difference.shape), np.nan)
        ordered = self.above_in_order.T if self.runs > 2 else np.empty((0, self.runs))
        family = ComparisonFamily(self.runs - 1, ordered, sides=1)
        critical = np.maximum(0.0, family.critical_value(self.df, level))
        half = np.broadcast_to(critical, (self.runs,))[:, None] * self.best_errors
        return np.where(self.best_errors > 0, self.difference - half, np.nan)


def compare_all_runs(
    scores: Scores | ScoreSummary | Strengths, replicates: int, rng: Rng, *, what: str, level: float
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
    generator = as_generator(rng)
    seed = own_seed(generator)
    sample = as_sample(scores)
    check_differences(*sample.shape)
    if sample.topics < 2:
        raise InvalidValueError(f"there is one topic; {what} over topics need at least 2")
    if sample.scheme.replicates:
        check_collections(sample, level)
    measures = sample.by_measure(what)
    warn_of_few_clusters(sample, level, comparisons=sample.shape[0] - 1, sides=1)
    runs, labels = names(sample)
    for measure, found in zip(labels, measures, strict=True):
        if found.sample.topics < found.topics or not found.scored.all():
            _warn_of_gaps(runs, measure, found, sample.topics)

    def task(found: MeasureSample) -> RunPairs:
        # replicates are those of `confidence_interval` where no topic is missing; those of fewer
        # topics have a seed of their own, so that no measure's shares depend on other measures
        count = found.sample.topics
        own = np.random.default_rng([seed, count])
        own = copy.deepcopy(generator) if count == sample.topics else own
        return pairs_by_measure(found, replicates, own, seed, level)

    with shared_draws():
        return run_in_threads(task, measures)


def pairs_by_measure(
    found: MeasureSample, replicates: int, rng: np.random.Generator, seed: int, level: float
) -> RunPairs:
    """Return all pairs of runs by one measure.

    Parameters
    ----------
    found
        The runs that have scores.
    replicates, rng, seed
        Number of replicates; where those of means are drawn from; and the seed of the maxima.
    level
        At which decisions must be settled.
    """
    sample = found.sample
    observed = _observed_pairs(found)
    borrowed, runs = (observed.borrowed, observed.borrowed_by_one), observed.runs
    maxima = observed.maxima
    if not observed.by_flips:
        maxima = studentised_maxima(sample, replicates, np.random.default_rng(seed), *borrowed)
    shares = np.ones(1)
    if runs > 1:
        means = sample.replicate_means(replicates, rng)
        highest = means.max(axis=1, keepdims=True, initial=-np.inf)
        first = means >= highest - TIE * np.maximum(1.0, np.abs(highest))
        shares = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    pairs = replace(observed, maxima=maxima, share_first=shares)
    if pairs.by_flips or not can_draw_further(borrowed[0].comparisons, pairs.units, replicates):
        return pairs
    of_pairs, of_runs = _borderline(pairs, level)
    if not of_pairs and not of_runs:
        return pairs
    more = FURTHER * replicates
    further = studentised_maxima(sample, more, np.random.default_rng(seed), *borrowed)
    # those of all pairs are drawn again for the sake of pairs alone, as in a comparison
    return replace(pairs, maxima=further if of_pairs else further._replace(largest=maxima.largest))


def _observed_pairs(found: MeasureSample) -> RunPairs:
    """Return all pairs of runs by one measure as observed, without replicates."""
    sample, runs = found.sample, len(found.sample.labels)
    units = float(sample.unit_counts(np.array([sample.topics]))[0])
    difference, se, sums, flips, parts, weights, df = _differences(sample)
    above = np.triu_indices(runs, 1)
    differ = (difference[above] != 0) | (se[above] > 0)  # identical runs are not in the family
    # documents, of which there is no number, borrow nothing
    median = 0.0 if np.isinf(units) else median_variance(units * np.square(se[above]))
    of_one = BorrowedVariance(runs - 1, median)
    family = ComparisonFamily(runs - 1, np.empty(0), borrowed=of_one)
    errors = np.nan_to_num(family.standard_errors(difference, se, units, df, flips))
    nothing = np.empty((runs, 0))
    return RunPairs(
        scored=found.scored,
        runs=runs,
        mean=sample.distribution(slice(None), None, ("se",)).estimate,
        difference=difference,
        se=se,
        self_normalised=sums,
        topics=sample.topics,
        units=units,
        df=df,
        borrowed=BorrowedVariance(int(differ.sum()), median),
        borrowed_by_one=of_one,
        best_errors=errors,
        t=np.divide(difference, errors, out=np.zeros_like(difference), where=errors > 0),
        flips=flips,
        parts=parts,
        weights=weights,
        by_flips=sample.scheme.flips,
        maxima=Maxima(nothing, nothing, nothing.reshape(-1)),
        share_first=np.ones(runs),
        sample=sample,
    )


class _Differences(NamedTuple):
    """What `RunPairs` holds of the differences, runs × runs, and the fewest degrees of freedom."""

    difference: Floats
    se: Floats
    sums: Floats
    flips: Floats
    parts: Floats
    weights: Floats
    df: float


def _differences(sample: Sample) -> _Differences:
    """Return mean differences of all columns, with what is known of them."""
    runs, df = len(sample.labels), sample.largest_df
    difference, errors, sums = (np.zeros((runs, runs)) for _ in range(3))
    flips = np.full((runs, runs), np.nan)
    clusters = sample.scheme.clusters if sample.scheme.flips else 0
    parts, weights = np.zeros((2, runs, runs, clusters))
    first, second = (side.astype(np.int64) for side in np.triu_indices(runs, 1))
    width = max(1, MOST_NUMBERS // sample.rows) if sample.rows else len(first)
    for start in range(0, len(first), width):
        low, high = first[start : start + width], second[start : start + width]
        contrast = sample.contrast(high, low)
        block = contrast.distribution(slice(None), None, ("se",))
        least, most = contrast.extremes()
        varies = ~block.degenerate & (least < most)
        equal = (np.abs(block.estimate) <= contrast.ties) | ((least == 0) & (most == 0))
        mean = np.where(equal, 0.0, block.estimate)
        se = np.where(varies, block.require("se"), 0.0)
        units = contrast.unit_counts(block.count)
        own_sums = contrast.self_normalised(mean, se, units)
        difference[low, high], difference[high, low] = mean, -mean
        errors[low, high] = errors[high, low] = se
        sums[low, high], sums[high, low] = own_sums, -own_sums
        df = min(df, float(block.df[varies].min(initial=np.inf)))
        found = sign_flips(contrast, units)
        flips[low, high] = flips[high, low] = found.p
        if clusters:
            parts[low, high], parts[high, low] = found.parts, -found.parts
            weights[low, high] = weights[high, low] = found.weights
    return _Differences(difference, errors, sums, flips, parts, weights, df)


def _borderline(pairs: RunPairs, level: float) -> tuple[bool, bool]:
    """Return whether a decision on a pair is borderline; and, if not, whether one on a run is."""
    levels = levels_to_settle(level)
    if any(borderline_decisions(pairs.pair_p, one).any() for one in levels):
        return True, True
    rank_p, draws = marginal_rank_p(pairs), pairs.maxima.above.shape[1]
    return False, any(
        borderline_decisions(partial(best_p_values, pairs), one).any()
        or borderline_ranks(rank_p, one, draws).any()
        for one in levels
    )


def best_p_values(pairs: RunPairs, errors: float = 0.0) -> Floats:
    """Return p-values of no other run being better than each, moved by some Monte-Carlo errors."""
    if pairs.runs < 2:
        return np.ones(pairs.runs)
    found = pairs.evidence
    if pairs.by_flips:
        return np.asarray(pairs.against_others().adjusted(found, errors).min(axis=1))
    others = slice(None)
    rows: list[Any] = [others] * pairs.runs
    if np.isnan(pairs.flips).all():  # p falls with t and with T: the largest of each decide
        constant = np.where((pairs.se == 0) & (pairs.difference > 0), pairs.difference, -np.inf)
        rows = list(
            np.stack([one.argmax(axis=1) for one in (pairs.t, found.self_normalised, constant)], 1)
        )
    p = [
        pairs.against_others(run).adjusted(
            found._replace(
                difference=found.difference[run, of],
                se=found.se[run, of],
                self_normalised=found.self_normalised[run, of],
                flips=found.flips[run, of],
            ),
            errors,
        )
        for run, of in enumerate(rows)
    ]
    better = [found.difference[run, of] > 0 for run, of in enumerate(rows)]
    least = [np.where(is_so, one, 1.0).min() for is_so, one in zip(better, p, strict=True)]
    return np.asarray(positive(np.array(least)))


def _warn_of_gaps(runs: Sequence[str], measure: str, found: MeasureSample, topics: int) -> None:
    """Warn of runs without scores by a measure, and of topics that some runs lack."""
    for run in np.flatnonzero(~found.scored).tolist():
        warn_caller(
            f"run {runs[run]!r} has no score by {measure}: it counts as the last, without evidence",
            TopicWarning,
        )
    if found.sample.topics < found.topics:
        warn_caller(
            f"runs are ranked by {measure} on the {found.sample.topics} topics that all of them have, "
            f"of {topics}",
            TopicWarning,
        )


def over_all_runs(
    pairs: Sequence[RunPairs], values: Sequence[Floats | Booleans], missing: float = np.nan
) -> Floats:
    """Return values of the runs that have scores, by measure, as runs × measures; others have another."""
    columns = np.full((len(pairs[0].scored), len(pairs)), missing)
    for column, one, own in zip(columns.T, pairs, values, strict=True):
        column[one.scored] = own
    return columns


# p-values above this decide nothing at any level that is asked for.
_LARGEST_P = 0.5


def rank_tests(pairs: RunPairs) -> tuple[Floats, Floats]:
    """Return p-values of each run's ranks, after Mogstad, Romano, Shaikh & Wilhelm (2024): runs × ranks.

    The first are adjusted for the comparisons of the one run, the second for all pairs, so that they
    are simultaneous for all runs.

    The marginal test of rank r bounds the chance of a wrong direction by the smallest of three:
    the largest |t*| of the run's pairs over replicates; Bonferroni's one-sided t for K - 1 wrong
    directions; and the sum of the chances that one of the K - r seems better and that one of the
    r - 1 seems worse, each by the largest signed t*, or by Bonferroni. For rank 1 that is Hsu's
    test of `find_best`. Pairs whose signs are certain enough by themselves count, too. The
    simultaneous test is the two-sided one of all pairs.
    """
    pair_p = pairs.pair_p()
    better, worse = (
        np.sort(np.where(sign * pairs.difference > 0, pair_p, 1.0), axis=1) for sign in (1, -1)
    )
    return marginal_rank_p(pairs), np.minimum(better, worse[:, ::-1])


def borderline_ranks(p: Floats, level: float, draws: int) -> Booleans:
    """Return for which runs another seed might change a limit of the rank: from runs × ranks."""
    error = MONTE_CARLO_ERRORS * monte_carlo_error(p, draws) if draws else np.zeros_like(p)
    narrow, wide = (
        rank_limits(np.clip(moved, 0.0, 1.0), level) for moved in (p - error, p + error)
    )
    unclear: Booleans = (narrow[0] != wide[0]) | (narrow[1] != wide[1])
    return unclear


def rank_limits(p: Floats, level: float) -> tuple[Integers, Integers]:
    """Return the lowest and the highest rank that is not rejected: from runs × ranks."""
    kept = ~is_significant(p, level)
    low: Integers = 1 + kept.argmax(axis=1)
    high: Integers = p.shape[1] - kept[:, ::-1].argmax(axis=1)
    return low, high


def marginal_rank_p(pairs: RunPairs) -> Floats:
    """Return the p-values of each run's ranks, adjusted for the comparisons of the one run.

    A rank is rejected where too many of the others are better, or too many worse.
    """
    runs = pairs.runs
    if runs == 1:
        return np.ones((1, 1))
    if pairs.by_flips:
        of_any, turned = (
            pairs.against_others(),
            pairs.evidence._replace(difference=-pairs.difference),
        )
        better, worse = (np.sort(of_any.adjusted(one), axis=1) for one in (pairs.evidence, turned))
        return np.minimum(better, worse[:, ::-1])
    needed = np.arange(1, runs + 1)
    found = np.empty((2, runs, runs))
    for run in range(runs):
        above, below = pairs.maxima.above[run], pairs.maxima.below[run]
        maxima = (pairs.above_in_order[run], np.sort(below), np.sort(np.maximum(above, below)))
        tests = _RankTests(runs, pairs.df, maxima if runs > 2 else ())
        others = np.delete(np.arange(runs), run)
        for side, sign, many in zip(found, (1, -1), (needed, needed[::-1]), strict=True):
            t, sums = (sign * one[run, others] for one in (pairs.t, pairs.self_normalised))
            shown = sign * pairs.difference[run, others] > 0
            certain = symmetric_bound(sums, runs - 1, 1) if runs > 2 else np.ones(1)
            exact = (pairs.best_errors[run, others] == 0) & ((runs == 2) | (sums == 0))
            signs = min(1.0, (runs - 1) * float(np.exp2(-pairs.units)))
            certain = np.where(exact, signs if np.isfinite(pairs.units) else 1.0, certain)
            floors = np.nan_to_num(pairs.flips[run, others]) if runs > 2 else np.zeros(1)
            side[run] = tests.rejecting(t, np.where(shown, certain, 1.0), floors, many)
    least: Floats = found.min(axis=0)
    return least


class _RankTests(NamedTuple):
    """The tests of one run's ranks.

    Attributes
    ----------
    runs, df
        Number of runs, and degrees of freedom of t.
    maxima
        The largest t* of other runs above this one, below it, and either, ascending; none where
        there is one other run.
    """

    runs: int
    df: float
    maxima: tuple[Floats, ...]

    def rejecting(self, t: Floats, certain: Floats, floors: Floats, needed: Integers) -> Floats:
        """Return the p-value of each rank, from the runs on one side.

        Parameters
        ----------
        t
            Statistics of the others, positive on this side.
        certain
            Their p-values by the signs of the differences alone.
        floors
            What their p-values are at least: those of sign flips of few units.
        needed
            How many must be significant to reject rank 1, 2, ….
        """
        from scipy.special import stdtr

        if floors.any():
            return self._by_pairs(t, certain, floors, needed)
        either = _share(self.maxima[2], t) if self.maxima else np.ones_like(t)
        by_t = np.minimum(either, (self.runs - 1) * stdtr(self.df, -t))  # signs above add nothing
        by_t = np.where(t > 0, by_t, 1.0)
        order = np.argsort(certain, kind="stable")
        helpful = order[certain[order] < np.minimum(_LARGEST_P, by_t[order])]
        p = self.p_values(t, needed)
        for count, place in enumerate(helpful.tolist(), start=1):
            beside = self.p_values(np.delete(t, helpful[:count]), needed - count)
            p = np.minimum(p, np.maximum(beside, certain[place]))
        return p

    def _by_pairs(self, t: Floats, certain: Floats, floors: Floats, needed: Integers) -> Floats:
        """Return what `rejecting` does, from the p-values of all pairs for each rank."""
        ranks = np.arange(self.runs)[:, None]  # runs that are better than one of rank 1, 2, …
        p = np.maximum(np.minimum(self._adjusted(t, ranks), certain), floors)
        p = np.sort(p[:, (p < 1.0).any(axis=0)], axis=1)
        p = np.pad(p, ((0, 0), (0, self.runs - p.shape[1])), constant_values=1.0)
        found: Floats = np.take_along_axis(p, needed[:, None] - 1, axis=1)[:, 0]
        return found

    def p_values(self, statistics: Floats, needed: Integers) -> Floats:
        """Return the p-values of all ranks, each by the statistic that must be significant.

        That is the 1st, 2nd, … largest: ∞ where none is needed, -∞ where there are too few.
        """
        ordered = np.concatenate([[np.inf], -np.sort(-statistics), [-np.inf]])
        t = ordered[np.clip(needed, 0, len(statistics) + 1)]
        return np.where(np.isposinf(t), 0.0, self._adjusted(t, np.arange(self.runs)))

    def _adjusted(self, t: Floats, better: Integers) -> Floats:
        """Return the p-values of t for ranks below so many runs that are better."""
        from scipy.special import stdtr

        others = self.runs - 1
        tail = stdtr(self.df, -t)
        shares = [_share(largest, t) for largest in self.maxima]
        above, below, either = shares or [np.ones_like(t)] * 3
        seems_better = np.minimum(above, (others - better) * tail)
        seems_worse = np.minimum(below, better * tail)
        adjusted = np.minimum(np.minimum(either, others * tail), seems_better + seems_worse)
        p = np.maximum(adjusted, tail)  # never less than that of a single comparison
        return np.where(t > 0, np.minimum(p, 1.0), 1.0)


def _share(maxima: Floats, t: Floats) -> Floats:
    """Return the share of ordered maxima that reach t, the observed one counted along."""
    reached = len(maxima) - np.searchsorted(maxima, t, side="left")
    share: Floats = np.divide(1.0 + reached, len(maxima) + 1.0)
    return share
