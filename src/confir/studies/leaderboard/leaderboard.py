"""The leaderboard of runs over many datasets: macro means, ranks and Borda counts, and which run is best."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from confir.arrays import Booleans, Floats, Integers, best_first
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.errors import counted, enumerate_names
from confir.number_text import number_text
from confir.pairs.next_step import Lead

# Decimals of numbers in sentences.
_SAID_DECIMALS = 3


@result
class Leaderboard(Result):
    """Runs over many datasets by one measure; arrays are over runs unless stated.

    Attributes
    ----------
    runs, datasets
        Names.
    measure, level
        The measure, and the confidence level of all intervals.
    sampling
        "fixed": about these datasets; "random": about datasets like these.
    topics
        Topics of each dataset; 0 where its means alone are known. Where human judgements correct a
        model's, the human-judged ones.
    mean, low, high
        Of each run on each dataset, with the interval over its topics: datasets × runs.
    macro, macro_low, macro_high
        Mean over datasets that count alike, with its interval.
    rank, rank_low, rank_high
        By the macro mean, with simultaneous limits.
    borderline
        Whether another seed might change a limit of the rank, or whether the next run is
        separable.
    borda, borda_rank, borda_low, borda_high
        Borda count as MTEB has it, its rank, and the middle part of the rank in replicates.
    gap, gap_low, gap_high, may_be_best, best_borderline, share_first
        Whether the run may have the highest macro mean, whether another seed might change that, and
        its distance from the best of the others, as in `BestRuns`: this alone says which run is best.
    pairs, significant, smallest
        Pairs of runs, those that differ significantly in the family of all pairs, and the smallest
        difference among these; NaN if there is none.
    ruled_out
        Runs that are not the best, though their pair with the best run is inconclusive: which run is best
        takes fewer comparisons, one-sided.
    p_next, separable
        p-value that the run's macro mean is that of the next run in the ranking, adjusted for all
        pairs of runs, and whether it is significantly higher; NaN and False for the last run.
    replicates
        Number of replicates.
    cells
        Number of datasets that each run has; None where all have all of them. Where a run lacks some,
        macro means, ranks and p-values are by an additive model of run and dataset, and Borda counts
        have its predictions in place of the missing cells.
    lead
        Of the best run over the next one that may be the best, with the next step, if any.
    model_topics
        Topics of each dataset that only a model judged; None where there is one judge.
    dataset_measures
        The main score of each dataset, where these are different measures; else None.
    complete_rank, complete_rank_low, complete_rank_high
        Ranks among the runs that have all datasets, without the model; 0 for other runs.
    """

    runs: tuple[str, ...] = axis("run")
    datasets: tuple[str, ...] = axis("dataset")
    measure: str = constant()
    topics: Integers = over("dataset")
    mean: Floats = over("dataset", "run")
    low: Floats = over("dataset", "run")
    high: Floats = over("dataset", "run")
    macro: Floats = over("run")
    macro_low: Floats = over("run")
    macro_high: Floats = over("run")
    rank: Integers = over("run")
    rank_low: Integers = over("run")
    rank_high: Integers = over("run")
    borderline: Booleans = over("run")
    borda: Floats = over("run")
    borda_rank: Integers = over("run")
    borda_low: Integers = over("run")
    borda_high: Integers = over("run")
    gap: Floats = over("run")
    gap_low: Floats = over("run")
    gap_high: Floats = over("run")
    may_be_best: Booleans = over("run")
    best_borderline: Booleans = over("run")
    share_first: Floats = over("run")
    p_next: Floats = over("run")
    separable: Booleans = over("run")
    sampling: str = constant()
    level: float = constant()
    replicates: int
    pairs: int
    significant: int
    smallest: float
    ruled_out: tuple[str, ...] = ()
    lead: Lead | None = None
    dataset_measures: tuple[str, ...] | None = over(
        "dataset", column="dataset_measure", default=None
    )
    cells: Integers | None = over("run", default=None)
    complete_rank: Integers | None = over("run", default=None)
    complete_rank_low: Integers | None = over("run", default=None)
    complete_rank_high: Integers | None = over("run", default=None)
    model_topics: Integers | None = over("dataset", default=None)

    row_order = ("run", "dataset")

    def derived(self) -> Iterator[Variable]:
        """Yield the numbers of topics, None where they are not known."""
        counts = [None if number == 0 else number for number in self.topics.tolist()]
        yield Variable("topics", ("dataset",), counts)
        for name in ("complete_rank", "complete_rank_low", "complete_rank_high"):
            ranks = getattr(self, name)
            if ranks is not None:
                yield Variable(name, ("run",), [rank or None for rank in ranks.tolist()])

    @property
    def order(self) -> list[int]:
        """The runs by their macro mean, best first."""
        return best_first(self.macro)

    @property
    def about(self) -> str:
        """What conclusions are about, in words."""
        return "datasets like these" if self.sampling == "random" else "these datasets"

    def rows(self) -> Integers:
        """Return the rows of the records: best run first."""
        datasets = np.arange(len(self.datasets))
        rows: Integers = (np.array(self.order)[:, None] * len(datasets) + datasets).reshape(-1)
        return rows

    def sentence(self) -> str:
        """Return which runs may be the best over the datasets, as a sentence without its full stop."""
        datasets = counted(len(self.datasets), "dataset")
        first = self.order[0]
        if len(self.runs) == 1:
            return f"{self.runs[0]} is the only run on {datasets}"
        runs = counted(len(self.runs), "run")
        about = f"on {self.about} ({100 * self.level:g}% confidence)"
        members = int(self.may_be_best.sum())
        if members == 1:
            return f"{self.runs[first]} is the best of the {runs} by mean {self.measure} {about}"
        three = self.macro[first], self.macro_low[first], self.macro_high[first]
        mean = number_text(*map(float, three), decimals=_SAID_DECIMALS)
        which = "each" if members == len(self.runs) else f"{members:,}"
        leaders = [self.runs[run] for run in self.order if self.rank[run] == 1]
        named = " and ".join(leaders) if len(leaders) < 3 else enumerate_names(leaders, 3)
        have = "has" if len(leaders) == 1 else "have"
        return (
            f"{named} {have} the highest mean {self.measure} over {datasets}, {mean}; "
            f"{which} of the {runs} may be the best {about}"
        )
