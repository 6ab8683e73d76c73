"""Results on pairs of runs: which pairs, their order, effect sizes, and their differences on each topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.data.result import Columns, Record, Result, Variable, over, records_of, result
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.measures.score_sources import as_scores
from confir.measures.score_summary import ScoreSummary
from confir.number_text import signed
from confir.pairs.decisions import OPPOSITE

# Differences on topics that agree to so many decimals are equal up to rounding.
DIFFERENCE_DECIMALS = 10


class PairResult(Result):
    """A result on pairs of runs, each run against its baseline.

    Attributes
    ----------
    scores
        The scores of the runs.
    first, second
        Numbers of the two runs of each pair: baseline and run.
    """

    __slots__ = ()

    scores: Scores | ScoreSummary
    first: Integers
    second: Integers

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {"pair": ("against", "run")}

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return self.scores.runs

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return self.scores.measures

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Baseline and run of each pair."""
        runs = self.runs
        places = zip(self.first.tolist(), self.second.tolist(), strict=True)
        return [(runs[first], runs[second]) for first, second in places]

    def axes(self) -> dict[str, Sequence[Any]]:
        """Return the labels along each axis; a pair is labelled by its baseline and its run."""
        return {**Result.axes(self), "pair": self.pairs, "measure": self.measures}

    def select(self, **labels: Any) -> Self:
        """Return the result for some measures and pairs; ``run`` is the second run of a pair.

        Records of all pairs name the better run first, whichever that is by the measure.

        The scores are those of the runs that are left. Numbers do not change: p-values stay
        adjusted for all pairs that were compared.
        """
        observed: dict[str, Any] = {"scores": self.scores.observed}
        chosen = Result.select(replace(self, **observed), **labels)
        used = np.union1d(chosen.first, chosen.second)
        names = [self.scores.runs[place] for place in used.tolist()]
        changes: dict[str, Any] = {
            "scores": self.scores.narrowed(chosen.scores.select(run=names)),
            "first": np.searchsorted(used, chosen.first),
            "second": np.searchsorted(used, chosen.second),
        }
        return replace(chosen, **changes)


def open_words(open_end: Integers) -> Any:
    """Return which limits are 0 and excluded, from 1 for the low and -1 for the high one."""
    return np.array([None, "low", "high"], object)[open_end]  # the last for -1


class PairOrder(NamedTuple):
    """How the pairs of a comparison are shown.

    Attributes
    ----------
    places
        Numbers of the pairs, best first: measures × pairs.
    turned
        Pairs that are shown as first run against second, because the first is the better one:
        pairs × measures.
    """

    places: Integers
    turned: Booleans

    def rows(self, inner: int = 1) -> Integers:
        """Return the rows of records ordered by measure, pair and a further axis of some size."""
        measures, pairs = self.places.shape
        starts = (np.arange(measures)[:, None] * pairs + self.places)[..., None] * inner
        rows: Integers = (starts + np.arange(inner)).reshape(-1)
        return rows


def order_pairs(
    difference: Floats, first: Integers, second: Integers, *, has_baseline: bool
) -> PairOrder:
    """Return the order of pairs: with a baseline by the difference, else by the means of the runs.

    Parameters
    ----------
    difference
        Mean of the second run less that of the first: pairs × measures.
    first, second
        Numbers of the two runs of each pair.
    has_baseline
        Whether the first run of all pairs is the baseline: no pair is turned then.
    """
    known = np.nan_to_num(difference)
    if has_baseline:
        places = np.argsort(-np.nan_to_num(difference, nan=-np.inf), axis=0, kind="stable").T
        return PairOrder(places, np.zeros(difference.shape, np.bool_))
    runs = int(max(first.max(initial=0), second.max(initial=0))) + 1
    lead = np.zeros((runs, difference.shape[1]))  # over all other runs
    np.add.at(lead, second, known)
    np.add.at(lead, first, -known)
    best_first = np.argsort(-np.round(lead, 10), axis=0, kind="stable")
    rank = np.argsort(best_first, axis=0, kind="stable")
    tied = np.abs(known) <= TIE
    turned = (known < -TIE) | (tied & (rank[first] < rank[second]))
    upper = np.where(turned, rank[first], rank[second])
    lower = np.where(turned, rank[second], rank[first])
    places = np.lexsort((lower, upper), axis=0).T
    return PairOrder(places, turned)


def _negated(values: Any) -> list[Any]:
    return [None if value is None else 0.0 - value for value in values]  # no -0.0


# Columns that say the opposite for a turned pair: the column that they are taken from, and how.
_TURNED: Mapping[str, tuple[str, Callable[[Any], list[Any]]]] = {
    "run": ("against", list),
    "against": ("run", list),
    "difference": ("difference", _negated),
    "low": ("high", _negated),
    "high": ("low", _negated),
    "simultaneous_low": ("simultaneous_high", _negated),
    "simultaneous_high": ("simultaneous_low", _negated),
    "open": ("open", lambda ends: [{"low": "high", "high": "low"}.get(end) for end in ends]),
    "effect_size": ("effect_size", _negated),
    "hedges_g": ("hedges_g", _negated),
    "share_won": ("share_won", lambda shares: [1.0 - share for share in shares]),
    "robustness_index": ("robustness_index", _negated),
    "wins": ("losses", list),
    "losses": ("wins", list),
    "verdict": ("verdict", lambda words: [OPPOSITE.get(word, word) for word in words]),
}


def turn_record(record: Record) -> Record:
    """Return a record with its two runs exchanged."""
    known = record.keys() & _TURNED.keys()
    return record | {name: _TURNED[name][1]([record[_TURNED[name][0]]])[0] for name in known}


def turn_columns(columns: Columns, turned: Booleans) -> Columns:
    """Return the columns of records, with the two runs of the turned rows exchanged."""
    if not turned.any():
        return columns
    rows = turned.tolist()
    result = dict(columns)
    for name in columns.keys() & _TURNED.keys():
        source, turn = _TURNED[name]
        other = turn(columns[source])
        pairs = zip(rows, columns[name], other, strict=True)
        result[name] = [new if turns else old for turns, old, new in pairs]
    return result


class TopicDifference(NamedTuple):
    """A topic, and by how much the run is better there than the baseline."""

    topic: str
    difference: float


@result
class TopicDifferences(PairResult):
    """The differences between runs on every topic.

    Attributes
    ----------
    scores
        The scores that were compared.
    first, second
        Numbers of the two runs of each pair: baseline and run.
    position, turned
        The place of each pair in the order of the comparison, and whether it is shown as first run
        against second, because that is the better one: pairs × measures.
    """

    scores: Scores
    first: Integers = over("pair")
    second: Integers = over("pair")
    position: Integers = over("pair", "measure")
    turned: Booleans = over("pair", "measure")

    record_columns = ("measure", "run", "against", "topic", "difference")
    row_order = ("measure", "pair", "topic")

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        names = dict.fromkeys(("measure", "run", "against", "topic"), TableColumn(Role.NAME))
        differences = TableColumn(Role.DIFFERENCE, text=lambda record: signed(record["difference"]))
        return {**names, "difference": differences}

    def note(self) -> str:
        """Return the order of the rows."""
        return "largest difference in favour of the run first"

    def axes(self) -> dict[str, Sequence[Any]]:
        """Return topics, pairs and measures."""
        return {"topic": self.scores.topics, **PairResult.axes(self)}

    @property
    def difference(self) -> Floats:
        """The run's score less the baseline's: topics × pairs × measures, NaN where one is missing."""
        difference: Floats = self.scores.values[:, self.second] - self.scores.values[:, self.first]
        return difference

    def derived(self) -> Iterator[Variable]:
        """Yield the difference on every topic."""
        yield Variable("difference", ("topic", "pair", "measure"), self.difference)

    def rows(self) -> Integers:
        """Return the rows of each measure and pair, most for the run first; missing ones left out."""
        by_pair = self.difference.transpose(2, 1, 0)
        sides = np.where(self.turned, -1.0, 1.0).T[..., None]
        inside = np.argsort(-np.round(by_pair * sides, DIFFERENCE_DECIMALS), axis=2, kind="stable")
        starts = np.arange(inside.size).reshape(inside.shape)[..., :1]
        there = ~np.isnan(np.take_along_axis(by_pair, inside, axis=2))
        pairs = np.argsort(self.position, axis=0, kind="stable").T
        measures = np.arange(len(pairs))[:, None]
        rows: Integers = (starts + inside)[measures, pairs][there[measures, pairs]]
        return rows

    def to_dict(self) -> Columns:
        """Return the records as columns; of all pairs, the better run comes first."""
        turned = np.repeat(self.turned.T.reshape(-1), len(self.scores.topics))
        return turn_columns(PairResult.to_dict(self), turned[self.rows()])

    def ordered(self, pair: int, measure: int) -> list[TopicDifference]:
        """Return the topics that both runs have, from most for the run to most against it.

        Differences that are equal up to rounding are in the order of the topics.
        """
        values = self.scores.values[:, :, measure]
        difference = values[:, self.second[pair]] - values[:, self.first[pair]]
        order = np.argsort(-np.round(difference, DIFFERENCE_DECIMALS), kind="stable")
        return [
            TopicDifference(self.scores.topics[place], float(difference[place]))
            for place in order
            if not np.isnan(difference[place])
        ]

    def extremes(
        self, pair: int, measure: int, limit: int = 3, *, turned: bool | np.bool_ = False
    ) -> tuple[list[TopicDifference], list[TopicDifference]]:
        """Return the topics with the largest differences for and against the run, largest first.

        Turned, the run is the first of the pair.
        """
        won = [entry for entry in self.ordered(pair, measure) if entry.difference > TIE]
        lost = [entry for entry in self.ordered(pair, measure) if entry.difference < -TIE]
        lost.sort(key=lambda entry: round(entry.difference, DIFFERENCE_DECIMALS))
        if turned:
            won, lost = (
                [TopicDifference(one.topic, -one.difference) for one in side]
                for side in (lost, won)
            )
        return won[:limit], lost[:limit]


class PairDifferences(PairResult):
    """A result on differences between two runs: all arrays are pairs × measures.

    Attributes
    ----------
    baseline
        The run that all others are compared with; None where all pairs are compared.
    difference, se, topics
        Mean difference, its standard error, and the topics that both runs have.
    wins, ties, losses
        Topics, or votes between both, that the run wins, ties and loses against the baseline.
    """

    __slots__ = ()

    baseline: str | None
    difference: Floats
    se: Floats
    topics: Integers
    wins: Integers
    ties: Integers
    losses: Integers

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
    def order(self) -> PairOrder:
        """The order of the pairs in records and tables: best first, the better run named first."""
        has_baseline = self.baseline is not None
        return order_pairs(self.difference, self.first, self.second, has_baseline=has_baseline)

    @property
    def effect_size(self) -> Floats:
        """Cohen's d_z: mean over standard deviation of the differences (by human judgements); NaN without any."""
        spread = self.scores.difference_spread(
            self.first, self.second, self.difference, self.se, self.topics
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            d_z: Floats = self.difference / spread
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
            share: Floats = (self.wins + self.ties / 2.0) / (self.wins + self.ties + self.losses)
        return share

    @property
    def robustness_index(self) -> Floats:
        """Topics, or votes between both, won less those lost, as a share of all: RI."""
        with np.errstate(invalid="ignore"):
            index: Floats = (self.wins - self.losses) / (self.wins + self.ties + self.losses)
        return index

    def effect_records(self) -> list[Record]:
        """Return a record of effect sizes per measure and pair."""
        names = ("topics", "effect_size", "hedges_g", "share_won", "robustness_index")
        labels = [(name, *pair) for name in self.measures for pair in self.pairs]
        measure, against, run = (list(part) for part in zip(*labels, strict=True))
        columns: Columns = {"measure": measure, "run": run, "against": against}
        columns |= {name: getattr(self, name).T.reshape(-1).tolist() for name in names}
        order = self.order
        rows = order.rows()
        ordered = {name: [column[row] for row in rows] for name, column in columns.items()}
        return records_of(turn_columns(ordered, order.turned.T.reshape(-1)[rows]))

    def topic_differences(self) -> TopicDifferences:
        """Return the difference on every topic, for each pair and measure."""
        scores, order = as_scores(self.scores, human=True), self.order
        position = np.argsort(order.places, axis=1, kind="stable").T
        return TopicDifferences(scores, self.first, self.second, position, order.turned)
