"""Is one run better than another? Paired differences with intervals, tests and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.frames import columns_from_records, frame_from_records
from confir.data.scores import Record, Scores
from confir.errors import InvalidValueError
from confir.intervals.catalogue import DEFAULT_LEVEL, DEFAULT_METHOD
from confir.intervals.interval import check_level
from confir.resampling.topics import DEFAULT_REPLICATES, Rng, check_replicates, own_seed
from confir.studies.comparability import (
    check_options,
    check_topics,
    warn_of_incomplete_topics,
    warn_of_replicates,
    warn_of_samples,
)
from confir.studies.corrections import adjust_p_values
from confir.studies.mean_differences import find_difference_method, mean_differences
from confir.studies.paired_tests import DEFAULT_TEST, count_wins, equivalence_p_values, find_test
from confir.studies.pairs import pair_runs
from confir.studies.run_groups import RunGroups, group_runs
from confir.studies.topic_differences import TopicDifferences
from confir.studies.verdicts import Finding, Words, judge_differences


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
    tests, p, p_adjusted, correction
        Paired tests, their p-values, those adjusted for all pairs within a measure, and how.
    verdict
        better, worse, equivalent or not shown.
    margin, p_equivalence
        Margin of equivalence, and adjusted p-values of the two one-sided t tests; or None.
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
    verdict: Words
    margin: float | None
    p_equivalence: Floats | None
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

    def finding(self, place: Place) -> Finding:
        """Return what is known of one difference."""
        pair, measure = place.pair, place.measure
        return Finding(
            str(self.verdict[place]),
            float(self.difference[pair, measure]),
            float(self.se[pair, measure]),
            float(self.low[pair, measure]),
            float(self.high[pair, measure]),
            float(self.p[place]),
            float(self.p_adjusted[place]),
            int(self.topics[pair, measure]),
        )

    def phrase(self, place: Place) -> str:
        """Return the verdict on one difference in a few words."""
        test = self.tests[place.test]
        correction = test if find_test(test).corrected else self.correction
        return self.finding(place).phrase(test, correction, self.level, self.margin)

    def sentences(self) -> list[str]:
        """Return a sentence for each difference, in the order of the records."""
        result = []
        for place in self.places():
            baseline, run = self.names(place.pair)
            said = self.finding(place).sentence(self.phrase(place), self.level)
            test = f" ({self.tests[place.test]} test)" if len(self.tests) > 1 else ""
            measure = self.measures[place.measure]
            result.append(f"{run} against {baseline} by {measure}{test}: {said}")
        return result

    def to_records(self) -> list[Record]:
        """Return a record per measure, pair and test.

        The fields: measure, baseline, run, difference, low, high, level, method, p, p_adjusted,
        test, effect_size, wins, ties, losses, verdict; with a margin also margin and p_equivalence.
        """
        effect = self.effect_size
        records: list[Record] = []
        for place in self.places():
            cell = (place.pair, place.measure)
            baseline, run = self.names(place.pair)
            record: Record = {
                "measure": self.measures[place.measure],
                "baseline": baseline,
                "run": run,
                "difference": float(self.difference[cell]),
                "low": float(self.low[cell]),
                "high": float(self.high[cell]),
                "level": self.level,
                "method": self.method,
                "p": float(self.p[place]),
                "p_adjusted": float(self.p_adjusted[place]),
                "test": self.tests[place.test],
                "effect_size": float(effect[cell]),
                "wins": int(self.wins[cell]),
                "ties": int(self.ties[cell]),
                "losses": int(self.losses[cell]),
                "verdict": str(self.verdict[place]),
            }
            if self.p_equivalence is not None:
                record["margin"] = self.margin
                record["p_equivalence"] = float(self.p_equivalence[cell])
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
        """Return the groups of runs within which no difference is shown; needs all pairs.

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
    scores: Scores,
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
        Scores of two runs or more. A pair is compared on the topics that both have.
    baseline
        The run that the others are compared with; by default all pairs are compared.
    test
        Name of a test in TESTS, or several.
    correction
        Name in CORRECTIONS; it counts the pairs within one measure and test.
    margin
        Differences smaller than this do not matter: equivalence is tested, too.
    level, method
        Confidence level and method of the intervals; 1 - level is also the tests' error.
    replicates, rng
        Number of replicates, and seed or generator.
    """
    pairs = pair_runs(scores, baseline)
    tests = [find_test(name) for name in ([test] if isinstance(test, str) else test)]
    interval_method = find_difference_method(method)
    check_options(tests, correction, margin, baseline)
    check_level(level)
    check_replicates(replicates)
    generator = np.random.default_rng(rng)
    seed = own_seed(generator)
    means, limits = mean_differences(pairs, interval_method, level, replicates, generator)
    check_topics(pairs, means, scores)
    warn_of_samples(pairs, means, scores)
    warn_of_replicates(tests, correction, means, level, replicates)
    if any(one.corrected for one in tests):
        warn_of_incomplete_topics(scores)
    p = np.stack([one.compute(pairs, means, replicates, seed) for one in tests])
    adjusted = np.stack(
        [
            part if one.corrected else adjust_p_values(part, correction)
            for one, part in zip(tests, p, strict=True)
        ]
    )
    equivalence = None
    if margin is not None:
        equivalence = adjust_p_values(equivalence_p_values(means, margin), correction)
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
        p=p,
        p_adjusted=adjusted,
        correction=correction,
        verdict=judge_differences(limits.low, limits.high, adjusted, equivalence, level),
        margin=margin,
        p_equivalence=equivalence,
        level=level,
        method=method,
        replicates=replicates,
    )
