"""Human and model judgements of topics in several datasets, each of which is corrected by itself.

A model may judge one dataset well and another badly: each has its own corrected mean with its own weight of
the model. Fixed datasets are independent samples, whose variances add up; random ones are the units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.data.sampling_designs.judged_scores import JudgedScores
from confir.errors import InvalidValueError
from confir.resampling.cluster_distribution import summed_df
from confir.resampling.distribution import Fields, SamplingDistribution, SamplingScheme
from confir.resampling.judged_sample import JudgedSample
from confir.resampling.pair_draws import Moves, PairBlocks, PairDraws
from confir.resampling.replicates import draw_topics
from confir.resampling.sample import Sample
from confir.resampling.studentised_maxima import sizes_in_memory

_PROVIDED = frozenset({"se", "replicates", "replicate_se"})


class DatasetDraws(NamedTuple):
    """What replicates draw.

    Attributes
    ----------
    parts
        What each of fixed datasets draws.
    datasets
        Share of each of random datasets: replicates × datasets.
    """

    parts: tuple[Any, ...]
    datasets: Floats | None


@dataclass(frozen=True, slots=True, eq=False)
class JudgedDatasets(Sample):
    """Means over datasets of means that human judgements correct, or differences between them.

    Attributes
    ----------
    support
        As in `Sample`.
    parts
        The sample of each dataset, with the same columns.
    random
        Whether datasets are a sample of datasets like these.
    words
        The design in words.
    """

    support: Booleans = field()
    parts: tuple[JudgedSample, ...]
    random: bool
    words: str

    knowledge: ClassVar = JudgedSample.knowledge
    kind: ClassVar = "scores by human and model judgements on datasets"
    reason: ClassVar = JudgedSample.reason
    provided: ClassVar = _PROVIDED

    @classmethod
    def of(cls, scores: JudgedScores, make: Callable[[JudgedScores], JudgedSample]) -> Self:
        """Return the sample of scores on several datasets, that of each of which ``make`` makes."""
        design = scores.dataset_design
        if design.random_datasets and len(scores.datasets) < 2:
            raise InvalidValueError("there is one dataset; expected at least 2 that are a sample")
        parts = tuple(make(scores.on_dataset(name)) for name in scores.datasets)
        means = scores.mean().reshape(-1)
        inside = np.all([part.support for part in parts], axis=0) & (means > 0.0) & (means < 1.0)
        shape = len(scores.runs), len(scores.measures)
        return cls(parts[0].labels, shape, inside, parts, design.random_datasets, design.describe())

    @property
    def scheme(self) -> SamplingScheme:
        """The design of the datasets."""
        return SamplingScheme(self.words)

    @property
    def topics(self) -> int:
        """Number of human-judged topics, of all datasets."""
        return sum(part.topics for part in self.parts)

    @property
    def rows(self) -> int:
        """Numbers held per column."""
        return sum(part.rows for part in self.parts)

    @property
    def largest_df(self) -> float:
        """The most degrees of freedom that a difference between columns can have."""
        return len(self.parts) - 1.0 if self.random else sum(p.largest_df for p in self.parts)

    def unit_counts(self, counts: Integers) -> Floats:
        """Return the number of datasets that are a sample, else of the units of all of them."""
        if self.random:
            return np.full(counts.shape, float(len(self.parts)))
        own = [part.unit_counts(np.array([part.topics]))[0] for part in self.parts]
        return np.full(counts.shape, float(sum(own)))

    def draw(self, replicates: int, rng: np.random.Generator, needs: Fields = ()) -> DatasetDraws:
        """Return the topics of each dataset in replicates; of random datasets, which are drawn whole."""
        if self.random:
            return DatasetDraws((), draw_topics(len(self.parts), replicates, rng).shares())
        return DatasetDraws(tuple(part.draw(replicates, rng, needs) for part in self.parts), None)

    def distribution(
        self, columns: slice, weights: DatasetDraws | None, needs: Fields = _PROVIDED
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns."""
        number = len(self.parts)
        drawn = (None,) * number if weights is None or self.random else weights.parts
        own = [
            part.distribution(columns, d, needs) for part, d in zip(self.parts, drawn, strict=True)
        ]
        means = np.stack([each.estimate for each in own])
        if self.random:
            variance = means.var(axis=0, ddof=1) / number
            df = np.full(len(variance), number - 1.0)
        else:
            squares = np.stack([np.square(each.require("se")) for each in own])
            variance = squares.sum(axis=0) / number**2
            found = summed_df(squares, np.stack([each.df for each in own]))
            df = np.where(np.isfinite(found), found, self.largest_df)
        fields = {} if weights is None else _replicate_fields(own, weights.datasets, needs)
        return SamplingDistribution(
            labels=self.labels[columns],
            estimate=means.mean(axis=0),
            count=np.full(means.shape[1], self.topics),
            df=df,
            support=self.support[columns],
            resampled=frozenset({"topics"}),
            se=np.sqrt(variance),
            independent=False,
            **fields,
        )

    def with_values(self, change: Callable[[Floats], Floats]) -> Self:
        """Return the sample of changed scores of both judges on each dataset."""
        return replace(self, parts=tuple(part.with_values(change) for part in self.parts))

    def dataset_means(self) -> Floats:
        """Return the corrected means of each dataset: datasets × columns."""
        return np.stack([part.values.corrected().mean for part in self.parts])

    def _contrast(self, plus: Integers, minus: Integers) -> Self:
        """Return corrected differences, each with a weight of the model of its own on each dataset."""
        differences = tuple(part.contrast(plus, minus) for part in self.parts)
        labels, support = differences[0].labels, differences[0].support
        return replace(
            self, labels=labels, shape=(len(labels),), support=support, parts=differences
        )

    def chosen(self, columns: Any) -> Self:
        """Return some columns, as a one-dimensional sample."""
        parts = tuple(part.chosen(columns) for part in self.parts)
        labels, support = parts[0].labels, self.support[columns]
        return replace(self, labels=labels, shape=(len(labels),), support=support, parts=parts)

    def extremes(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest difference by human judgements of each column of a contrast."""
        least, most = zip(*(part.extremes() for part in self.parts), strict=True)
        return np.min(least, axis=0), np.max(most, axis=0)

    def wins(self) -> tuple[Integers, Integers, Integers]:
        """Return on how many of the human-judged topics differences of a contrast are above, at and below 0."""
        above, level, below = (
            np.sum(counts, axis=0)
            for counts in zip(*(part.wins() for part in self.parts), strict=True)
        )
        return above, level, below

    @property
    def model_weight(self) -> Floats | None:
        """The mean weight of the model over datasets."""
        weights: Floats = np.mean([part.values.corrected().weight for part in self.parts], axis=0)
        return weights

    def pair_draws(self, replicates: int, rng: np.random.Generator) -> PairBlocks:
        """Yield corrected differences between all columns in replicates, and how many these are.

        There are none where a dataset has none, as of clusters: Bonferroni's t is used.
        """
        units = float(self.unit_counts(np.array([self.topics]))[0])
        for size in sizes_in_memory(replicates, self.rows, len(self.labels)):
            if self.random:
                drawn = np.ascontiguousarray(draw_topics(len(self.parts), size, rng).shares().T)
                yield DrawnDatasets(self, drawn), size
                continue
            found = [next(part.pair_draws(size, rng), None) for part in self.parts]
            own = tuple(each[0] for each in found if each is not None)
            if len(own) < len(found):
                return
            yield AddedDraws(own, units), size


def _replicate_fields(
    parts: Sequence[SamplingDistribution], datasets: Floats | None, needs: Fields
) -> dict[str, Any]:
    """Return means of replicates, and their standard errors if needed: replicates × columns.

    Of drawn datasets, whose shares are given, or of those on each dataset.
    """
    if datasets is not None:
        means = np.stack([each.estimate for each in parts])
        centred = means - means.mean(axis=0)
        moved = datasets @ centred
        replicates = means.mean(axis=0) + moved
        variance = datasets @ np.square(centred) - np.square(moved)
        replicate_se = np.sqrt(np.maximum(variance, 0.0) / (len(parts) - 1.0))
    else:
        replicates = np.mean([each.require("replicates") for each in parts], axis=0)
        replicate_se = None
        if "replicate_se" in needs:
            errors = [np.square(each.require("replicate_se")) for each in parts]
            replicate_se = np.sqrt(np.sum(errors, axis=0)) / len(parts)
    return {
        "replicates": np.asfortranarray(replicates),
        "replicate_se": replicate_se,
        "dropped": np.isnan(replicates).sum(axis=0),
    }


@dataclass(frozen=True, slots=True, eq=False)
class AddedDraws(PairDraws):
    """Differences between means over fixed datasets, whose topics are drawn.

    Attributes
    ----------
    parts
        Differences on each dataset.
    units
        Number of independent units of all datasets.
    """

    parts: tuple[PairDraws, ...]
    units: float

    @property
    def runs(self) -> int:
        """Number of runs."""
        return self.parts[0].runs

    def moves(self, run: int, others: Integers, block: slice) -> Moves:
        """Return how far the differences of other runs from one move in a block of replicates."""
        shape = len(others), block.stop - block.start
        varies, (deviation, variance) = np.zeros(shape[0], np.bool_), np.zeros((2, *shape))
        for part in self.parts:
            found = part.moves(run, others, block).of_means()
            varies |= found.varies
            deviation[found.varies] += found.deviation / len(self.parts)
            variance[found.varies] += found.variance / len(self.parts) ** 2
        return Moves(varies, deviation[varies], variance[varies], self.units, 1.0 / self.units)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnDatasets(PairDraws):
    """Differences between means over random datasets, which are drawn whole.

    Attributes
    ----------
    sample
        The means of the runs.
    weights
        Share of each dataset: datasets × replicates.
    """

    sample: JudgedDatasets
    weights: Floats

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.sample.labels)

    def moves(self, run: int, others: Integers, block: slice) -> Moves:
        """Return how far the differences of other runs from one move in a block of replicates."""
        means = self.sample.contrast(others, np.full(len(others), run)).dataset_means().T
        varies = np.ptp(means, axis=1) > TIE
        centred = (means - means.mean(axis=1, keepdims=True))[varies]
        units, weights = float(means.shape[1]), self.weights[:, block]
        deviation = centred @ weights
        variance = np.maximum(np.square(centred) @ weights - np.square(deviation), 0.0)
        scale = units / (units - 1.0)
        return Moves(
            varies, np.sqrt(scale) * deviation, variance / (units - 1.0), units, 1.0 / units
        )
