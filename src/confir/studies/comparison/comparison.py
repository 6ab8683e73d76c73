"""The result of a comparison: paired differences with intervals, tests and decisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_level
from confir.arrays import Booleans, Floats, Integers
from confir.data.result import (
    Columns,
    Record,
    Result,
    Variable,
    axis,
    constant,
    over,
    records_of,
    result,
)
from confir.data.scores import Scores
from confir.defaults import NO_FAMILY
from confir.errors import InvalidValueError
from confir.intervals.interval import Limits
from confir.intervals.simultaneous import ComparisonFamily
from confir.measures.evaluation import as_scores
from confir.measures.score_summary import ScoreSummary
from confir.studies.comparison.decisions import (
    Decision,
    Family,
    find_borderline,
    give_verdicts,
)
from confir.studies.comparison.effect_sizes import effect_sizes
from confir.studies.comparison.families import (
    Adjustment,
    Correction,
    Families,
    PermutedRanges,
    simultaneous_limits,
)
from confir.studies.comparison.mean_differences import (
    MeanDifferences,
    limits_at,
)
from confir.studies.comparison.pair_order import PairOrder, order_pairs, turn_columns
from confir.studies.comparison.pair_result import PairResult
from confir.studies.comparison.paired_tests import find_test
from confir.studies.comparison.reasons import Evidence, explain
from confir.studies.comparison.run_groups import RunGroups, group_runs
from confir.studies.comparison.significance import Estimates
from confir.studies.comparison.topic_differences import TopicDifferences
from confir.studies.comparison.verdicts import Words


class Place(NamedTuple):
    """Which difference: numbers of the test, the pair and the measure."""

    test: int
    pair: int
    measure: int


@result
class Comparison(PairResult):
    """Differences between runs, each run minus its baseline.

    Arrays are pairs × measures; those of p-values and verdicts tests × pairs × measures.

    Attributes
    ----------
    scores
        The scores that were compared.
    baseline
        The run that all others are compared with; None where all pairs are compared.
    first, second
        Numbers of the two runs of each pair: baseline and run.
    difference, se, df, low, high
        Mean difference over the topics that both runs have, its standard error with its degrees of
        freedom, and the pair's own interval. By a model's judgements and a few of people: the
        difference by people, estimated from both.
    family, families
        all-pairs, baseline or none, and the family of each measure, whose intervals and p-values
        hold all at once; None for single tests.
    simultaneous_low, simultaneous_high
        The interval that a family's verdict rests on; NaN for single tests.
    topics, wins, ties, losses
        Topics that both have, and those that the run wins, ties and loses against the baseline.
    identical
        Whether both runs have the same score on all of them.
    units
        Number of independent units: topics, or clusters.
    self_normalised
        Sum of the differences over the root of the sum of their squares; 0 where it does not exist.
    open_end
        1 where the lower simultaneous limit is 0 and excluded, -1 where the upper one is, else 0:
        the sign of the difference is significant where d ± c·se includes 0.
    ranges
        By measure, the permuted ranges of tukey-hsd where it is the only test; else None.
    borderline
        Whether other replicates might change the verdict, though ten times as many were drawn if
        that takes seconds: tests × pairs × measures.
    tests, p, p_error, p_adjusted, correction, tested
        Paired tests, their p-values with the Monte-Carlo errors of these, those adjusted for the pairs tested by a measure, the
        correction of single tests, and the number of those pairs by measure.
    direction
        What a test's own statistic favours: 1 the run, -1 the baseline, 0 neither.
    verdict
        better, worse, equivalent, identical or inconclusive.
    margin, p_equivalence, p_equivalence_adjusted
        Margin of equivalence, and p-values of two one-sided tests, also adjusted; or None.
    level, method, replicates
        Of the intervals; replicates also of the tests.
    weight
        Of the model, where people judged some topics beside it; else None.
    """

    scores: Scores | ScoreSummary
    baseline: str | None
    first: Integers = over("pair")
    second: Integers = over("pair")
    difference: Floats = over("pair", "measure")
    se: Floats = over("pair", "measure")
    df: Floats = over("pair", "measure")
    low: Floats = over("pair", "measure")
    high: Floats = over("pair", "measure")
    topics: Integers = over("pair", "measure")
    identical: Booleans = over("pair", "measure")
    units: Floats = over("pair", "measure")
    self_normalised: Floats = over("pair", "measure")
    wins: Integers = over("pair", "measure")
    ties: Integers = over("pair", "measure")
    losses: Integers = over("pair", "measure")
    tests: tuple[str, ...] = axis("test")
    p: Floats = over("test", "pair", "measure")
    p_error: Floats = over("test", "pair", "measure")
    p_adjusted: Floats = over("test", "pair", "measure")
    family: str = constant()
    families: tuple[ComparisonFamily, ...] | None = over("measure")
    simultaneous_low: Floats = over("pair", "measure")
    simultaneous_high: Floats = over("pair", "measure")
    open_end: Integers = over("pair", "measure")
    ranges: tuple[Floats, ...] | None = over("measure")
    correction: str | None
    tested: Integers = over("measure")
    direction: Integers = over("test", "pair", "measure")
    verdict: Words = over("test", "pair", "measure")
    borderline: Booleans = over("test", "pair", "measure")
    margin: float | None
    p_equivalence: Floats | None = over("pair", "measure")
    p_equivalence_adjusted: Floats | None = over("pair", "measure")
    level: float = constant()
    method: str = constant()
    replicates: int
    weight: Floats | None = over("pair", "measure", default=None)

    row_order = ("measure", "pair", "test")
    record_columns = (
        "measure",
        "run",
        "against",
        "difference",
        "low",
        "high",
        "level",
        "method",
        "p",
        "p_adjusted",
        "test",
        "family",
        "simultaneous_low",
        "simultaneous_high",
        "open",
        "effect_size",
        "wins",
        "ties",
        "losses",
        "topics",
        "verdict",
        "borderline",
        "reason",
        "margin",
        "p_equivalence",
        "p_equivalence_adjusted",
        "model_topics",
        "weight",
    )

    def __repr__(self) -> str:
        if self.verdict.size == 1:
            return f"Comparison({self.sentences()[0]})"
        return Result.__repr__(self)

    def derived(self) -> Iterator[Variable]:
        """Yield effect sizes, open ends, reasons of verdicts, and the margin of equivalence if any."""
        ends = np.array([None, "low", "high"], object)  # high for -1
        yield Variable("open", ("pair", "measure"), ends[self.open_end])
        yield Variable("effect_size", ("pair", "measure"), self.effect_size)
        yield Variable("reason", ("test", "pair", "measure"), self.reasons)
        if self.margin is not None:
            yield Variable("margin", (), self.margin)
        if self.scores.corrected:
            yield Variable("model_topics", (), self.scores.model_topics)

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return self.scores.runs

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return self.scores.measures

    @property
    def effect_size(self) -> Floats:
        """Mean difference over the standard deviation of the differences (people's): d_z."""
        return effect_sizes(self.scores, self.first, self.second, self.means)

    @property
    def hedges_g(self) -> Floats:
        """The effect size d_z without its bias for few topics: times ``1 - 3/(4(n-1) - 1)``."""
        g: Floats = self.effect_size * (1.0 - 3.0 / (4.0 * (self.topics - 1.0) - 1.0))
        return g

    @property
    def share_won(self) -> Floats:
        """Share of topics won; a tie counts half."""
        with np.errstate(invalid="ignore"):
            share: Floats = (self.wins + self.ties / 2.0) / self._decided
        return share

    @property
    def robustness_index(self) -> Floats:
        """Topics won less topics lost, as a share of all: RI."""
        with np.errstate(invalid="ignore"):
            index: Floats = (self.wins - self.losses) / self._decided
        return index

    @property
    def order(self) -> PairOrder:
        """The order of the pairs in records and tables: best first, the better run named first."""
        has_baseline = self.baseline is not None
        return order_pairs(self.difference, self.first, self.second, has_baseline=has_baseline)

    def rows(self) -> Integers:
        """Return the rows of the records, by measure, best pair first."""
        return self.order.rows(len(self.tests))

    def to_dict(self) -> Columns:
        """Return the records as columns; without a baseline, the better run of a pair comes first."""
        order = self.order
        turned = np.repeat(order.turned.T.reshape(-1), len(self.tests))[self.rows()]
        return turn_columns(PairResult.to_dict(self), turned)

    @property
    def _decided(self) -> Integers:
        """Topics, or votes between both, that are won, tied or lost."""
        decided: Integers = self.wins + self.ties + self.losses
        return decided

    def places(self) -> Iterator[Place]:
        """Yield the differences by measure, then pair in the order of the records, then test."""
        for measure, pairs in enumerate(self.order.places.tolist()):
            for pair in pairs:
                for test in range(len(self.tests)):
                    yield Place(test, pair, measure)

    def names(self, pair: int) -> tuple[str, str]:
        """Return baseline and run of a pair."""
        return self.runs[self.first[pair]], self.runs[self.second[pair]]

    def pair_means(self, pair: int) -> Floats | None:
        """Return the means of baseline and run over the topics that both have: 2 × measures.

        None where the difference is not that of two such means: by human and model judgements, or
        where a summary of topics does not say which topics both have.
        """
        return self.scores.pair_means(int(self.first[pair]), int(self.second[pair]))

    @property
    def means(self) -> MeanDifferences:
        """The mean differences, as the decisions rest on them."""
        return MeanDifferences(
            self.difference,
            self.se,
            self.df,
            self.topics,
            self.identical,
            self.units,
            self.self_normalised,
        )

    @property
    def adjustment(self) -> Adjustment:
        """What makes the decisions on many pairs hold together."""
        if self.ranges is not None:
            return PermutedRanges(self.ranges)
        return Correction(self.correction) if self.families is None else Families(self.families)

    @property
    def limits(self) -> Limits:
        """The limits that verdicts rest on: simultaneous in a family, else each pair's own."""
        if self.family == NO_FAMILY:
            return Limits(self.low, self.high)
        return Limits(self.simultaneous_low, self.simultaneous_high)

    @property
    def reasons(self) -> Any:
        """What intervals and verdicts leave open, in words: tests × pairs × measures."""
        corrections = [self._correction(test) for test in self.tests]
        runs = np.array(self.scores.runs, object)
        return explain(
            Evidence(
                pairs=self.tested,
                correction=np.array(corrections, object)[:, None, None],
                baseline=runs[self.first][:, None],
                run=runs[self.second][:, None],
                verdict=self.verdict,
                difference=self.difference,
                low=self.limits.low,
                high=self.limits.high,
                open=self.open_end,
                level=self.level,
                test=np.array(self.tests, object)[:, None, None],
                direction=self.direction,
                p=self.p,
                p_adjusted=self.p_adjusted,
                topics=self.topics,
                constant=self.means.constant,
                resampled=self.scores.resampled,
            )
        )

    def _correction(self, test: str) -> str | None:
        """Return what corrects single tests: the correction, or the test itself."""
        return test if find_test(test).corrected else self.correction

    def decision(self, place: Place, *, turned: bool = False) -> Decision:
        """Return the decision on one difference; turned, that of the first run from the second."""
        cell = place.pair, place.measure
        test = self.tests[place.test]
        baseline, run = self.names(place.pair)
        found = Decision(
            baseline=baseline,
            run=run,
            verdict=str(self.verdict[place]),
            difference=float(self.difference[cell]),
            low=float(self.limits.low[cell]),
            high=float(self.limits.high[cell]),
            level=self.level,
            test=test,
            direction=int(self.direction[place]),
            p=float(self.p[place]),
            p_adjusted=float(self.p_adjusted[place]),
            family=Family(self.family, int(self.tested[place.measure]), self._correction(test)),
            margin=self.margin,
            topics=int(self.topics[cell]),
            constant=bool(self.means.constant[cell]),
            open=int(self.open_end[cell]),
            borderline=bool(self.borderline[place]),
            resampled=self.scores.resampled,
        )
        return found.turned() if turned else found

    def at(self, level: float) -> Comparison:
        """Return the comparison at another level: limits and verdicts; p-values are the same.

        Nothing is tested or resampled again. Intervals must be by a method that takes the standard
        error alone, as the default does; of others, what they need is not kept.
        """
        level = as_level(level)
        own = limits_at(self.means, self.method, level)
        simultaneous = simultaneous_limits(self.adjustment, self.means, level)
        changed = replace(
            self,
            level=level,
            low=own.low,
            high=own.high,
            simultaneous_low=simultaneous.low,
            simultaneous_high=simultaneous.high,
            open_end=simultaneous.open,
        )
        verdict = give_verdicts(
            Estimates(self.difference, *changed.limits, self.means.constant, open=changed.open_end),
            self.direction,
            self.p_adjusted,
            level,
            self.identical,
            self.p_equivalence_adjusted,
        )
        tested = [find_test(test) for test in self.tests]
        unclear = find_borderline(
            list(zip(tested, self.p, self.p_error, strict=True)),
            self.means,
            self.adjustment,
            verdict,
            level,
        )
        return replace(changed, verdict=verdict, borderline=unclear)

    def sentences(self) -> list[str]:
        """Return a sentence for each difference, in the order of the records."""
        result = []
        turned = self.order.turned
        for place in self.places():
            decision = self.decision(place, turned=bool(turned[place.pair, place.measure]))
            test = f" by the {find_test(self.tests[place.test]).title}"
            measure = self.measures[place.measure] + (test if len(self.tests) > 1 else "")
            result.append(decision.in_words(measure))
        return result

    def effect_records(self) -> list[Record]:
        """Return a record of effect sizes per measure and pair."""
        arrays = {
            "topics": self.topics,
            "effect_size": self.effect_size,
            "hedges_g": self.hedges_g,
            "share_won": self.share_won,
            "robustness_index": self.robustness_index,
        }
        pairs, measures = self.difference.shape
        labels = [pair for _ in range(measures) for pair in self.pairs]
        columns: Columns = {
            "measure": [measure for measure in self.measures for _ in range(pairs)],
            "run": [run for _, run in labels],
            "against": [against for against, _ in labels],
            **{name: array.T.reshape(-1).tolist() for name, array in arrays.items()},
        }
        order = self.order
        rows = order.rows()
        ordered = {name: [column[row] for row in rows] for name, column in columns.items()}
        return records_of(turn_columns(ordered, order.turned.T.reshape(-1)[rows]))

    def topic_differences(self) -> TopicDifferences:
        """Return the difference on every topic, for each pair and measure."""
        scores, order = as_scores(self.scores, human=True), self.order
        position = np.argsort(order.places, axis=1, kind="stable").T
        return TopicDifferences(scores, self.first, self.second, position, order.turned)

    def group_runs(self, test: str | None = None) -> RunGroups:
        """Return the groups of runs without a significant difference within; needs all pairs.

        Parameters
        ----------
        test
            One of the comparison's tests; by default the first.
        """
        if self.baseline is not None:
            raise InvalidValueError("groups of runs need all pairs: compare without a baseline")
        chosen = 0 if test is None else self.tests.index(find_test(test).name)
        return group_runs(self.scores, self.first, self.second, self.verdict[chosen])
