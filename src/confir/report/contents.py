"""The contents of a report: its settings, the results of all studies of one experiment, their charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from confir.arguments import as_integer, as_level, as_list, check_replicates, invalid
from confir.arrays import Floats, Integers
from confir.data.formats.run_metadata import RunMetadata
from confir.data.ranked_lists.held_lists import TopicLists
from confir.data.reading_rules import ReadingRules
from confir.data.sampling_designs.topic_groups import TopicGroups
from confir.data.scores import Scores
from confir.data.tables.cost_files import Cost
from confir.defaults import LEVEL, LEVELS, REPLICATES, SEED
from confir.errors import InvalidValueError
from confir.intervals.method_list import find_method
from confir.measures.random_rankings import MOST_DOCUMENTS
from confir.measures.score_summary import ScoreSummary
from confir.parallel import Progress
from confir.report.sections import Figure, Section
from confir.studies import find_sections

Sections = dict[str, Section[Any]]


@dataclass(frozen=True, slots=True)
class Settings:
    """How a report is made.

    Attributes
    ----------
    level, method
        Confidence level and method of the intervals; the default method depends on the measure.
    replicates, seed
        Of the bootstrap.
    documents
        Number of documents in the collection; by default those that occur in qrels and runs.
    rules
        How qrels and runs are read.
    judges, grades
        Qrels of other judges, and how their grades compare, as ``--grades`` of ``confir judges``.
    baseline
        The run that the others are compared with; by default all pairs are compared.
    groups
        Groups of topics to compare runs in; None for none.
    costs
        What runs cost, as in `compare_costs`; none of it where that is empty.
    """

    level: float = LEVEL
    method: str | None = None
    replicates: int = REPLICATES
    seed: int = SEED
    documents: int | None = None
    rules: ReadingRules = field(default_factory=ReadingRules)
    judges: Mapping[str, Any] | Sequence[Any] = ()
    grades: Sequence[str] = ()
    baseline: str | None = None
    groups: TopicGroups | None = None
    costs: tuple[Cost, ...] = ()

    def __post_init__(self) -> None:
        as_level(self.level)
        check_replicates(self.replicates)
        if not isinstance(self.rules, ReadingRules):
            raise invalid("rules", self.rules, "ReadingRules")
        as_integer("seed", self.seed, lowest=0, highest=2**128)
        if self.method is not None:
            find_method(self.method)
        if self.documents is not None:
            as_integer("documents", self.documents, highest=MOST_DOCUMENTS)
        if as_list("grades", self.grades, least=0, single=str) and not self.judges:
            raise InvalidValueError(
                "grades (--grades) are for the qrels of other judges; expected judges (--judge)"
            )

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels that the reader can choose from, including the requested one."""
        return tuple(sorted({*LEVELS, self.level}))

    @property
    def drawing(self) -> dict[str, Any]:
        """Replicates and seed, as arguments of the studies' functions."""
        return {"replicates": self.replicates, "rng": self.seed}


class _Results:
    """Results by study; some may be left out."""

    __slots__ = ()
    results: Mapping[str, Any]

    def __getitem__(self, study: str) -> Any:
        """Return the result of a study; None if it was left out."""
        return self.results[study]


@dataclass(frozen=True, slots=True, eq=False)
class MeasureContents(_Results):
    """The results by one measure.

    Attributes
    ----------
    measure, scores
        Its name, and the scores by this measure alone.
    comparable_means, order
        The means by which runs are ranked: over the topics that all runs have; and the indices of
        the runs, best first, runs without a mean last.
    results
        By study; None for those left out.
    left_out
        Studies that are left out, and why.
    topics_shown
        Positions of the topics whose scores the page holds; the same for all measures.
    settings
        How the report is made.
    """

    measure: str
    scores: Scores | ScoreSummary
    comparable_means: Floats
    order: list[int]
    results: Mapping[str, Any]
    left_out: Mapping[str, str]
    topics_shown: Integers
    settings: Settings

    def reference(self, baseline: str | None) -> int:
        """Return the index of the run that the others are held against: the baseline, or the best."""
        return self.order[0] if baseline is None else self.scores.runs.index(baseline)


@dataclass(frozen=True, slots=True, eq=False)
class Contents(_Results):
    """The contents of a report.

    Attributes
    ----------
    scores, settings
        The scores, and how the report is made.
    measures
        The results of each measure.
    results
        Results of studies of all measures together; None for those left out.
    lists
        The ranked lists behind the scores; None if only the scores are known.
    documents, documents_counted
        Size of the collection, and whether it is the number of documents in qrels and runs.
    warnings, remarks
        The warnings of confir that may concern the results, the most important first; and those
        about samples without an interval.
    left_out
        Studies of all measures that are left out, and why.
    run_metadata
        Who made the runs that have metadata, and how, by name.
    """

    measure: ClassVar[None] = None  # of all
    scores: Scores | ScoreSummary
    settings: Settings
    measures: tuple[MeasureContents, ...]
    results: Mapping[str, Any]
    lists: TopicLists | None
    documents: int | None
    documents_counted: bool
    warnings: tuple[str, ...]
    remarks: tuple[str, ...]
    left_out: Mapping[str, str]
    run_metadata: Mapping[str, RunMetadata]

    @property
    def parts(self) -> tuple[MeasureContents | Contents, ...]:
        """The results of each measure, and those of all."""
        return (*self.measures, self)

    def reasons(self, study: str) -> list[tuple[str | None, str]]:
        """Return why a study is left out: by which measure (None for all), and the reason."""
        if study in self.left_out:
            return [(None, self.left_out[study])]
        return [(m.measure, m.left_out[study]) for m in self.measures if study in m.left_out]

    def viewed(self, measure: int, level: float) -> Contents:
        """Return the contents as a reader sees them who chose a measure and a level."""
        chosen = self.measures[measure]
        rest = tuple(part for part in self.measures if part is not chosen)
        return replace(self, measures=(chosen, *rest), settings=replace(self.settings, level=level))

    def has(self, study: str) -> bool:
        """Whether there is a result of a study, by at least one measure."""
        found = [self.results, *(measured.results for measured in self.measures)]
        return any(results.get(study) is not None for results in found)


def present_sections(contents: Contents | MeasureContents) -> Sections:
    """Return the sections that have a result, by study."""
    found = contents.results
    return {study: s for study, s in find_sections().items() if found.get(study) is not None}


def report_figures(
    contents: Contents,
    levels: tuple[float, ...],
    progress: Progress | None = None,
    *,
    paper: bool = True,
) -> Iterator[Figure]:
    """Yield the charts of a report, those of intervals at some levels.

    Progress is called with 1 after the charts of each measure. Those for papers alone, which the
    page shows in another way, can be left out.
    """
    for part in contents.parts:
        for study, section in present_sections(part).items():
            for for_paper in (False, True) if paper else (False,):
                for figure in section.charts(study, part, levels, paper=for_paper):
                    yield figure._replace(measure=part.measure or figure.measure)
        if progress is not None and part is not contents:
            progress(1)
