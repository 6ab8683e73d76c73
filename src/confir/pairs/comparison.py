"""The result of a comparison: paired differences with intervals, tests and decisions, at any level."""

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
    result,
)
from confir.data.scores import Scores
from confir.data.table_columns import LIMITS, Role, TableColumn, TableColumns
from confir.defaults import NO_FAMILY
from confir.errors import InvalidValueError
from confir.intervals.interval import Limits
from confir.measures.score_summary import ScoreSummary
from confir.pairs.decisions import (
    NOT_COMPARED,
    OPPOSITE,
    Decision,
    Estimates,
    Words,
    find_borderline,
    give_verdicts,
)
from confir.pairs.differences import LEAST_TOPICS, MeanDifferences, limits_at
from confir.pairs.families import Adjustment, Correction, Families, PermutedRanges
from confir.pairs.next_step import next_steps
from confir.pairs.pair_results import PairDifferences, open_words, turn_columns
from confir.pairs.paired_tests import find_test
from confir.pairs.power import known_or_none
from confir.pairs.run_groups import RunGroups, group_runs
from confir.pairs.simultaneous import ComparisonFamily
from confir.pairs.verdict_words import decision_sentence, explain

# Fields of a decision that a comparison has for all differences under the same names.
_SHARED_FIELDS = (
    *("verdict", "level", "direction", "p", "p_adjusted", "family", "margin"),
    *("topics", "borderline"),
)


class Place(NamedTuple):
    """Which difference: numbers of the test, the pair and the measure."""

    test: int
    pair: int
    measure: int


def _is_significant(record: Record) -> bool:
    return record["verdict"] in OPPOSITE


@result
class Comparison(PairDifferences):
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
        freedom, and the pair's own interval. By a model's judgements and a few human ones: the
        difference by human judgements, estimated from both.
    family, families
        all-pairs, baseline or none, and the family of each measure, whose intervals and p-values
        are simultaneous; None for single tests.
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
    step
        How near to 0 a difference is 0 up to rounding.
    flips
        Share of the sign flips of few units that give as large a difference on its side; NaN of many.
    parts, weights
        What each of few units adds to the difference, and weighs: pairs × measures × units.
    open_end
        1 where the lower simultaneous limit is 0 and excluded, -1 where the upper one is, else 0:
        the sign of the difference is significant where d ± c·se includes 0.
    ranges
        By measure, the permuted ranges of tukey-hsd where it is the only test; else None.
    borderline
        Whether another seed might change the verdict, though ten times as many were drawn if
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
        Of the model, where some topics have human judgements, too; else None.
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
    step: Floats = over("pair", "measure")
    flips: Floats = over("pair", "measure")
    parts: Floats = over("pair", "measure", "")
    weights: Floats = over("pair", "measure", "")
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
        *("measure", "run", "against", "difference", "low", "high", "level", "method", "p"),
        *("p_adjusted", "test", "family", "simultaneous_low", "simultaneous_high", "open"),
        *("effect_size", "wins", "ties", "losses", "topics", "verdict", "borderline", "reason"),
        *("detectable", "topics_needed", "topics_needed_high"),
        *("margin", "p_equivalence", "p_equivalence_adjusted", "model_topics", "weight"),
    )
    bold_means = "significant difference"
    optional_columns = ("margin", "model_topics")

    def __repr__(self) -> str:
        if self.verdict.size == 1:
            return f"Comparison({self.sentences()[0]})"
        return Result.__repr__(self)

    def derived(self) -> Iterator[Variable]:
        """Yield effect sizes, open ends, reasons of verdicts, next steps, and the margin if any."""
        yield Variable("open", ("pair", "measure"), open_words(self.open_end))
        yield Variable("effect_size", ("pair", "measure"), self.effect_size)
        yield Variable("reason", ("test", "pair", "measure"), self.reasons)
        steps, along = next_steps(self), ("pair", "measure")
        yield Variable("detectable", along, known_or_none(steps.detectable))
        yield Variable("topics_needed", along, known_or_none(steps.needed, int))
        yield Variable("topics_needed_high", along, known_or_none(steps.needed_high, int))
        if self.margin is not None:
            yield Variable("margin", (), self.margin)
        if self.scores.corrected:
            yield Variable("model_topics", (), self.scores.model_topics)

    def table_columns(self) -> TableColumns:
        """Return how the columns read; what is the same for all pairs is left out.

        Of several comparisons, the adjusted p-values alone decide: those of single ones stay in the records.
        """
        limits = LIMITS if self.family == NO_FAMILY else ("simultaneous_low", "simultaneous_high")
        ends = (*limits, "open")
        columns = {
            **dict.fromkeys(("measure", "run", "against", "test"), TableColumn(Role.NAME)),
            "verdict": TableColumn(Role.VERDICT, others=("borderline",), bold=_is_significant),
            "difference": TableColumn(Role.DIFFERENCE, others=ends, bold=_is_significant),
            "p": TableColumn(Role.P),
            "p_adjusted": TableColumn(Role.P, "adj. p"),
            "p_equivalence": TableColumn(Role.P, "p equiv."),
            "p_equivalence_adjusted": TableColumn(Role.P, "adj. p equiv."),
            "effect_size": TableColumn(Role.NUMBER, "d_z", format=".2f"),
            "wins": TableColumn(Role.WINS, "w/t/l", ("ties", "losses")),
        }
        shown = {
            "against": self.baseline is None,
            "test": len(self.tests) > 1,
            "p": not self.is_adjusted,
            "p_adjusted": self.is_adjusted,
            "p_equivalence": self.p_equivalence is not None and not self.is_equivalence_adjusted,
            "p_equivalence_adjusted": self.is_equivalence_adjusted,
        }
        return {name: column for name, column in columns.items() if shown.get(name, True)}

    @property
    def is_adjusted(self) -> bool:
        """Whether p-values were adjusted: for more than one pair, and not within the test itself."""
        itself = all(find_test(test).corrected for test in self.tests)
        return bool(self.tested.max() > 1) and self.correction != "none" and not itself

    @property
    def is_equivalence_adjusted(self) -> bool:
        """Whether equivalence was tested for several pairs, identical runs among them, and adjusted."""
        if self.p_equivalence is None or self.correction == "none":
            return False
        return bool((np.sum(~np.isnan(self.p_equivalence), axis=0) > 1).any())

    @property
    def by_flips(self) -> bool:
        """Whether clusters are so few that sign flips of whole clusters decide."""
        return any(family.by_flips for family in self.families or ())

    @property
    def is_simultaneous(self) -> bool:
        """Whether the intervals of verdicts are simultaneous for several pairs."""
        together = self.families is not None or self.ranges is not None
        return together and bool(self.tested.max() > 1)

    def rows(self) -> Integers:
        """Return the rows of the records, by measure, best pair first."""
        return self.order.rows(len(self.tests))

    def to_dict(self) -> Columns:
        """Return the records as columns; without a baseline, the better run of a pair comes first."""
        order = self.order
        turned = np.repeat(order.turned.T.reshape(-1), len(self.tests))[self.rows()]
        return turn_columns(Result.to_dict(self), turned)

    def places(self) -> Iterator[Place]:
        """Yield the differences by measure, then pair in the order of the records, then test."""
        for measure, pairs in enumerate(self.order.places.tolist()):
            for pair in pairs:
                for test in range(len(self.tests)):
                    yield Place(test, pair, measure)

    @property
    def means(self) -> MeanDifferences:
        """The mean differences, as the decisions rest on them."""
        return MeanDifferences(*(getattr(self, name) for name in MeanDifferences._fields))

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
    def estimates(self) -> Estimates:
        """The differences with the limits that verdicts rest on."""
        return Estimates(self.difference, *self.limits, self.means.constant, self.open_end)

    @property
    def reasons(self) -> Any:
        """What intervals and verdicts leave open, in words: tests × pairs × measures."""
        return explain(self.every)

    @property
    def every(self) -> Decision:
        """The decisions on all differences: arrays that broadcast to tests × pairs × measures."""
        runs = np.array(self.runs, object)
        corrected: Any = [
            name if find_test(name).corrected else self.correction for name in self.tests
        ]
        fields: dict[str, Any] = {name: getattr(self, name) for name in _SHARED_FIELDS}
        fields |= {
            "baseline": runs[self.first][:, None],
            "run": runs[self.second][:, None],
            **self.estimates._asdict(),
            "test": np.array(self.tests, object)[:, None, None],
            "pairs": self.tested,
            "correction": np.array(corrected, object)[:, None, None],
            "resampled": self.scores.resampled,
            "unit": self.scores.unit_name,
        }
        return Decision(**fields)

    def decision(self, place: Place, *, turned: bool = False) -> Decision:
        """Return the decision on one difference; turned, that of the first run from the second."""
        shape = self.verdict.shape
        found = Decision(*(np.broadcast_to(np.asarray(x), shape).item(*place) for x in self.every))
        return found.turned() if turned else found

    @property
    def options(self) -> dict[str, Any]:
        """How the runs were compared, as keywords of `compare_runs` besides the baseline and the seed."""
        by = {"family": self.family} if self.correction is None else {"correction": self.correction}
        names = ("margin", "level", "method", "replicates")
        return {"test": self.tests, **by, **{name: getattr(self, name) for name in names}}

    def at(self, level: float) -> Comparison:
        """Return the comparison at another level: limits and verdicts; p-values are the same.

        Nothing is tested or resampled again. Intervals must be by a method that takes the standard
        error alone, as the default does; of others, what they need is not kept.
        """
        level = as_level(level)
        own = limits_at(self.means, self.method, level)
        simultaneous = self.adjustment.limits(self.means, level)
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
            changed.estimates,
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
        return list(map(self.sentence, self.places()))

    def sentence(self, place: Place) -> str:
        """Return a sentence for one difference; without a baseline, of the better run."""
        turned = bool(self.order.turned[place[1:]])
        return decision_sentence(self.decision(place, turned=turned), self.measure_name(place))

    def measure_name(self, place: Place) -> str:
        """Return the measure of a difference; of several tests, with the test."""
        by = f" by the {find_test(self.tests[place.test]).title}" if len(self.tests) > 1 else ""
        return f"{self.measures[place.measure]}{by}"

    def pair_verdicts(self, measure: int = 0) -> list[str]:
        """Return the first test's verdict on each pair; those that share too few topics have none."""
        compared = self.topics[:, measure] >= LEAST_TOPICS
        words: list[str] = np.where(compared, self.verdict[0, :, measure], NOT_COMPARED).tolist()
        return words

    def verdicts_against(self, run: int, measure: int = 0) -> dict[int, str]:
        """Return the verdict on each other run against one: whether that one is better than it."""
        words = self.pair_verdicts(measure)
        sides = zip(self.first.tolist(), self.second.tolist(), words, strict=True)
        return {
            first if second == run else second: word if second == run else OPPOSITE.get(word, word)
            for first, second, word in sides
            if run in (first, second)
        }

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
