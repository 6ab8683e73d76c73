"""Views of ``confir evaluate`` that show means with bounds or estimates: of unjudged documents, and of ties."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from confir.cli import options
from confir.cli.output import Output
from confir.errors import InvalidValueError, UnknownNameError

if TYPE_CHECKING:
    from confir.cli.input import Inputs
    from confir.data.result import Record
    from confir.data.scores import Scores
    from confir.intervals.interval import Interval
    from confir.measures.lists_and_scores import ListsAndScores
    from confir.measures.measure import Measure
    from confir.report.tables import RowBeside
    from confir.studies.unjudged.compared_means import ComparedMeans

# The options of these views.
COMPARED_MEANS_OPTIONS = ("treatment", "pool_depth")


class ComparedMeansOutput(NamedTuple):
    """Bounds or estimates that are shown with means and their intervals.

    Attributes
    ----------
    rows
        Rows below each run of the table.
    note
        What they are.
    columns
        Numbers by run and measure, added to the records.
    draw
        Draws the chart of the intervals with them; None where none is written.
    """

    rows: list[RowBeside]
    note: str
    columns: dict[tuple[str, str], Record]
    draw: Callable[[Interval], Any] | None


@dataclass(frozen=True, slots=True)
class ComparedMeansView(ABC):
    """A view that bounds or estimates what means would be, were the lists judged or ordered otherwise.

    Attributes
    ----------
    view
        Its name, as --show has it.
    treatments
        The ways to bound or estimate, the default first: each with the numbers of its result, and their
        names in the records of means.
    treatment, pool_depth
        The way that was chosen, and the depth above which documents count; by default the measure's.
    """

    view: ClassVar[str]
    treatments: ClassVar[Mapping[str, Mapping[str, str]]]

    treatment: str
    pool_depth: int | None

    @classmethod
    def of(cls, inputs: Inputs, treatment: str | None, pool_depth: int | None) -> Self:
        """Return what the options ask for; raise where the view knows no such way."""
        if treatment is not None and treatment not in cls.treatments:
            name = f"value of --treatment with --show {cls.view}"
            raise UnknownNameError(name, treatment, cls.treatments)
        if pool_depth is not None and treatment == "condensed":
            raise InvalidValueError("--pool-depth is for --treatment bounds and resample")
        if inputs.scores:
            raise InvalidValueError(
                f"--show {cls.view} needs the documents; expected QRELS RUN..., not --scores"
            )
        return cls(treatment or next(iter(cls.treatments)), pool_depth)

    def gather(
        self, inputs: Inputs, statistics: options.Statistics, output: Output, example: str
    ) -> tuple[Scores, ComparedMeansOutput]:
        """Return the scores, and what is shown with their means."""
        from confir.cli.progress import Progress
        from confir.measures.evaluation import chosen_measures, evaluate_lists
        from confir.measures.lists_and_scores import join_scores, usable_measures
        from confir.report.result_chart import draw_intervals
        from confir.studies.unjudged.table import rows_beside

        experiment = inputs.experiment(example=example)
        usable_measures(chosen_measures(experiment), experiment.rules, self.objection)
        runs = inputs.run_count
        with nullcontext() if output.quiet else Progress("reading runs", total=runs) as progress:
            scores = inputs.state_bound(evaluate_lists(experiment, progress))
        scored = join_scores(experiment.lists_by_topic(), scores, experiment.rules, self.objection)
        found = self.result(scored, statistics)
        names = self.treatments[self.treatment]
        columns = {
            (record["run"], record["measure"]): {new: record[old] for old, new in names.items()}
            for record in found.to_records()
        }

        def draw(interval: Interval) -> Any:
            return draw_intervals(found.interval_chart(interval))

        rows = rows_beside(self.label, found, names)
        return scores, ComparedMeansOutput(
            rows, self.note(found), columns, draw if output.is_chart else None
        )

    @abstractmethod
    def objection(self, measure: Measure) -> str | None:
        """Return why a measure does not go with the options; None where it does."""

    @abstractmethod
    def result(self, scored: ListsAndScores, statistics: options.Statistics) -> ComparedMeans:
        """Return the bounds or estimates."""

    @property
    def label(self) -> str:
        """What the row of bounds or estimates is called."""
        return self.view

    def note(self, found: ComparedMeans) -> str:
        """Return what the rows are."""
        return found.note()
