"""Is one run better than another? Paired differences with intervals, tests and decisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_generator, as_level, as_texts
from confir.arrays import Floats, Integers
from confir.data.frames import columns_from_records, frame_from_records
from confir.data.score_objects import ScoresSource, as_scores
from confir.data.scores import Record, Scores
from confir.errors import InvalidValueError
from confir.intervals.catalogue import DEFAULT_LEVEL, DEFAULT_METHOD
from confir.resampling.topics import DEFAULT_REPLICATES, Rng, check_replicates, own_seed
from confir.studies.comparability import (
    check_options,
    check_topics,
    warn_of_incomplete_topics,
    warn_of_replicates,
    warn_of_samples,
)
from confir.studies.decisions import Decision, Family, decide
from confir.studies.mean_differences import find_difference_method, mean_differences
from confir.studies.paired_tests import DEFAULT_TEST, count_wins, find_test
from confir.studies.pairs import LEAST_TOPICS, check_differences, pair_runs
from confir.studies.run_groups import RunGroups, group_runs
from confir.studies.topic_differences import TopicDifferences
from confir.studies.verdicts import Words


class Place(NamedTuple):
    """Which difference: numbers of the test, the pair and the measure."""

    test: int
    pair: int
    measure: int


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
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
    difference, se, low, high
        Mean difference over the topics that both runs have, its standard error and interval.
    topics, wins, ties, losses
        Topics that both have, and those that the run wins, ties and loses against the baseline.
    tests, p, p_adjusted, correction, tested
        Paired tests, their p-values, those adjusted for the pairs tested by a measure, how, and the
        number of those pairs by measure.
    direction
        What a test's own statistic favours: 1 the run, -1 the baseline, 0 neither.
    verdict
        better, worse, equivalent, identical or inconclusive.
    margin, p_equivalence, p_equivalence_adjusted
        Margin of equivalence, and p-values of two one-sided tests, also adjusted; or None.
    level, method, replicates
        Of the intervals; replicates also of the tests.
    """

    scores: Scores
    baseline: str | None
    first: Integers
    second: Integers
    difference: Floats
    se: Floats
    low: Floats
    high: Floats
    topics: Integers
    wins: Integers
    ties: Integers
    losses: Integers
    tests: tuple[str, ...]
    p: Floats
    p_adjusted: Floats
    correction: str
    tested: Integers
    direction: Integers
    verdict: Words
    margin: float | None
    p_equivalence: Floats | None
    p_equivalence_adjusted: Floats | None
    level: float
    method: str
    replicates: int

    def __repr__(self) -> str:
        if self.verdict.size == 1:
            return f"Comparison({self.sentences()[0]})"
        return (
            f"Comparison({len(self.first)} pairs × {len(self.measures)} measures, "
            f"level={self.level:g}, method={self.method!r}, tests={', '.join(self.tests)})"
        )

    def _repr_html_(self) -> str:
        from confir.report.notebook import notebook_html

        return notebook_html(self)

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
        """Mean difference over the standard deviation of the differences: d_z."""
        d_z: Floats = self.difference / (self.se * np.sqrt(self.topics))
        return d_z

    @property
    def hedges_g(self) -> Floats:
        """The effect size d_z without its bias for few topics: times ``1 - 3/(4(n-1) - 1)``."""
        g: Floats = self.effect_size * (1.0 - 3.0 / (4.0 * (self.topics - 1.0) - 1.0))
        return g

    @property
    def share_won(self) -> Floats:
        """Share of topics won; a tie counts half."""
        with np.errstate(invalid="ignore"):
            share: Floats = (self.wins + self.ties / 2.0) / self.topics
        return share

    @property
    def robustness_index(self) -> Floats:
        """Topics won less topics lost, as a share of all: RI."""
        with np.errstate(invalid="ignore"):
            index: Floats = (self.wins - self.losses) / self.topics
        return index

    def places(self) -> Iterator[Place]:
        """Yield the differences by measure, then pair, then test."""
        tests, pairs, measures = self.verdict.shape
        for measure in range(measures):
            for pair in range(pairs):
                for test in range(tests):
                    yield Place(test, pair, measure)

    def names(self, pair: int) -> tuple[str, str]:
        """Return baseline and run of a pair."""
        return self.runs[self.first[pair]], self.runs[self.second[pair]]

    def decision(self, place: Place) -> Decision:
        """Return the decision on one difference."""
        pair, measure = place.pair, place.measure
        test, topics = self.tests[place.test], int(self.topics[pair, measure])
        return Decision(
            verdict=str(self.verdict[place]),
            difference=float(self.difference[pair, measure]),
            low=float(self.low[pair, measure]),
            high=float(self.high[pair, measure]),
            level=self.level,
            test=test,
            direction=int(self.direction[place]),
            p=float(self.p[place]),
            p_adjusted=float(self.p_adjusted[place]),
            family=Family(
                "all-pairs" if self.baseline is None else "baseline",
                int(self.tested[measure]),
                test if find_test(test).corrected else self.correction,
            ),
            margin=self.margin,
            topics=topics,
            constant=topics >= LEAST_TOPICS and bool(np.isnan(self.se[pair, measure])),
        )

    def sentences(self) -> list[str]:
        """Return a sentence for each difference, in the order of the records."""
        result = []
        for place in self.places():
            baseline, run = self.names(place.pair)
            test = f" ({self.tests[place.test]} test)" if len(self.tests) > 1 else ""
            measure = self.measures[place.measure]
            said = self.decision(place).sentence
            result.append(f"{run} against {baseline} by {measure}{test}: {said}")
        return result

    def to_records(self) -> list[Record]:
        """Return a record per measure, pair and test.

        The fields: measure, baseline, run, difference, low, high, level, method, p, p_adjusted,
        test, effect_size, wins, ties, losses, topics, verdict, reason (empty where the numbers say
        all); with a margin also margin, p_equivalence and p_equivalence_adjusted.
        """
        effect = self.effect_size
        records: list[Record] = []
        for place in self.places():
            cell = (place.pair, place.measure)
            baseline, run = self.names(place.pair)
            decision = self.decision(place)
            record: Record = {
                "measure": self.measures[place.measure],
                "baseline": baseline,
                "run": run,
                "difference": decision.difference,
                "low": decision.low,
                "high": decision.high,
                "level": self.level,
                "method": self.method,
                "p": decision.p,
                "p_adjusted": decision.p_adjusted,
                "test": decision.test,
                "effect_size": float(effect[cell]),
                "wins": int(self.wins[cell]),
                "ties": int(self.ties[cell]),
                "losses": int(self.losses[cell]),
                "topics": decision.topics,
                "verdict": decision.verdict,
                "reason": decision.reason,
            }
            if self.p_equivalence is not None and self.p_equivalence_adjusted is not None:
                record["margin"] = self.margin
                record["p_equivalence"] = float(self.p_equivalence[cell])
                record["p_equivalence_adjusted"] = float(self.p_equivalence_adjusted[cell])
            records.append(record)
        return records

    def effect_records(self) -> list[Record]:
        """Return a record of effect sizes per measure and pair."""
        arrays = (self.effect_size, self.hedges_g, self.share_won, self.robustness_index)
        names = ("effect_size", "hedges_g", "share_won", "robustness_index")
        return [
            {
                "measure": measure,
                "baseline": self.names(pair)[0],
                "run": self.names(pair)[1],
                "topics": int(self.topics[pair, m]),
                **{name: float(array[pair, m]) for name, array in zip(names, arrays, strict=True)},
            }
            for m, measure in enumerate(self.measures)
            for pair in range(len(self.first))
        ]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the records as columns."""
        return columns_from_records(self.to_records())

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)

    def topic_differences(self) -> TopicDifferences:
        """Return the difference on every topic, for each pair and measure."""
        return TopicDifferences(self.scores, self.first, self.second)

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


def compare_runs(
    scores: ScoresSource,
    *,
    baseline: str | None = None,
    test: str | Sequence[str] = DEFAULT_TEST,
    correction: str = "holm",
    margin: float | None = None,
    level: float = DEFAULT_LEVEL,
    method: str = DEFAULT_METHOD,
    replicates: int = DEFAULT_REPLICATES,
    rng: Rng = None,
) -> Comparison:
    """Return the differences between runs with intervals, p-values and verdicts.

    Parameters
    ----------
    scores
        Scores of two runs or more, or what `as_scores` makes them of. A pair is compared on the
        topics that both have.
    baseline
        The run that the others are compared with; by default all pairs are compared.
    test
        Name of a test in TESTS, or several.
    correction
        Name in CORRECTIONS; it counts the pairs within one measure and test.
    margin
        Differences smaller than this do not matter: equivalence is tested, too.
    level, method
        Confidence level and method of the intervals; 1 - level is also the tests' α.
    replicates, rng
        Number of replicates, and seed or generator.
    """
    scores = as_scores(scores)
    tests = [find_test(name) for name in as_texts("test", test, least=0)]
    interval_method = find_difference_method(method)
    check_options(tests, correction, margin, baseline)
    if baseline is None:
        check_differences(len(scores.runs), len(scores.measures), len(tests))
    pairs = pair_runs(scores, baseline)
    level = as_level(level)
    check_replicates(replicates)
    generator = as_generator(rng)
    seed = own_seed(generator)
    means, limits = mean_differences(pairs, interval_method, level, replicates, generator)
    check_topics(pairs, means, scores)
    warn_of_samples(pairs, means, scores)
    warn_of_replicates(tests, correction, means, level, replicates)
    if any(one.corrected for one in tests):
        warn_of_incomplete_topics(scores)
    outcomes = [(one, one.compute(pairs, means, replicates, seed)) for one in tests]
    decisions = decide(outcomes, means, limits, correction=correction, margin=margin, level=level)
    wins, ties, losses = count_wins(pairs)
    return Comparison(
        scores=scores,
        baseline=baseline,
        first=pairs.first,
        second=pairs.second,
        difference=means.difference,
        se=means.se,
        low=limits.low,
        high=limits.high,
        topics=means.topics,
        wins=wins,
        ties=ties,
        losses=losses,
        tests=tuple(one.name for one in tests),
        correction=correction,
        margin=margin,
        level=level,
        method=method,
        replicates=replicates,
        **decisions._asdict(),
    )
