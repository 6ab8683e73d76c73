"""A study's part in the report: the ``SECTION`` of its section.py.

The report computes, draws and writes sections in the order of STUDIES. A section with its own part
of the page also has a template, section.html.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from confir.data.qrels import Qrels
from confir.data.ranked_lists.held_lists import TopicLists
from confir.data.scores import Scores
from confir.errors import ConfirError, InvalidValueError
from confir.measures.lists_and_scores import (
    BlockStudy,
    ListsAndScores,
    Objection,
    usable_measures,
    with_usable_scores,
)
from confir.measures.score_sources import as_scores
from confir.measures.score_summary import ScoreSummary
from confir.report.result_chart import specification
from confir.report.tables import Table
from confir.studies import find_sections

if TYPE_CHECKING:
    from confir.report.contents import Contents, MeasureContents, Settings

# Sentences below the headline; what else is found is in the parts of the page.
MOST_FINDINGS = 3

Gathered = TypeVar("Gathered", "MeasureContents", "Contents")


class Figure(NamedTuple):
    """A chart of a report.

    Attributes
    ----------
    part
        Part of the report, and file name of the figure.
    drawing
        The altair chart.
    level, measure
        The level and measure that it is of; None if it is the same for all. The report adds the
        measure.
    by_run
        Whether it has one panel with a run in every record, which the page can filter.
    zoomable
        Whether the reader may zoom into its points.
    """

    part: str
    drawing: Any
    level: float | None = None
    by_run: bool = False
    zoomable: bool = False
    measure: str | None = None


class Sentence(NamedTuple):
    """A sentence, its position among those of other sections, and the keys of works cited.

    The text of `Section.methods` may contain values in braces: ``{level}``, ``{replicates}``,
    ``{documents}``, and ``{result}`` with its attributes, by the first measure that has one.
    """

    order: int
    text: str
    cites: tuple[str, ...] = ()


# Sorts sentences; those of the same position stay in the order of their sections.
PLACE = attrgetter("order")


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The input of a section.

    Attributes
    ----------
    scores
        Scores by one measure, or by all.
    settings
        How the report is made.
    qrels, lists
        What the scores were computed from; None if only the scores are known.
    documents
        Size of the collection; None if it is not known.
    results
        Results of earlier sections, by study.
    measures
        Results by measure; empty for a section of one measure.
    of_all
        What sections computed of all measures at once, by study; or the error that they raised.
    """

    scores: Scores | ScoreSummary
    settings: Settings
    qrels: Qrels | None
    lists: TopicLists | None
    documents: int | None
    results: Mapping[str, Any]
    measures: tuple[MeasureContents, ...] = ()
    of_all: Mapping[str, Any] = field(default_factory=dict)

    def require_lists(self, *, human: bool = False) -> TopicLists:
        """Return qrels and runs; raise if only the scores are known.

        Lists are judged by the qrels alone. It therefore also raises if there are human judgements of
        some topics, unless ``human`` says that the part is about the qrels themselves.
        """
        if self.lists is None:
            raise InvalidValueError("this part needs qrels and runs, not scores alone")
        if not self.scores.by_one_judge and not human:
            raise InvalidValueError(
                "this part is about documents by one judge's qrels, which human judgements of "
                "some topics or documents do not correct"
            )
        return self.lists


@dataclass(frozen=True, slots=True)
class Verb:
    """How a section computes its result if a verb needs no more than scores and settings.

    Attributes
    ----------
    compute
        A verb that takes scores, ``level``, ``replicates`` and ``rng``.
    settings
        The fields of `Settings` that it takes, too.
    options
        Its other arguments.
    """

    compute: Callable[..., Any]
    settings: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, scope: Scope) -> Any:
        """Return the result for the scores of a section."""
        settings = scope.settings
        asked = {name: getattr(settings, name) for name in self.settings}
        given = {"level": settings.level, **settings.drawing, **asked, **self.options}
        return self.compute(scope.scores, **given)


class FromLists(NamedTuple):
    """How a section computes its result of all measures from lists and their scores.

    Attributes
    ----------
    compute
        Returns what is computed of some topics at a time.
    objection
        Why a measure cannot be used, or None.
    """

    compute: Callable[[ListsAndScores], BlockStudy]
    objection: Objection

    def prepare(self, scope: Scope) -> BlockStudy:
        """Return what is computed of the measures that can be used."""
        lists, scores = scope.require_lists(), as_scores(scope.scores)
        usable = with_usable_scores(lists, scores, scope.settings.rules, self.objection)
        return self.compute(usable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section(Generic[Gathered]):
    """A study's part in the report: how it is computed and shown.

    Attributes
    ----------
    by_measure
        Whether it is computed for each measure, or once for all.
    gather
        Returns its result, such as a `Verb`; None if there is nothing to say. If it raises a
        ConfirError, the section is left out and the page says why; if the section is ``needed``,
        there is no report. By default, the result is what is computed of all measures at once, or
        each measure's part of it.
    gather_all, from_lists
        How that is computed: beside other sections, or from lists and their scores, some topics at a
        time.
    needed
        Whether there is no report without it.
    setting
        The field of `Settings` that asks for it; by default it needs none.
    kind
        The property of scores without which it has nothing to say, such as ``datasets``.
    with_baseline
        Whether it is also computed if there is a baseline.
    several_runs
        Why it needs several runs, such as "a pair needs two"; "" if one is enough.
    by_level
        Whether its result has one result per level.
    anchor, heading, heading_of
        Id and heading on the page, in which "topic" becomes the unit of the scores; or what returns a
        heading that depends on the contents. section.html is the body. Without an anchor, the section
        is not on the page.
    leads
        Whether it is below the answer, on the first screen; all others are folded.
    meaning
        What its reader learns from it, in one sentence.
    conclusion
        Returns what it finds by the first measure, in the line that is visible while it is folded; ""
        if it finds nothing there.
    stays
        Whether section.html is shown even if the result is left out.
    context
        Returns variables of section.html, as ``own``, in addition to ``contents``, ``settings``,
        the numbers of ``runs`` and ``topics``, and the functions ``counted`` and ``percent``.
    part, by_run, zoomable
        The name of the chart and the table of its result, if these are on the page; and properties
        of that `Figure`.
    figures
        Yields charts in place of that one; charts of intervals are at the levels given.
    paper_part, paper
        The same for papers alone: the name of a chart of its result, or a function that yields
        charts, of what the page shows in another way.
    tables
        Yields the tables behind its charts, with the part of each, in place of that of its result.
    page_data
        Returns JSON data for the page's script; None if there are none.
    answer
        Yields its sentences of the answer, or why there is no result.
    methods
        Its sentence of the methods paragraph, or a function that yields several; used if there is a
        result.
    """

    # How it is computed.
    by_measure: bool
    gather: Callable[[Scope], Any] | None = None
    gather_all: Callable[[Scope], Any] | None = None
    from_lists: FromLists | None = None
    needed: bool = False
    setting: str = ""
    kind: str = ""
    with_baseline: bool = True
    several_runs: str = ""
    by_level: bool = False

    # Its part of the page.
    anchor: str = ""
    heading: str = ""
    heading_of: Callable[[Contents], str] | None = None
    leads: bool = False
    meaning: str = ""
    conclusion: Callable[[Contents], str] | None = None
    stays: bool = False
    context: Callable[[Contents], dict[str, Any]] | None = None

    # Charts, tables and data.
    part: str = ""
    by_run: bool = False
    zoomable: bool = False
    figures: Callable[[Gathered, tuple[float, ...]], Iterable[Figure]] | None = None
    paper_part: str = ""
    paper: Callable[[Gathered, tuple[float, ...]], Iterable[Figure]] | None = None
    tables: Callable[[Gathered], Iterable[tuple[str, Table]]] | None = None
    page_data: Callable[[Gathered], dict[str, Any] | None] | None = None

    # Sentences.
    answer: Callable[[Contents], Iterable[Sentence]] | None = None
    methods: Sentence | Callable[[Contents], Iterable[Sentence]] | None = None

    def result(self, study: str, scope: Scope) -> Any:
        """Return its result, or None if no setting asks for it or scores lack what it is about.

        Raise if there can be no result.
        """
        if self.setting and not getattr(scope.settings, self.setting):
            return None
        if self.kind and not getattr(scope.scores, self.kind):
            return None
        if scope.settings.baseline is not None and not self.with_baseline:
            return None
        if len(scope.scores.runs) < 2 and self.several_runs:
            raise InvalidValueError(f"there is one run; {self.several_runs}")
        if self.gather is not None:
            return self.gather(scope)
        if self.from_lists is not None:
            scope.require_lists()
            usable_measures(scope.scores.measures, scope.settings.rules, self.from_lists.objection)
        found = scope.of_all[study]
        if isinstance(found, ConfirError):
            raise found
        return found.select(measure=scope.scores.measures) if self.by_measure else found

    def charts(
        self, study: str, contents: Gathered, levels: tuple[float, ...], *, paper: bool
    ) -> Iterable[Figure]:
        """Return the charts on the page, or those for papers alone; those of intervals at some levels."""
        draw, part = (self.paper, self.paper_part) if paper else (self.figures, self.part)
        if draw is not None:
            return draw(contents, levels)
        if not part:
            return ()
        found: Any = contents[study]
        drawn = {level: found[level] for level in levels} if self.by_level else {None: found}
        return [
            Figure(part, specification(one), level, by_run=self.by_run, zoomable=self.zoomable)
            for level, one in drawn.items()
        ]


def answer_sentences(contents: Contents) -> list[str]:
    """Return the headline by the first measure, and at most three sentences more."""
    sections = find_sections().values()
    found = [one for section in sections if section.answer for one in section.answer(contents)]
    found.sort(key=PLACE)
    return [sentence.text for sentence in found[: 1 + MOST_FINDINGS]]


def conclusions(contents: Contents) -> dict[str, str]:
    """Return what the folded parts of the page find by the first measure, by anchor."""
    return {
        section.anchor: section.conclusion(contents)
        for study, section in find_sections().items()
        if section.conclusion is not None and contents.has(study)
    }
