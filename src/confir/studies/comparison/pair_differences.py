"""Differences between runs, without the decisions on them: their order, and effect sizes."""

from __future__ import annotations

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.result import Columns, Record, records_of
from confir.measures.score_sources import as_scores
from confir.studies.comparison.pair_results import (
    PairOrder,
    PairResult,
    TopicDifferences,
    order_pairs,
    turn_columns,
)


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
