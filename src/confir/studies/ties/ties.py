"""How far do scores depend on the order of tied documents? Lowest, expected and highest means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Unpack, cast

import numpy as np

from confir.arrays import Floats
from confir.data.experiment import Experiment, ReadingOptions, ReadingRules, takes_rules
from confir.data.files import PathLike
from confir.data.lists.ranked_lists import RankedLists
from confir.data.lists.rankings import Rankings, stack_rankings
from confir.data.lists.tied_lists import TiedRankings, TieGroups, tie_groups, tied_rankings
from confir.data.qrels import Qrels
from confir.data.result import axis, over, result
from confir.data.run import Run
from confir.data.scores import Scores
from confir.measures.measure import Compute, Measure
from confir.measures.scored_lists import ScoredLists, read_scored_lists
from confir.measures.ties import extreme_lists
from confir.parallel import Progress, run_in_threads
from confir.studies.unjudged.compared_means import BoundedMeans


@result
class TieBounds(BoundedMeans):
    """Means with ties broken by docid, and the lowest, expected and highest over all orders.

    Attributes
    ----------
    runs, measures
        Names.
    scores
        The scores with ties broken by docid, descending, as trec_eval does.
    lowest_scores, expected_scores, highest_scores
        Over all orders of the tied documents of each list; all orders are equally probable.
    tied
        Share of documents that are tied with another: runs.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    scores: Scores
    lowest_scores: Scores
    expected_scores: Scores
    highest_scores: Scores
    tied: Floats = over("run")

    beside = ("lowest", "expected", "highest")
    record_columns = (
        *("run", "measure", "topics", "mean", "lowest", "expected", "highest", "tied"),
    )

    @property
    def expected(self) -> Floats:
        """Expected means in random order: runs × measures."""
        return self.expected_scores.mean()


@takes_rules
def bound_ties(
    qrels: Experiment | Qrels | PathLike | Mapping[str, Any] | Any,
    runs: Run | PathLike | Sequence[Any] | Mapping[str, Any] | Any = None,
    measures: Any = None,
    *,
    progress: Progress | None = None,
    **rules: Unpack[ReadingOptions],
) -> TieBounds:
    """Return the lowest, expected and highest score over all orders of tied documents.

    All three are exact (McSherry & Najork 2008). Measures of subtopics raise.

    Parameters
    ----------
    qrels, runs, measures, progress, **rules
        As in `evaluate`; ``tie_precision`` says in which precision retrieval scores are equal.
    """
    return bound_scored_ties(
        read_scored_lists(qrels, runs, measures, ReadingRules(**rules), no_order, progress)
    )


def no_order(measure: Measure) -> str | None:
    """Return why a measure has no bounds over ties; None where it has."""
    if measure.definition.tied is not None:
        return None
    return "no rule for tied documents, since what one adds depends on those above it"


class TieOrders(NamedTuple):
    """The lists with their tied documents in several orders.

    Attributes
    ----------
    groups
        Groups of tied documents.
    tied
        Rankings in which a tied document stands at each rank of its group.
    extremes
        Rankings with tied documents worst first, and best first.
    """

    groups: TieGroups
    tied: TiedRankings
    extremes: tuple[Rankings, ...]


def order_tied_lists(lists: RankedLists, rules: ReadingRules, gains: str | None) -> TieOrders:
    """Return the orders of tied documents, best and worst by the gains that levels have."""
    groups = tie_groups(lists, rules.tie_precision)
    found = (stack_rankings(one.rankings()) for one in extreme_lists(lists, groups, gains))
    cut = tuple(r if rules.depth is None else r.cut(rules.depth) for r in found)
    return TieOrders(groups, tied_rankings(lists, groups, rules.depth), cut)


def bound_scored_ties(
    scored: ScoredLists, order: Callable[[str | None], TieOrders] | None = None
) -> TieBounds:
    """Return what `bound_ties` does, of lists and scores that are known already.

    Parameters
    ----------
    scored
        The lists and their scores.
    order
        Returns what `order_tied_lists` does for some gains; by default that.
    """
    lists, rules, scores = scored.lists, scored.rules, scored.scores
    order = order or partial(order_tied_lists, lists, rules)
    orders = {gains: order(gains) for gains in {m.gain_map for m in scored.measures}}

    def score(measure: Measure) -> list[Floats]:
        own = orders[measure.gain_map]
        lowest, highest = (measure(one)[:, :, 0] for one in own.extremes)
        tied = cast("Compute", measure.definition.tied)
        expected = tied(own.tied, **measure.keywords)[:, :, 0]
        # rounding may not lead outside
        return [lowest, np.clip(expected, lowest, highest), highest]

    lowest, expected, highest = (
        scored.scores_of(side) for side in zip(*run_in_threads(score, scored.measures), strict=True)
    )
    groups = next(iter(orders.values())).groups
    tied = np.repeat(groups.sizes > 1, groups.sizes)
    listed = np.repeat(np.arange(len(lists.runs)), lists.depth.sum(axis=1))
    share = np.bincount(listed, tied, len(lists.runs)) / np.maximum(lists.depth.sum(axis=1), 1)
    runs = [lists.runs.index(run) for run in scores.runs]
    return TieBounds(scores.runs, scores.measures, scores, lowest, expected, highest, share[runs])
