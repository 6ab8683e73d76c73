"""Which measure separates runs best here? Discriminative power, and swaps between halves of the topics."""

from __future__ import annotations

import numpy as np

from confir.arguments import as_generator, as_integer, as_level
from confir.arrays import TIE, Floats, Integers
from confir.data.experiment import on_its_scheduler
from confir.data.result import Result, axis, constant, over, result
from confir.data.score_objects import ScoresSource
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import InvalidValueError, counted
from confir.measures.score_sources import as_scores
from confir.pairs.compare import compare_runs
from confir.pairs.decisions import BETTER, WORSE
from confir.resampling.clusters import Clusters
from confir.resampling.kinds import needs
from confir.resampling.replicates import Rng
from confir.resampling.sample import Knowledge

# Splits of the topics in two halves.
SPLITS_OF_TOPICS = 200

# The fewest topics, or clusters of them, that can be split into two halves of two.
FEWEST = 4


@result
class Discrimination(Result):
    """How well measures separate the runs; arrays are over measures.

    Attributes
    ----------
    measures
        Names.
    runs, pairs, topics
        Number of runs, of pairs of them, and of topics that all runs have.
    power
        Share of pairs with a significant difference, adjusted for all pairs (Sakai 2006).
    swap_rate
        Share of pairs, over splits of the topics in two halves, that are in opposite order in both
        (Voorhees & Buckley 2002); ties in a half count half.
    separated_swap_rate
        The same of the pairs with a significant difference; NaN where there is none.
    level, splits
        The test's 1 - α, and number of splits.
    """

    measures: tuple[str, ...] = axis("measure")
    runs: int = constant()
    pairs: int = constant()
    topics: Integers = over("measure")
    power: Floats = over("measure")
    swap_rate: Floats = over("measure")
    separated_swap_rate: Floats = over("measure")
    level: float = constant()
    splits: int

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "measure": TableColumn(Role.NAME),
            "power": TableColumn(Role.SHARE),
            "swap_rate": TableColumn(Role.SHARE, "swaps"),
            "separated_swap_rate": TableColumn(Role.SHARE, "swaps of separated"),
            "topics": TableColumn(Role.COUNT),
        }

    def rows(self) -> Integers:
        """Return the measures, the one that separates most pairs first."""
        return np.lexsort((self.swap_rate, -self.power))

    def note(self) -> str:
        """Return what the columns are."""
        return (
            f"power: share of {counted(self.pairs, 'pair')} of {self.runs} runs with a significant difference, "
            f"α = {1 - self.level:.10g} for all pairs at once; swaps: share of pairs in opposite order in "
            f"two halves of the topics, over {self.splits} splits; swaps of separated: the same among pairs "
            "with a significant difference"
        )


@on_its_scheduler
@needs(Knowledge.UNITS, "the comparison of measures", also=["means over repeats"])
def compare_measures(
    scores: ScoresSource,
    *,
    level: float = LEVEL,
    splits: int = SPLITS_OF_TOPICS,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> Discrimination:
    """Return how well each measure separates the runs: discriminative power and swap rates.

    Parameters
    ----------
    scores
        Scores of two runs or more by the measures to compare; anything that `as_scores` takes. By a
        design, halves are of whole clusters; of repeats, means over them are compared.
    level
        Differences are significant at 1 - level.
    splits
        Splits of the topics in two halves.
    replicates, rng
        Of the family of all pairs; seed or generator, of the splits too.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> scores = confir.evaluate(sample.qrels, sample.runs[2:5], ["AP", "RR"])
    >>> confir.compare_measures(scores, splits=20)
    Discrimination(measure: 2, runs=3, pairs=3, level=0.95)
    """
    scores = as_scores(scores)
    level, splits = as_level(level), as_integer("splits", splits)
    if len(scores.runs) < 2:
        raise InvalidValueError("there is one run; measures are compared by at least 2")
    if len(scores.topics) < 2:
        raise InvalidValueError(f"there is one topic; two halves need at least {FEWEST} topics")
    clusters = Clusters.of(scores.sampling)  # without a design, each topic is one
    if clusters.count < FEWEST:
        what = "topics" if scores.sampling.simple else "clusters"
        raise InvalidValueError(
            f"there are {clusters.count} {what}; two halves need at least {FEWEST} {what}"
        )
    generator = as_generator(rng)
    compared = compare_runs(scores, level=level, replicates=replicates, rng=generator)
    significant = np.isin(compared.verdict[0], [BETTER, WORSE])
    swaps, topics = [], []
    for m in range(len(scores.measures)):
        values = scores.values[:, :, m]
        kept = np.flatnonzero(~np.isnan(values).any(axis=1))
        topics.append(len(kept))
        if not _has_halves(clusters, kept):
            swaps.append(np.full(len(compared.first), np.nan))
            continue
        halves = _half_means(clusters.kept(kept), values[kept], splits, generator)
        swaps.append(_swap_rates(*halves, compared.first, compared.second))
    rates = np.stack(swaps, axis=1)
    with np.errstate(invalid="ignore"):
        separated = np.where(significant, rates, 0.0).sum(axis=0) / significant.sum(axis=0)
    return Discrimination(
        measures=scores.measures,
        runs=len(scores.runs),
        pairs=len(compared.first),
        topics=np.array(topics),
        power=significant.mean(axis=0),
        swap_rate=rates.mean(axis=0),
        separated_swap_rate=separated,
        level=level,
        splits=splits,
    )


def _has_halves(clusters: Clusters, kept: Integers) -> bool:
    """Whether the clusters of some topics are enough, and two or more in each stratum."""
    inside = np.zeros((len(clusters.order), 1))
    inside[kept] = 1.0
    count = clusters.by_stratum(np.minimum(clusters.totals(inside), 1.0))
    return bool(count.sum() >= FEWEST and count.min() >= 2)


def _half_means(
    clusters: Clusters, values: Floats, splits: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return means of runs over two halves of the clusters of each stratum: splits × runs."""
    totals, mass = (
        clusters.totals(values * clusters.topic_weight),
        clusters.totals(clusters.topic_weight),
    )
    means: Floats = np.zeros((2, splits, values.shape[1]))
    for block, share in zip(clusters.blocks, clusters.share.tolist(), strict=True):
        size = block.stop - block.start
        half = size // 2
        places = rng.random((splits, size)).argsort(axis=1, kind="stable")
        for side, chosen in enumerate((places[:, :half], places[:, half : 2 * half])):
            inside = np.zeros((splits, size))
            np.put_along_axis(inside, chosen, 1.0, axis=1)
            means[side] += share * (inside @ totals[block]) / (inside @ mass[block])
    return means[0], means[1]


def _swap_rates(above: Floats, below: Floats, first: Integers, second: Integers) -> Floats:
    """Return for each pair the share of splits whose halves have it in opposite order."""
    rates = np.empty(len(first))
    for run in np.unique(first):
        own = np.flatnonzero(first == run)
        signs = []
        for mean in (above, below):
            apart = mean[:, second[own]] - mean[:, [run]]
            signs.append(np.where(np.abs(apart) <= TIE, 0.0, np.sign(apart)))
        rates[own] = ((1.0 - signs[0] * signs[1]) / 2.0).mean(axis=0)
    return rates
