"""The interface of all kinds of samples: estimates over independent units, one column per run and measure.

A kind of sample (plain scores, clusters, human and model judgements, repeats, tables beyond memory, …)
is one class derived from `Sample`. Verbs use this interface alone; `confir.resampling.kinds.as_sample`
is the one function that knows which kind it has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.data.common_topics import LEAST_COMMON_TOPICS
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    UnsupportedMethodError,
    enumerate_names,
)
from confir.resampling.distribution import (
    Fields,
    Labels,
    Resampled,
    SamplingDistribution,
    SamplingScheme,
)

if TYPE_CHECKING:
    from confir.resampling.pair_draws import PairBlocks


class Knowledge(StrEnum):
    """What is known of a sample; methods, tests and studies declare what they need of it."""

    COVARIANCE = "the variance of every difference between runs"
    TOPICS = "the score on each topic"
    UNITS = "the scores of independent topics or clusters"
    DRAWS = "replicates of the estimates"
    TOPIC_VARIANCE = "the variance over a sample of topics"
    SIGNS = "the number of topics won and lost, of one simple random sample"
    VALUES = "the score on each topic, of one simple random sample"
    COLLECTIONS = "scores on collections that resample_documents draws"


# With fewer clusters, decisions flip the signs of whole clusters instead of relying on t.
FEW_CLUSTERS = 10

# Up to so many units, families of comparisons look at all sign flips.
MOST_FLIPPED = 12


class UnitParts(NamedTuple):
    """What independent units add to differences, whose signs are flipped: columns × units.

    Attributes
    ----------
    parts, weights
        A difference is the sum of its parts; less a bound, that of the parts less the bound times the
        weights, whose sum is 1. Units without scores add 0 and weigh 0.
    """

    parts: Floats
    weights: Floats


class MeasureSample(NamedTuple):
    """The runs by one measure, on the topics that all of them have.

    Attributes
    ----------
    scored
        Which of the runs have scores; the sample holds these alone.
    sample
        One column per run that has scores.
    topics
        Number of topics that some run has.
    """

    scored: Booleans
    sample: Sample
    topics: int


@dataclass(frozen=True, slots=True, eq=False)
class Sample(ABC):
    """Estimates over independent units, one column per run and measure, runs before measures.

    A kind states its constants, and overrides the properties whose defaults are not its own.

    Attributes
    ----------
    labels
        (run, measure) of each column.
    shape
        The columns' shape in results: runs × measures, or that of an array.
    knowledge
        What is known of this kind of sample.
    kind
        What it is, in words for messages.
    independent
        Whether topics are one simple random sample.
    over
        What is resampled.
    threaded
        Whether its columns are best taken by threads of this process: little is left to do.
    reason
        Why what is not known of it is not known, in words.
    spends_df
        Whether an estimate takes several degrees of freedom of its topics, by parameters of its own.
    """

    labels: Labels
    shape: tuple[int, ...]

    knowledge: ClassVar[frozenset[Knowledge]]
    kind: ClassVar[str]
    independent: ClassVar[bool] = False
    over: ClassVar[Resampled] = "topics"
    threaded: ClassVar[bool] = False
    reason: ClassVar[str] = ""
    spends_df: ClassVar[bool] = False

    @property
    @abstractmethod
    def support(self) -> Booleans:
        """Columns whose estimate lies in [0, 1]; a kind that holds them has a field in place of this."""

    @property
    @abstractmethod
    def provided(self) -> frozenset[str]:
        """The fields that its distributions have."""

    @property
    def scheme(self) -> SamplingScheme:
        """How its units are drawn: here, topics one by one."""
        return SamplingScheme()

    @property
    def averages(self) -> bool:
        """Whether estimates are means of topics that are drawn one by one."""
        return False

    @property
    def model_weight(self) -> Floats | None:
        """The weight of a model in each column; None where there is one judge."""
        return None

    @property
    @abstractmethod
    def topics(self) -> int:
        """Number of topics; of those with human judgements, where a model judged others."""

    @property
    def rows(self) -> int:
        """Numbers held per column; 0 where memory does not grow with the topics."""
        return self.topics

    @abstractmethod
    def draw(self, replicates: int, rng: np.random.Generator, needs: Fields = ()) -> Any:
        """Return what replicates draw; `distribution` takes it."""

    @abstractmethod
    def distribution(
        self, columns: slice, weights: Any, needs: Fields = ...
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns.

        Parameters
        ----------
        columns
            Which columns.
        weights
            What `draw` returns; None where no method resamples.
        needs
            The fields of the distribution that must be filled.
        """

    def contrast(self, plus: Integers, minus: Integers) -> Self:
        """Return the differences between columns, as a sample of the same kind.

        Parameters
        ----------
        plus, minus
            Numbers of the columns that are subtracted from, and of those subtracted: arrays of any
            one shape, which the sample takes.
        """
        if getattr(self, "minus", None) is not None:
            raise InvalidValueError("these are differences already; expected means")
        plus, minus = np.broadcast_arrays(plus, minus)
        return replace(self._contrast(plus.reshape(-1), minus.reshape(-1)), shape=plus.shape)

    @abstractmethod
    def _contrast(self, plus: Integers, minus: Integers) -> Self:
        """Return what `contrast` does, of numbers along one axis."""

    @abstractmethod
    def chosen(self, columns: Any) -> Self:
        """Return some columns, as a one-dimensional sample."""

    def _labelled(self, places: Integers, /, **changed: Any) -> Self:
        """Return a one-dimensional sample with the labels of some columns, and other attributes."""
        labels = tuple(self.labels[place] for place in places.tolist())
        return replace(self, labels=labels, shape=(len(labels),), **changed)

    def fields(self) -> dict[str, Any]:
        """Return the attributes by name, for a sample that has these and more."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def of_measure(self, measure: int) -> Self:
        """Return the columns of one measure, one per run."""
        return self.chosen(slice(measure, None, self.shape[1]))

    def whole_differences(self) -> Floats:
        """Return the differences of a contrast, rounded to multiples of the step below which scores tie.

        0.3 - 0.2 and 0.2 - 0.1 differ in the last bit, which would hide ties.
        """
        raise UnsupportedMethodError(f"this needs {Knowledge.VALUES}, which {self.kind} lack")

    def wins(self) -> tuple[Integers, Integers, Integers]:
        """Return on how many topics the differences of a contrast are above, at and below 0."""
        differences = self.whole_differences()
        wins, ties, losses = (
            np.sum(sign, axis=0) for sign in (differences > 0, differences == 0, differences < 0)
        )
        return wins, ties, losses

    def extremes(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest difference of each column of a contrast.

        They are multiples of the step below which scores tie, so that equal ones are equal in every bit:
        a contrast is constant where they are equal, and its runs are identical where both are 0.
        Missing differences do not count.
        """
        differences = self.whole_differences()
        least = np.fmin.reduce(differences, axis=0, initial=np.inf)
        return least, np.fmax.reduce(differences, axis=0, initial=-np.inf)

    def unit_counts(self, counts: Integers) -> Floats:
        """Return the number of independent units of columns, from their numbers of topics."""
        return counts.astype(np.float64)

    @property
    def sums_signs(self) -> bool:
        """Whether `self_normalised` exists: estimates are means of independent units."""
        return bool(self.knowledge & {Knowledge.UNITS, Knowledge.SIGNS})

    def self_normalised(self, difference: Floats, se: Floats, units: Floats) -> Floats:
        """Return T, the sum of each contrast's differences over the root of the sum of their squares.

        Of differences that are symmetric about 0, T bounds the p-value without any variance (Bentkus
        & Dzindzalieta 2015). It is 0 where an estimate is no mean of independent differences. On n
        units, ``T = t·√(n/(n-1+t²))``; where all show the same difference, whose se is NaN, ±√n.
        """
        if not self.independent:
            return np.zeros(difference.shape)
        squares = np.square(difference) + (units - 1.0) * np.square(np.nan_to_num(se))
        with np.errstate(divide="ignore", invalid="ignore"):
            sums: Floats = np.sqrt(units) * difference / np.sqrt(squares)
        return np.where(squares > 0, sums, 0.0)

    def unit_parts(self) -> UnitParts | None:
        """Return what units add to the differences of a contrast, where these are at most `MOST_FLIPPED`.

        None where they are more, or where flipping signs of units is no test of the differences.
        """
        return None

    @property
    def ties(self) -> Floats:
        """How near to 0 a difference of a contrast is 0 up to rounding, for each column."""
        return np.broadcast_to(getattr(self, "tie", TIE), len(self.labels))

    def unit_scores(self) -> Floats:
        """Return one row of scores per independent unit, which count alike: units × columns."""
        raise UnsupportedMethodError(f"this needs {Knowledge.UNITS}, which {self.kind} lack")

    def simple_columns(self) -> Booleans:
        """Return which columns are means of one simple random sample of topics."""
        return np.full(len(self.labels), self.independent)

    @property
    def without_repeats(self) -> Sample:
        """The means over repeats as if no repeat varied: itself, where there is one of each."""
        return self

    def population_means(self) -> Floats:
        """Return the means of the population that `sampled_again` draws from, one per column."""
        return self.distribution(slice(None), None, ()).estimate

    def sampled_again(
        self, draw: Callable[[np.random.Generator], Integers], rng: np.random.Generator
    ) -> Sample:
        """Return a sample drawn from this one, as from a population; ``draw`` draws topics."""
        del draw, rng
        raise UnsupportedMethodError(f"{self.kind} cannot be resampled as a population")

    @property
    def largest_df(self) -> float:
        """The most degrees of freedom that a difference between columns can have."""
        return self.topics - 1.0

    def by_measure(self, what: str) -> list[MeasureSample]:
        """Return the runs by each measure, on the topics that all of them have: here, on all topics.

        Raises where these are too few; ``what`` is what they are wanted for: "ranks".
        """
        del what
        every = np.ones(self.shape[0], np.bool_)
        parts = map(self.of_measure, range(self.shape[1]))
        return [MeasureSample(every, part, self.topics) for part in parts]

    @abstractmethod
    def pair_draws(self, replicates: int, rng: np.random.Generator) -> PairBlocks:
        """Yield differences between all columns in replicates, as many as fit into memory, and how many.

        There are none where topics are too many to resample; Bonferroni's t is then used.
        """

    def replicate_means(self, replicates: int, rng: np.random.Generator) -> Floats:
        """Return the estimates of replicates: replicates × columns."""
        drawn = self.draw(replicates, rng, ("replicates",))
        return self.distribution(slice(None), drawn, ("replicates",)).require("replicates")

    def covariance(self) -> Floats | None:
        """Return the covariance of the columns over units; None where columns differ in these."""
        return None

    def fourth_powers(self, _sd: Floats) -> Floats | None:
        """Return sums of fourth powers of deviations, of values with this sd; None where unknown."""
        return None

    def fixed_variance(self) -> Floats:
        """Return the variance of each column that more topics do not reduce."""
        return np.zeros(len(self.labels))


def self_normalised(contributions: Floats) -> Floats:
    """Return T of what each unit adds to a difference: from units × columns; 0 where all are 0."""
    size = np.sqrt(np.square(contributions).sum(axis=0))
    total = contributions.sum(axis=0)
    sums: Floats = np.divide(total, size, out=np.zeros_like(total), where=size > 0)
    return sums


def check_common_topics(count: int, measure: str, what: str) -> None:
    """Raise where all runs have too few topics in common by a measure."""
    if count < LEAST_COMMON_TOPICS:
        raise TopicMismatchError(
            f"{what} by {measure} need {LEAST_COMMON_TOPICS} topics that all runs have; there "
            f"{'is 1' if count == 1 else 'are none'}"
        )


def names(sample: Sample) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the runs and the measures of a sample whose columns are runs × measures."""
    runs, measures = sample.shape
    columns = sample.labels
    return (
        tuple(columns[place * measures][0] for place in range(runs)),
        tuple(columns[place][1] for place in range(measures)),
    )


def refuse(what: str, need: Knowledge, sample: Sample, fitting: Iterable[str], kind: str) -> None:
    """Raise where a sample lacks what a method, a test or a study needs.

    Parameters
    ----------
    what
        What needs it: "the Wilcoxon test".
    need
        What it needs.
    sample
        The sample.
    fitting, kind
        Names of those that fit the sample, and what they are: "tests".
    """
    if need not in sample.knowledge:
        raise UnsupportedMethodError(
            f"{what} needs {need}, which {sample.kind} lack; {kind} that fit: "
            f"{enumerate_names(list(fitting))}"
        )
