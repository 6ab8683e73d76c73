"""Properties that scores of every kind declare, so that no caller asks which kind they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.defaults import REPLICATES
from confir.errors import InvalidValueError, UnsupportedMethodError

if TYPE_CHECKING:
    from confir.data.sampling_designs.design import Datasets, Design, DesignSource

Item = TypeVar("Item")
Found = TypeVar("Found")


class RunScores:
    """Scores of runs by measures, of any kind; what is said here holds for plain scores.

    Attributes
    ----------
    in_memory
        Whether the score on each topic is known: a summary of a long table has a sample of them.
    is_summary
        Whether they are a summary of a long table.
    corrected
        Whether means are estimated from the scores of two judges; else they are those of the scores.
    by_one_judge
        Whether all documents are judged by the qrels alone.
    default_replicates
        Number of replicates that serve by default.
    resampled
        What replicates draw.
    title
        What scores without single sampled topics are called in messages.
    """

    __slots__ = ()

    in_memory: ClassVar[bool] = True
    is_summary: ClassVar[bool] = False
    corrected: ClassVar[bool] = False
    by_one_judge: ClassVar[bool] = True
    default_replicates: ClassVar[int] = REPLICATES
    resampled: ClassVar[str] = "topics"
    title: ClassVar[str] = "this kind of scores"

    if TYPE_CHECKING:  # attributes or properties of each kind

        @property
        def measures(self) -> tuple[str, ...]:
            """Names of the measures."""

        @property
        def bounded(self) -> bool | None:
            """Whether measures that confir does not know lie in [0, 1], where that is stated."""

        @property
        def inside(self) -> tuple[bool, ...]:
            """Whether all scores by each measure lie in [0, 1]; asked where they are in range."""

        @property
        def design(self) -> Design | None:
            """How the topics were drawn; None where they are one simple random sample."""

        @property
        def in_range(self) -> bool:
            """Whether scores by a measure in [0, 1] lie there; estimates of scores may not."""

        @property
        def model_topics(self) -> int:
            """Number of topics that only a model judged."""

        @property
        def human_documents(self) -> int:
            """Number of human-judged documents drawn at random; 0 where none were."""

    else:
        in_range = True
        model_topics = human_documents = 0

    @property
    def observed(self) -> Any:
        """The scores themselves, where others are known beside them, as on resampled collections."""
        return self

    def missing_cells(self) -> Booleans | None:
        """Return which scores are missing, topics × runs × measures; None where single ones are not known."""
        return None

    def narrowed(self, observed: Any) -> Any:
        """Return the scores for the runs and measures that are left of those observed."""
        return observed

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets that topics are of; none where they are of one."""
        labels = None if self.design is None else self.design.dataset
        return tuple(dict.fromkeys(labels or ()))

    @property
    def design_words(self) -> str:
        """How topics were drawn, in words; nothing where they are one simple random sample."""
        return "" if self.design is None else self.design.describe()

    @property
    def dataset_design(self) -> Design:
        """How topics of several datasets were drawn; raises where there are no datasets."""
        if self.design is None or self.design.dataset is None:
            raise InvalidValueError("the scores have no datasets; expected a design with datasets")
        return self.design

    @property
    def unit_name(self) -> str:
        """What scores are of: "dataset" where each dataset has one, its mean; else "topic"."""
        if not self.datasets:
            return "topic"
        return "dataset" if len(self.datasets) == len(self.dataset_design.topics) else "topic"

    def sampling_note(self, _seed: int | None = None) -> str:
        """Return how runs and documents were sampled, in words, where they were; else nothing."""
        return ""

    def with_design(
        self, design: DesignSource, *, datasets: Datasets = "fixed", **columns: str | None
    ) -> Any:
        """Return the scores with a design of their topics; raise where single topics are not known."""
        del design, datasets, columns
        raise UnsupportedMethodError(f"{self.title} takes no design; expected none")

    def with_repeats(self, pattern: str | None = None) -> Any:
        """Return the scores of systems, whose repeats the runs are; raise for a summary."""
        del pattern
        raise UnsupportedMethodError(
            f"{self.title} has no repeats, which need the score on each topic; expected none"
        )

    def filled(self) -> Self:
        """Return the scores; raise where there are none."""
        return self

    def listed(self) -> Any:
        """Return scores topic by topic; raise where there are none."""
        raise UnsupportedMethodError(f"a report shows scores of topics, which {self.title} lacks")

    def in_id_order(self) -> Self:
        """Return the scores with their topics in bytewise order of the ids.

        Replicates and bets take topics by their places: so they depend on seed and ids alone.
        """
        return self

    def clipped(self, _find_bounded: Callable[[Self], Booleans]) -> Self:
        """Return the scores, those of bounded measures in [0, 1]; raise where one is far outside.

        A summary clips what it reads: nothing is read before it is needed.
        """
        return self

    def for_each(self, compute: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
        """Return what a function finds of each item, such as a measure, of these scores."""
        from confir.parallel import run_in_threads

        return run_in_threads(compute, list(items))

    def difference_spread(
        self, first: Integers, second: Integers, difference: Floats, se: Floats, topics: Integers
    ) -> Floats:
        """Return the standard deviation over topics of the differences of pairs of runs.

        Parameters
        ----------
        first, second
            Numbers of the two runs of each pair.
        difference, se, topics
            Mean differences of the pairs by each measure, their standard errors and numbers of
            topics.
        """
        del first, second, difference
        spread: Floats = se * np.sqrt(topics)
        return spread
